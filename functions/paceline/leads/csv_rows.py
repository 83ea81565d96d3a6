"""Lead files as CSV: which character separates the cells, and rows numbered as a spreadsheet shows them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence

from paceline.errors import LeadFileInvalid
from paceline.leads.headings import Heading, checked_heading

DELIMITERS = (",", ";", "\t", "|")

_LINES_IN_A_HEADING = 50
_SEPARATOR_LINE = re.compile(r'"?sep=([,;|\t])"?\s*$', re.IGNORECASE)  # Excel's own hint; it does not show the line

NumberedRow = tuple[int, dict[str, str]]


def read_csv(lines: Iterator[str], filename: str) -> tuple[Heading, Iterator[NumberedRow]]:
    """Return the heading and the rows below it: (row number, values).

    Raises: LeadFileInvalid; while iterating too, for a quotation mark that is never closed.
    """
    heading, delimiter = read_heading(lines, filename)
    return heading, _CsvRows(lines, heading, delimiter, filename).rows()


def read_heading(lines: Iterator[str], filename: str) -> tuple[Heading, str]:
    """Take the heading row off the lines; return it and the delimiter. Raises: LeadFileInvalid.

    The delimiter is the one that makes a phone column appear, so that commas inside the other headings do not matter.
    """
    row_number = 0
    delimiters: tuple[str, ...] = DELIMITERS
    for line in lines:
        if row_number == 0 and (hint := _SEPARATOR_LINE.match(line)):
            delimiters = (hint[1],)
            continue
        row_number += 1
        if line.strip(" \t\r\n,;|\ufeff"):
            record = _record(line, lines)
            heading, delimiter = _decided([(_parsed(record, d, row_number, filename), d) for d in delimiters], filename)
            return checked_heading(heading, filename), delimiter
    raise LeadFileInvalid(f"{filename} is empty. Upload a file with a heading row and one lead a row.")


def _record(line: str, lines: Iterator[str]) -> list[str]:
    """Return the physical lines of one row: a heading may hold quoted line breaks."""
    record = [line]
    while "".join(record).count('"') % 2 and len(record) < _LINES_IN_A_HEADING:
        record.append(next(lines, '"'))
    return record


def _parsed(record: Sequence[str], delimiter: str, row_number: int, filename: str) -> Heading:
    try:
        return Heading(next(csv.reader(record, delimiter=delimiter)), row_number)
    except csv.Error as error:  # a cell over 128 KiB
        raise LeadFileInvalid(f"The first row of {filename} is no heading row: a cell of it does not end.") from error


def _decided(candidates: Sequence[tuple[Heading, str]], filename: str) -> tuple[Heading, str]:
    having = [candidate for candidate in candidates if candidate[0].phone_column]
    most = max(having or candidates, key=lambda candidate: len(candidate[0].cells))
    widths = [len(heading.cells) for heading, _ in having]
    if len(most[0].cells) > 1 and widths.count(len(most[0].cells)) > 1:
        raise LeadFileInvalid(
            f"It is not clear which character separates the cells of {filename}. Save it as CSV with commas."
        )
    return most


class _CsvRows:
    """The rows below the heading. A row number counts rows from the top, blank ones too, not line breaks in a cell."""

    def __init__(self, lines: Iterator[str], heading: Heading, delimiter: str, filename: str) -> None:
        self._lines, self._heading, self._delimiter, self._filename = lines, heading, delimiter, filename
        self._unread: list[str] = []  # the physical lines of the row being read

    def rows(self) -> Iterator[NumberedRow]:
        for row_number, cells in enumerate(self._records(), start=self._heading.row_number + 1):
            yield row_number, self._heading.fitted(cells)

    def _records(self) -> Iterator[list[str]]:
        rows = csv.reader(self._fed(), delimiter=self._delimiter)
        last: list[str] = []
        try:
            for cells in rows:
                last, self._unread = self._unread, []
                yield cells
        except csv.Error as error:  # a cell over 128 KiB: in practice always a quotation mark without its partner
            raise self._unclosed(rows.line_num) from error
        if len(last) > 1 and "".join(last).count('"') % 2:
            raise self._unclosed(rows.line_num)

    def _fed(self) -> Iterator[str]:
        for line in self._lines:
            self._unread.append(line)
            yield line

    def _unclosed(self, line_num: int) -> LeadFileInvalid:
        first = self._heading.row_number + line_num
        return LeadFileInvalid(
            f"{self._filename} has a quotation mark near line {first} that is never closed, so the leads after it"
            " cannot be told apart. Close or delete it."
        )
