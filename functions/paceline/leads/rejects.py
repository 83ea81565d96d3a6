"""rejects.csv, which planning writes and the report reads: the rows that never became accepted leads, and why."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from operator import attrgetter
from typing import BinaryIO

from paceline.cells import read_cell, safe_cell
from paceline.models import ExcludedLead
from paceline.status import Excluded

REJECTS_COLUMNS = tuple(field.name for field in fields(ExcludedLead))
_cells = attrgetter(*REJECTS_COLUMNS)


class Rejects:
    """Counts excluded rows and writes them as CSV, each cell safe in a spreadsheet (`paceline.cells`)."""

    def __init__(self) -> None:
        self.kinds: Counter[Excluded] = Counter()
        self.rejected_reasons: Counter[str] = Counter()
        self._buffer = io.BytesIO()
        self._text = io.TextIOWrapper(self._buffer, encoding="utf-8", newline="", write_through=True)
        self._rows = csv.writer(self._text)
        self._rows.writerow(REJECTS_COLUMNS)

    def add(self, lead: ExcludedLead) -> None:
        """Count a row and add it to the list."""
        self.kinds[lead.kind] += 1
        if lead.kind is Excluded.REJECTED:
            self.rejected_reasons[lead.reason] += 1
        self._rows.writerow(map(safe_cell, _cells(lead)))

    def to_csv(self) -> bytes:
        """Return the list with its heading row, its rows in the order in which they were added."""
        return self._buffer.getvalue()


def read_rejects(stream: BinaryIO) -> Iterator[ExcludedLead]:
    """Yield the leads of a rejects.csv as they were written, row by row, guarded or not. The stream stays open."""
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    try:
        for row in csv.DictReader(text):
            yield _excluded_lead({name: read_cell(cell) for name, cell in row.items()})
    finally:
        text.detach()


def _excluded_lead(cells: dict[str, str]) -> ExcludedLead:
    return ExcludedLead(
        lead_no=int(cells["lead_no"]),
        row_number=int(cells["row_number"]),
        kind=Excluded(cells["kind"]),
        reason=cells["reason"],
        phone_number=cells["phone_number"],
        explanation=cells["explanation"],
    )
