"""Lead files as Excel workbooks (.xlsx), read by python-calamine; rows numbered as Excel shows them."""

from __future__ import annotations

import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import IO, Any, BinaryIO

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetVisibleEnum, load_workbook

from paceline.errors import LeadFileInvalid
from paceline.leads.decoding import MOST_UNPACKED_BYTES, damaged, too_large
from paceline.leads.headings import Heading, checked_heading

# Kept in memory up to this size, then in /tmp (512 MB on Lambda, more than an upload may have).
_IN_MEMORY = 32 << 20
# calamine holds a sheet as a full rectangle, about 100 bytes a cell with its text: a stray cell in column XFD of a
# large sheet would ask for terabytes. Ten million cells are a million leads of ten columns.
MOST_CELLS = 10_000_000
_CELL = re.compile(rb"""\sr=["']([A-Za-z]{1,7})([0-9]{1,12})["']""")
_HIDDEN_ROW = re.compile(rb"""<(?:\w+:)?row\s[^>]*\bhidden=["'](?:1|true)["']""")
_CHUNK, _LONGEST_TAG = 1 << 20, 1 << 12
_EXACT = 1e15  # whole numbers up to here are exact in a float

NumberedRow = tuple[int, dict[str, str]]


def read_workbook(stream: BinaryIO, filename: str) -> tuple[Heading, Iterator[NumberedRow], tuple[str, ...]]:
    """Return the heading, the rows below it (row number, values) and notes on what is not read.

    The leads are in the first sheet that is not hidden and not empty; never in the first that looks like leads, which
    may be the list of those who opted out. Hidden rows are read like others, and noted. Raises: LeadFileInvalid.
    """
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as file:
        shutil.copyfileobj(stream, file)
        has_hidden_rows = _check_size(file, filename)
        file.seek(0)
        try:
            with load_workbook(file) as workbook:
                sheet, others = _sheets(workbook, filename)
        except CalamineError as error:
            raise damaged(filename) from error
    rows = enumerate(sheet.iter_rows(), start=1)
    heading = _heading(rows, f"{filename} (sheet {sheet.name!r}, the first one)" if others else filename)
    notes = [f"Only the sheet {sheet.name!r} is read, not {', '.join(map(repr, others))}."] if others else []
    notes += ["Rows of the workbook are hidden, and they are read like the others."] if has_hidden_rows else []
    return heading, _rows(rows, heading), tuple(notes)


def _check_size(file: IO[bytes], filename: str) -> bool:
    """Refuse what is no workbook or would fill the memory; return whether rows of it are hidden."""
    try:
        archive = zipfile.ZipFile(file)
        entries = archive.infolist()
        if not any(entry.filename.startswith("xl/") for entry in entries):
            raise LeadFileInvalid(f"{filename} is a zip archive, not a workbook. Upload the lead file itself.")
        if sum(entry.file_size for entry in entries) > MOST_UNPACKED_BYTES:
            raise too_large(filename)
        return any([_check_cells(archive, entry, filename) for entry in entries])
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, zlib.error) as error:
        raise damaged(filename) from error


def _check_cells(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, filename: str) -> bool:
    """Refuse a sheet whose furthest cells span too large a rectangle; return whether rows of it are hidden.

    By the cells themselves: the size that a sheet states may be another, and calamine believes its cells.
    """
    rows, columns, is_hidden, rest = 0, 0, False, b""
    with archive.open(entry) as part:
        while chunk := part.read(_CHUNK):
            whole, tag, rest = (rest + chunk).rpartition(b"<")
            rest = (tag + rest)[-_LONGEST_TAG:]
            is_hidden = is_hidden or (b"hidden=" in whole and _HIDDEN_ROW.search(whole) is not None)
            cells = _CELL.findall(whole)
            rows = max(rows, max((int(row) for _, row in cells), default=0))
            columns = max(columns, max(map(_column_number, {letters for letters, _ in cells}), default=0))
            if rows * columns > MOST_CELLS:
                raise LeadFileInvalid(
                    f"A sheet of {filename} reaches to row {rows:,} and column {columns:,}, beyond any list of leads."
                    " Delete the rows and columns that hold none, or save the sheet as CSV."
                )
    return is_hidden


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - ord("A") + 1
    return number


def _sheets(workbook: CalamineWorkbook, filename: str) -> tuple[CalamineSheet, list[str]]:
    """Return the sheet with the leads, and the names of the others that hold something and are not hidden."""
    names = [sheet.name for sheet in workbook.sheets_metadata if sheet.visible is SheetVisibleEnum.Visible]
    filled = [sheet for sheet in map(workbook.get_sheet_by_name, names) if sheet.start is not None]
    if not filled:
        raise LeadFileInvalid(f"{filename} is empty. Upload a file with a heading row and one lead a row.")
    return filled[0], [sheet.name for sheet in filled[1:]]


def _heading(rows: Iterator[tuple[int, list[Any]]], filename: str) -> Heading:
    row_number, cells = next((number, cells) for number, cells in rows if any(map(_text, cells)))
    return checked_heading(Heading(map(_text, cells), row_number), filename)


def _rows(rows: Iterator[tuple[int, list[Any]]], heading: Heading) -> Iterator[NumberedRow]:
    phone = heading.names.index(heading.phone_column or "")
    for row_number, cells in rows:
        if type(cells[phone]) is not str:
            cells[phone] = _phone_text(cells[phone])
        yield row_number, heading.fitted([cell if type(cell) is str else _text(cell) for cell in cells])


def _phone_text(cell: Any) -> str:
    """Return a phone cell that Excel holds as a number.

    1.20256E+10, once it was read back by Excel, is the number 12025600000: five zeros at the end are taken for lost
    digits, and shown as Excel showed them, which is refused.
    """
    text = _text(cell)
    return f"{float(text):.5E}" if text.isdigit() and len(text) > 9 and text.endswith("00000") else text


def _text(cell: Any) -> str:
    """Return a cell as text: whole numbers without ".0", dates as 2026-09-03, truth values as Excel shows them."""
    match cell:
        case str():
            return cell
        case bool():
            return str(cell).upper()
        case float() if cell.is_integer() and abs(cell) < _EXACT:
            return str(int(cell))
        case datetime() if cell.time() == time():
            return cell.date().isoformat()
        case datetime():
            return cell.isoformat(sep=" ", timespec="minutes")
        case date():
            return cell.isoformat()
        case time():
            return cell.isoformat(timespec="minutes")
        case _:
            return str(cell)
