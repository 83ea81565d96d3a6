"""A heading row: which column holds the phone number, and how a row's cells fit under it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from paceline.errors import LeadFileInvalid
from paceline.leads.names import normalise_name, trimmed

# The key under which a row says that it cannot be used, with the fault's code. No heading is blank: it cannot clash.
FAULT = ""
FAULTS = {
    "too_many_cells": "The row has more cells than there are headings: a value may need quotes.",
    "no_character": "A value of the row has something in it that is no character (NUL, or half of one): the file was"
    " damaged on its way. Type the value again.",
    "broken_json": "The line is not one JSON object: {...}.",
    "no_values": "The object has no values.",
    "twin_names": 'The row has one name twice, as in "Phone" and "phone": leave one.',
}

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


class Heading:
    """A heading row as read. row_number: where a spreadsheet shows it."""

    def __init__(self, cells: Iterable[str], row_number: int) -> None:
        self.cells = [trimmed(cell.replace("\ufeff", "")) for cell in cells]
        self.row_number = row_number
        self.names = [normalise_name(cell) for cell in self.cells]
        self._is_named = all(self.names)

    @property
    def phone_column(self) -> str | None:
        """The normalised name of the phone column, or None."""
        return next((name for name in PHONE_COLUMNS if name in self.names), None)

    def fitted(self, cells: Sequence[str]) -> dict[str, str]:
        """Return a row under the headings: normalised name → value, trimmed.

        A missing cell is blank. A cell without a heading is no value; beyond the last heading it is a fault of the row.
        """
        row = "".join(cells)
        if len(cells) == len(self.names) and row.isascii() and row.isprintable() and self._is_named:
            return dict(
                zip(self.names, map(str.strip, cells), strict=True)
            )  # nearly every row; the same, in half the time
        values = dict.fromkeys(filter(None, self.names), "")
        values.update((name, trimmed(cell)) for name, cell in zip(self.names, cells, strict=False) if name)
        if any(map(trimmed, cells[len(self.names) :])):
            values[FAULT] = "too_many_cells"
        elif any("\0" in value for value in values.values()):
            values[FAULT] = "no_character"
        return values


def checked_heading(heading: Heading, filename: str) -> Heading:
    """Return the heading. Raises: LeadFileInvalid for twins, and for no phone column, naming the headings seen."""
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
