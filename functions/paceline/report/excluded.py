"""excluded.csv, which planning writes and the report reads: the rows that never became accepted leads."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import BinaryIO

from paceline.models import ExcludedLead
from paceline.report.cells import read_cell, safe_cell
from paceline.report.tables import write_csv
from paceline.status import Excluded

EXCLUDED_COLUMNS = tuple(field.name for field in fields(ExcludedLead))


def write_excluded(leads: Iterable[ExcludedLead]) -> Iterator[bytes]:
    """Yield excluded.csv in pieces, its rows in the order given; safe in a spreadsheet, as every CSV of ours."""
    return write_csv(
        (tuple(safe_cell(getattr(lead, name)) for name in EXCLUDED_COLUMNS) for lead in leads), EXCLUDED_COLUMNS
    )


def read_excluded(stream: BinaryIO) -> Iterator[ExcludedLead]:
    """Yield the leads of an excluded.csv as they were written, row by row, guarded or not. The stream stays open."""
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
