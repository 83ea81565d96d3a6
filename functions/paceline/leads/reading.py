"""Reading a customer's lead file as a stream: memory stays the same for ten rows and for a million."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import BinaryIO

from paceline.errors import LeadFileInvalid
from paceline.leads.decoding import read_lines
from paceline.leads.headings import Heading, read_heading

# The key under which a row's cells beyond the last heading are found. No heading is blank, so it cannot clash.
SURPLUS = ""

Row = tuple[int, int, dict[str, str]]


def open_lead_file(stream: BinaryIO, filename: str) -> LeadFile:
    """Return the file, its heading read and its first lead seen.

    CSV with comma, semicolon, tab or bar; quoted line breaks; UTF-8, UTF-16 with a mark, Windows-1252; plain or gzip.
    Raises: LeadFileInvalid, with one sentence on what to do, for an empty file, a heading alone, no phone column,
    duplicate headings, or something that is not text. (While iterating, too: a file can be damaged further down.)
    """
    return LeadFile(read_lines(stream, filename), filename)


class LeadFile:
    """A lead file, to be iterated once: (lead_no, row_number, {normalised column: value without outer spaces}).

    lead_no counts leads from 1; a row with nothing in it is not one. row_number is what a spreadsheet shows: it counts
    rows from the top, blank ones too, and a quoted line break stays inside its row.
    """

    def __init__(self, lines: Iterator[str], filename: str) -> None:
        self._lines = lines
        self._filename = filename
        self._unread: list[str] = []  # the physical lines of the row being read
        self._heading: Heading = read_heading(lines, filename)
        self._rows = self._leads()
        self._first = next(self._rows, None)
        if self._first is None:
            raise LeadFileInvalid(f"{filename} has a heading row and no leads. Add one row for each lead.")

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings as the customer wrote them."""
        return tuple(cell for cell in self._heading.cells if cell)

    @property
    def phone_column(self) -> str:
        """The heading of the column that holds the phone numbers."""
        return self.columns[self.phone_name]

    @property
    def phone_name(self) -> str:
        """The same column's normalised name."""
        return self._heading.phone_column or ""

    @property
    def columns(self) -> dict[str, str]:
        """Normalised name → heading."""
        return {name: cell for name, cell in zip(self._heading.names, self._heading.cells, strict=True) if name}

    def __iter__(self) -> Iterator[Row]:
        if self._first is not None:
            yield self._first
            self._first = None
            yield from self._rows

    def _leads(self) -> Iterator[Row]:
        names, width, lead_no = self._heading.names, len(self._heading.names), 0
        for row_number, cells in enumerate(self._records(), start=self._heading.row_number + 1):
            values = dict(zip(names, map(str.strip, cells), strict=False))
            if len(cells) != width or SURPLUS in values:
                values = self._fitted(cells)
            if any(values.values()):
                lead_no += 1
                yield lead_no, row_number, values

    def _fitted(self, cells: list[str]) -> dict[str, str]:
        """Fit a row to the headings: missing cells are blank; a cell without a heading counts only beyond the last."""
        names = self._heading.names
        values = dict.fromkeys(filter(None, names), "")
        values.update((name, cell.strip()) for name, cell in zip(names, cells, strict=False) if name)
        if surplus := "".join(cells[len(names) :]).strip():
            values[SURPLUS] = surplus
        return values

    def _records(self) -> Iterator[list[str]]:
        rows = csv.reader(self._fed(), delimiter=self._heading.delimiter)
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
