"""Reports after the first: what late receipts changed, in outcomes and in credits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from paceline import keys
from paceline.cells import safe_cell
from paceline.late import Note
from paceline.models import Campaign, Message
from paceline.report.model import Difference, Report
from paceline.settlement import amounts, resettle
from paceline.table import ConditionFailed, Row, Table, Update


@dataclass(frozen=True, slots=True)
class Changed:
    """A message whose outcome or cause is another than the last report said."""

    note: Note
    message: Message


def begin_report(table: Table, campaign_id: str, number: int) -> None:
    """Note that so many reports were begun: a receipt from here on belongs to the next. Safe to repeat."""
    condition = "attribute_exists(#pk) AND (attribute_not_exists(#reports_begun) OR #reports_begun < :n)"
    update = Update(keys.campaign(campaign_id), "SET #reports_begun = :n", {"n": number}, condition=condition)
    try:
        table.update(update)
    except ConditionFailed:
        return


def changed_since(notes: Iterable[Note], messages: Iterable[Message]) -> list[Changed]:
    """Return the messages that are not what their notes say, by lead; one that was changed and back is none."""
    by_lead = {note.lead_no: note for note in notes}
    found = [Changed(by_lead[message.lead_no], message) for message in messages if message.lead_no in by_lead]
    return [one for one in found if (one.note.status, one.note.cause) != (one.message.status, one.message.cause)]


def settle_late(
    table: Table,
    campaign: Campaign,
    notes: Sequence[Note],
    messages: Iterable[Message],
    summaries: Iterable[Row],
    now: datetime,
) -> None:
    """Charge the batches that have late changes for what their messages are now. Raises: as `resettle`."""
    of_batch: dict[str, list[Message]] = {note.batch_id: [] for note in notes}
    for message in messages:
        if message.batch_id in of_batch:
            of_batch[message.batch_id].append(message)
    for summary in summaries:
        late = of_batch.get(summary["sk"].removeprefix("BATCH#"))
        if late is not None:
            owed = amounts(late, campaign.charging)["consumed"]
            resettle(table, campaign.account_id, summary, owed, now)


def difference(report: Report, before: Report, changed: Sequence[Changed], summaries: Iterable[Row]) -> Difference:
    """Return what a version changed since the one before it."""
    return Difference(
        since_version=before.version,
        leads=len(changed),
        outcomes=_minus(report.outcomes.model_dump(), before.outcomes.model_dump()),
        credits=_minus(report.credits.model_dump(), before.credits.model_dump()),
        waived=sum(summary.get("waived", 0) for summary in summaries),
    )


CHANGE_COLUMNS = ("lead_no", "outcome_before", "cause_before", "outcome", "cause")


def change_rows(changed: Iterable[Changed]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of changes.csv (CHANGE_COLUMNS), by lead_no."""
    for one in sorted(changed, key=lambda one: one.message.lead_no):
        before, after = (one.note.status.value, one.note.cause), (one.message.status.value, one.message.cause)
        yield tuple(map(safe_cell, (one.message.lead_no, *before, *after)))


def _minus(counts: Mapping[str, int], before: Mapping[str, int]) -> dict[str, int]:
    return {name: count - before[name] for name, count in counts.items() if count != before[name]}
