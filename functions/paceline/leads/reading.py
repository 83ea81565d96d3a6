"""Reading a customer's lead file: CSV and JSON lines as a stream, in the same memory for ten rows and for a million."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO

from paceline.errors import LeadFileInvalid
from paceline.leads.csv_rows import read_csv
from paceline.leads.decoding import read_lines, unpacked
from paceline.leads.headings import Heading
from paceline.leads.json_rows import read_jsonl
from paceline.leads.names import trimmed

Row = tuple[int, int, dict[str, str]]
NumberedRow = tuple[int, dict[str, str]]


def open_lead_file(stream: BinaryIO, filename: str) -> LeadFile:
    """Return the file, its heading read and its first lead seen. What it is, its bytes say, not its name.

    CSV with comma, semicolon, tab or bar, and quoted line breaks; JSON lines; each in UTF-8, UTF-16 or Windows-1252;
    Excel workbooks (.xlsx); all of them plain or gzip.
    Raises: LeadFileInvalid, with one sentence on what to do, for an empty file, a heading alone, no phone column,
    duplicate headings, or something that is no lead file. (While iterating, too: a file can be damaged further down.)
    """
    plain, head = unpacked(stream, filename)
    if head[:4] == b"PK\x03\x04":
        from paceline.leads.workbook import read_workbook  # only where there is one: a library of 3 MB

        return LeadFile(filename, *read_workbook(plain, filename))
    lines = read_lines(plain, head, filename)
    first = list(_to_first_text(lines))
    lines = chain(first, lines)
    opening = trimmed(first[-1])[:1] if first else ""
    if opening == "[":
        raise LeadFileInvalid(f"{filename} is one JSON list. Write JSON lines: one object a line, without the list.")
    return LeadFile(filename, *(read_jsonl if opening == "{" else read_csv)(lines, filename))


def _to_first_text(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line
        if trimmed(line):
            return


class LeadFile:
    """A lead file, to be iterated once: (lead_no, row_number, {normalised column: value without outer blanks}).

    lead_no counts leads from 1; a row with nothing in it is not one. row_number is what the customer's editor shows:
    rows from the top, blank ones too, a quoted line break inside its row; the line in JSON lines.
    A row that cannot be used has its fault's code under the key FAULT (`paceline.leads.headings`).
    notes: what of the file is not read, in sentences.
    """

    def __init__(
        self, filename: str, heading: Heading, rows: Iterator[NumberedRow], notes: tuple[str, ...] = ()
    ) -> None:
        self._heading, self.notes = heading, notes
        self._rows = self._leads(rows)
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

    def _leads(self, rows: Iterator[NumberedRow]) -> Iterator[Row]:
        lead_no = 0
        for row_number, values in rows:
            if any(values.values()):
                lead_no += 1
                yield lead_no, row_number, values
