"""When to look again: counts what is not final, settles what is, and lists the rest for the next look.

Only the first look reads every message. What it finds open is named in the batch's summary, and later looks read that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from pydantic import AwareDatetime, Field, TypeAdapter

from paceline import keys
from paceline.campaigns import get_campaign, get_plan, note_sending_ended
from paceline.closing import close_round
from paceline.departures import MOST_KEYS
from paceline.holds import release_after_give_back
from paceline.metrics import Metric, count
from paceline.models import Batch, Campaign, Charging, Model
from paceline.moments import iso
from paceline.ports import ObjectStore, Workflow
from paceline.settlement import settle
from paceline.table import Row, Table

# Receipts come in seconds or minutes; those that do not, in hours or never. Growing steps look often while it pays.
LOOKS = tuple(timedelta(minutes=m) for m in (0.5, 2, 5, 15, 60, 240, 720, 1440, 2880, 5760, 10080))

# A look at the deadline makes everything final; more are needed only where a step of it failed.
LOOKS_AFTER_DEADLINE = 3

# Carriers send most receipts within minutes. The look after this one tells an operator what a customer will ask about.
OVERDUE_AFTER = timedelta(hours=1)


class Counted(Model):
    """Messages of a batch that were final when somebody looked. A late word that changes one leaves a note."""

    messages: dict[str, int] = Field(default_factory=dict)
    held_parts: int = 0
    consumed: int = 0


class OpenBatch(Model):
    """A batch that is not settled; one item of the manifest of a look.

    open_leads: None: nobody has looked yet. counted: the others. Both are as the last look left them, so that a look
    that is killed and runs again starts from the same.
    """

    batch: Batch
    open_leads: tuple[int, ...] | None = None
    counted: Counted = Counted()


_OPEN = TypeAdapter(tuple[OpenBatch, ...])
_BATCHES = TypeAdapter(tuple[Batch, ...])


class OpenMessages(Model):
    """The answer of `Count Open Messages`. open_batches: not settled yet; manifest_key: a JSON array of `OpenBatch`.

    is_over: everything is settled, or so many looks after the deadline failed that a report must say so. due_at: the
    receipt deadline. charging: the campaign's, as the look needs it.
    """

    is_over: bool
    open_batches: int
    look: int
    next_look_at: str
    due_at: AwareDatetime
    charging: Charging
    manifest_bucket: str
    manifest_key: str


@dataclass(frozen=True, slots=True)
class OpenCounter:
    """Counts what is not final yet, at the moment `now`."""

    table: Table
    store: ObjectStore
    workflow: Workflow
    now: datetime

    def count(self, campaign_id: str, look: int, since: datetime) -> OpenMessages:
        """Settle the batches that are final, write the manifest of the others, and say when to look at them."""
        campaign = get_campaign(self.table, campaign_id)
        if not look:
            note_sending_ended(self.table, campaign_id, since)
        left = self._left_of_look(campaign, look - 1) if look else self._all(campaign_id)
        if self.now - since >= OVERDUE_AFTER:  # none too: an alarm ends by that
            count(Metric.RECEIPTS_OVERDUE, sum(_open_messages(one) for one in left))
        manifest_key = _manifest_key(campaign_id, look)
        self.store.put(manifest_key, _OPEN.dump_json(left))
        return OpenMessages(
            is_over=not left or look >= len(LOOKS) + LOOKS_AFTER_DEADLINE,
            open_batches=len(left),
            look=look + 1,
            next_look_at=iso(_look_at(campaign, look, since, self.now)),
            due_at=deadline(campaign, since),
            charging=campaign.charging,
            manifest_bucket=self.store.bucket,
            manifest_key=manifest_key,
        )

    def _all(self, campaign_id: str) -> tuple[OpenBatch, ...]:
        plan = get_plan(self.table, campaign_id)
        if plan is None or not plan.batches_manifest_key:
            return ()
        batches = _BATCHES.validate_json(self.store.get(plan.batches_manifest_key))
        return tuple(OpenBatch(batch=batch) for batch in batches)

    def _left_of_look(self, campaign: Campaign, look: int) -> tuple[OpenBatch, ...]:
        """Settle what became final at a look; return what is left of what it looked at."""
        seen = _OPEN.validate_json(self.store.get(_manifest_key(campaign.campaign_id, look)))
        summaries = {row["sk"].removeprefix("BATCH#"): row for row in self._summaries(seen)}
        for one in seen:
            if _may_have_open_round(summaries.get(one.batch.batch_id, {})) and self._close_rounds(one.batch):
                key = keys.batch(one.batch.campaign_id, one.batch.batch_id)
                summaries[one.batch.batch_id] = self.table.get(key) or {}
        if settle(self.table, campaign.account_id, list(summaries.values()), self.now):
            release_after_give_back(self.table, self.workflow, campaign.account_id)
        return tuple(
            _as_looked_at(one.batch, summaries.get(one.batch.batch_id, {}))
            for one in seen
            if "final_at" not in summaries.get(one.batch.batch_id, {})
        )

    def _close_rounds(self, batch: Batch) -> bool:
        """Give back what rounds did not use whose `Close Batch` never ended. Return whether there were any."""
        leases = self.table.query(keys.batch_partition(batch.campaign_id, batch.batch_id), keys.LEASES)
        open_rounds = [row["round"] for row in leases if "closed_at" not in row]
        for round_no in open_rounds:
            close_round(self.table, self.workflow, batch, round_no, self.now)
        return bool(open_rounds)

    def _summaries(self, seen: Sequence[OpenBatch]) -> Iterator[Row]:
        waiting = (keys.batch(one.batch.campaign_id, one.batch.batch_id) for one in seen)
        while some := list(islice(waiting, MOST_KEYS)):
            yield from self.table.get_many(some)


def _as_looked_at(batch: Batch, summary: Row) -> OpenBatch:
    counted = Counted.model_validate(summary.get("counted", {}))
    return OpenBatch(batch=batch, open_leads=summary.get("open_leads"), counted=counted)


def _open_messages(one: OpenBatch) -> int:
    return one.batch.leads if one.open_leads is None else len(one.open_leads)


def _may_have_open_round(summary: Row) -> bool:
    """Tell whether a batch is final and the last closing that is known of it was before that."""
    return "final_at" in summary and "settled_at" not in summary and summary.get("left") != 0


def _manifest_key(campaign_id: str, look: int) -> str:
    return f"campaigns/{campaign_id}/open/{look:03d}.json"


def deadline(campaign: Campaign, since: datetime) -> datetime:
    """Return when a message without a final receipt becomes `unconfirmed`. since: the end of the sending."""
    return since + timedelta(hours=campaign.receipt_deadline_hours)


def _look_at(campaign: Campaign, look: int, since: datetime, now: datetime) -> datetime:
    """Return the moment of a look: the last one at the deadline exactly, and further ones only if that one failed."""
    planned = min(since + LOOKS[min(look, len(LOOKS) - 1)], deadline(campaign, since))
    return planned if planned > now else now + timedelta(minutes=5)
