"""The report's CSV files: one row per lead of the customer's file, and one per message for those who plot them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain

from paceline.cells import safe_cell
from paceline.models import ExcludedLead, Lead, Message

Row = tuple[str, ...]
OUTCOME_COLUMNS = (
    "lead_no",
    "row_number",
    "phone_number",
    "route",
    "outcome",
    "cause",
    "parts",
    "slot",
    "sent_at",
    "final_at",
)
TIMELINE_COLUMNS = ("lead_no", "route", "slot", "sent_at", "final_at", "outcome")
DIFFERENCE_COLUMNS = ("lead_no", "ours", "provider", "cause", "provider_message_id")
NO_MESSAGE = "no_message"  # an accepted lead that the ledger does not know: the sums do not close either
CHUNK = 64 * 1024  # bytes: a few hundred rows, so that a report of any size is written in little memory
_JOINT = "\x1f"  # a control character: no cell holds one


def outcome_rows(leads: Iterable[tuple[Lead, Message | None]], excluded: Iterable[ExcludedLead]) -> Iterator[Row]:
    """Yield the rows of outcomes.csv (OUTCOME_COLUMNS), one per lead, by lead_no; the inputs may be in any order.

    An excluded lead has the kind of its exclusion as outcome and no route or times.
    """
    accepted = (_accepted_row(lead, message) for lead, message in leads)
    return in_lead_order(chain(accepted, map(_excluded_row, excluded)))


def timeline_rows(messages: Iterable[Message]) -> Iterator[Row]:
    """Yield the rows of timeline.csv (TIMELINE_COLUMNS), one per message, by lead_no; messages may be in any order.

    A time that the message does not have (a skipped one has none but its end) is an empty cell.
    """
    return in_lead_order(_timeline_row(message) for message in messages)


def difference_rows(differences: Iterable[Mapping[str, object]]) -> Iterator[Row]:
    """Yield the rows of differences.csv (DIFFERENCE_COLUMNS), by lead_no: where the provider knew more than we."""
    return in_lead_order(_row(*(one[name] for name in DIFFERENCE_COLUMNS)) for one in differences)


def in_lead_order(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows by their first cell, lead_no. Memory: about 200 bytes per row.

    Batches come stream by stream, each in order, so the rows are runs, which sorting merges in nearly linear time.
    """
    packed = [f"{int(row[0]):012d}{_JOINT.join(row)}" for row in rows]
    packed.sort()
    return (tuple(line[12:].split(_JOINT)) for line in packed)


def write_csv(rows: Iterable[Row], columns: Sequence[str]) -> Iterator[bytes]:
    """Yield the CSV file (RFC 4180, UTF-8, a heading, CRLF) in pieces of about 64 KiB."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(columns)
    for row in rows:
        writer.writerow(row)
        if buffer.tell() >= CHUNK:
            yield buffer.getvalue().encode()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue().encode()


def utc(time: datetime | None) -> str:
    """Return the time as 2026-09-03T14:05:06.000000Z: one width, so that text sorts as time; "" for None."""
    return "" if time is None else time.astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z"


def _accepted_row(lead: Lead, message: Message | None) -> Row:
    if message is None:
        row_number = lead.row_number or ""
        return _row(lead.lead_no, row_number, lead.phone_number, "", NO_MESSAGE, "", lead.parts, "", "", "")
    return _row(
        lead.lead_no,
        lead.row_number or "",
        lead.phone_number,
        message.route,
        message.status.value,
        message.cause,
        message.parts,
        utc(message.slot),
        utc(message.sent_at),
        utc(message.final_at),
    )


def _excluded_row(lead: ExcludedLead) -> Row:
    return _row(lead.lead_no, lead.row_number, lead.phone_number, "", lead.kind.value, lead.reason, "", "", "", "")


def _timeline_row(message: Message) -> Row:
    times = (utc(message.slot), utc(message.sent_at), utc(message.final_at))
    return _row(message.lead_no, message.route, *times, message.status.value)


def _row(*cells: object) -> Row:
    return tuple(map(safe_cell, cells))
