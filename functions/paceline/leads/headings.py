"""Reading a heading row: which character separates the cells, and which column holds the phone number."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence

from paceline.errors import LeadFileInvalid
from paceline.leads.names import normalise_name

DELIMITERS = (",", ";", "\t", "|")

# In order of preference, compared exactly after normalise_name: never "contains", or "backup phone number" would match.
PHONE_COLUMNS = (
    "phone",
    "phonenumber",
    "mobile",
    "mobilephone",
    "mobilenumber",
    "mobilephonenumber",
    "cell",
    "cellphone",
    "cellnumber",
    "cellphonenumber",
    "telephone",
    "telephonenumber",
    "tel",
    "msisdn",
    "primaryphone",
    "phone1",
)

_LINES_IN_A_HEADING = 50
_SEPARATOR_LINE = re.compile(r'"?sep=([,;|\t])"?\s*$', re.IGNORECASE)  # Excel's own hint; it does not show the line


class Heading:
    """A heading row as read. row_number: where a spreadsheet shows it."""

    def __init__(self, cells: list[str], delimiter: str, row_number: int) -> None:
        self.cells, self.delimiter, self.row_number = cells, delimiter, row_number
        self.names = [normalise_name(cell) for cell in cells]

    @property
    def phone_column(self) -> str | None:
        """The normalised name of the phone column, or None."""
        return next((name for name in PHONE_COLUMNS if name in self.names), None)


def read_heading(lines: Iterator[str], filename: str) -> Heading:
    """Take the heading row off the lines. Raises: LeadFileInvalid, naming the headings seen.

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
            heading = _decided([_parsed(_record(line, lines), d, row_number) for d in delimiters], filename)
            return _checked(heading, filename)
    raise LeadFileInvalid(f"{filename} is empty. Upload a file with a heading row and one lead a row.")


def _record(line: str, lines: Iterator[str]) -> list[str]:
    """Return the physical lines of one row: a heading may hold quoted line breaks."""
    record = [line]
    while "".join(record).count('"') % 2 and len(record) < _LINES_IN_A_HEADING:
        record.append(next(lines, '"'))
    return record


def _parsed(record: Sequence[str], delimiter: str, row_number: int) -> Heading:
    cells = next(csv.reader(record, delimiter=delimiter))
    return Heading([cell.replace("\ufeff", "").strip() for cell in cells], delimiter, row_number)


def _decided(candidates: Sequence[Heading], filename: str) -> Heading:
    having = [heading for heading in candidates if heading.phone_column]
    most = max(having or candidates, key=lambda heading: len(heading.cells))
    if len(most.cells) > 1 and [len(heading.cells) for heading in having].count(len(most.cells)) > 1:
        raise LeadFileInvalid(
            f"It is not clear which character separates the cells of {filename}. Save it as CSV with commas."
        )
    return most


def _checked(heading: Heading, filename: str) -> Heading:
    for name in (name for name in heading.names if name and heading.names.count(name) > 1):
        twins = ", ".join(repr(c) for c, n in zip(heading.cells, heading.names, strict=True) if n == name)
        raise LeadFileInvalid(f"{filename} has several columns with one name: {twins}. Rename or delete all but one.")
    if heading.phone_column:
        return heading
    if any(sum(c.isdigit() for c in cell) >= 7 for cell in heading.cells):
        # Not named here: these cells are people's data, and an error's text goes into logs.
        raise LeadFileInvalid(f"The first row of {filename} is a lead, not a heading. Add a heading row, with 'phone'.")
    seen = ", ".join(repr(cell) for cell in heading.cells if cell)
    raise LeadFileInvalid(
        f"{filename} has no phone column. Its headings are: {seen}. Name the column with the numbers 'phone'.",
        headings=heading.cells,
    )
