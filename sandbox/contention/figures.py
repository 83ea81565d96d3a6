"""What was measured of a cell, as figures: the shape of contention.json, and of what is printed."""

from __future__ import annotations

from typing import Any

from sandbox.contention.cells import Measured
from sandbox.contention.recording import RowUse, attempts

Figures = dict[str, Any]


def figures_of(measured: Measured) -> Figures:
    """Return a cell's figures: plain JSON values, each with its unit in its name."""
    recording, sends, seconds = measured.recording, measured.sends, measured.seconds
    return {
        "design": measured.cell.design,
        "workers": measured.cell.workers,
        "ceiling_parts_per_minute": measured.cell.ceiling,
        "sends": sends,
        "measured_seconds": round(seconds, 3),
        "sends_per_minute": round(sends * 60 / seconds, 1),
        "conflicts_per_1000_sends": _per_1000(recording.conflicts, sends),
        "refused_by_condition_per_1000_sends": _per_1000(recording.conditions, sends),
        "shared_row_writes_per_1000_sends": _per_1000(recording.shared_row_writes, sends),
        "hottest_row": _hottest_row(measured),
        "lambda_ms_per_send": round(measured.lambda_seconds * 1000 / sends, 1),
        "rows": [_kind(kind, uses, sends) for kind, uses in recording.by_kind()],
    }


def _hottest_row(measured: Measured) -> Figures:
    """Return the row that most writes were attempted of: its mean over the measured time, and its busiest second."""
    kind, use = max(
        ((kind, use) for kind, uses in measured.recording.by_kind() for use in uses), key=lambda row: row[1].attempts
    )
    return {
        "row": kind,
        "writes_per_second": round(use.attempts / measured.seconds, 2),
        "writes_in_busiest_second": use.busiest_second,
    }


def _kind(kind: str, uses: list[RowUse], sends: int) -> Figures:
    """Return how one kind of row was written. most_…_on_a_row: how many messages, or batches, wrote the same row."""
    return {
        "row": kind,
        "rows": len(uses),
        "written_by": sorted({function for use in uses for function in use.functions}),
        "writes_per_1000_sends": _per_1000(attempts(uses), sends),
        "conflicts_per_1000_sends": _per_1000(sum(use.conflicts for use in uses), sends),
        "most_messages_on_a_row": max(len(use.messages) for use in uses),
        "most_batches_on_a_row": max(len(use.batches) for use in uses),
        "shared": any(use.is_shared for use in uses),
    }


def _per_1000(count: int, sends: int) -> float:
    return round(count * 1000 / sends, 2)
