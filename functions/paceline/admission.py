"""Admission of a batch: may it go, which of its leads, and at which moment each.

Idempotent by campaign, batch and round: asked again, a round gets the lease and the slots that it has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from paceline import keys, rows
from paceline.accounts import get_account
from paceline.batches import read_leads, read_ledger, summarize
from paceline.campaigns import get_campaign
from paceline.leases import Refusal, take_lease
from paceline.models import Account, Batch, Campaign, Hold, Lead, Message, Model, Route
from paceline.moments import from_us, iso, to_us
from paceline.pacing import Request
from paceline.ports import ObjectStore
from paceline.routes import get_route
from paceline.slots import Turn, take_slots
from paceline.status import CampaignStatus, Cause, MessageStatus
from paceline.table import ConditionFailed, Put, Row, Table, Update
from paceline.windows import closes_at, is_open, next_open

# A lead that comes back from this many rounds without a claim has a fault that no round will mend.
MAX_ROUNDS = 200

# What an inline Map runs at once on AWS.
GROUP_SIZE = 40


class Decision(StrEnum):
    """What the workflow does next with the batch."""

    SEND = "send"  # the items have slots
    WAIT = "wait"  # for a turn, known and near
    HOLD = "hold"  # for the end of a cause, or a signal
    CLOSE = "close"  # the round is over: give back what it did not use
    DONE = "done"  # nothing of the batch is left to do


class Item(Model):
    """One message's slot. slot: ISO 8601, what `Wait For Slot` waits for."""

    lead_no: int
    slot: str


class Group(Model):
    """Up to 40 items: what one inline Map runs at once on AWS. A batch is sent by a Map of such Maps."""

    items: tuple[Item, ...]


class Admission(Model):
    """The answer of `Admit Batch`. groups: for SEND. wait_until: for WAIT. hold and hold_seconds: for HOLD."""

    decision: Decision
    round: int
    groups: tuple[Group, ...] = ()
    wait_until: str | None = None
    has_waited: bool = False
    hold: Hold | None = None
    hold_seconds: int | None = None

    @property
    def items(self) -> list[Item]:
        """The items of all groups, in the order of their slots."""
        return sorted((item for group in self.groups for item in group.items), key=lambda item: item.slot)


@dataclass(frozen=True, slots=True)
class Admitter:
    """Admits batches. `now` is the moment of the call."""

    table: Table
    store: ObjectStore
    now: datetime

    def admit(self, batch: Batch, round_no: int, *, has_waited: bool = False) -> Admission:
        """Return what the batch may do now. Raises: TransactionConflict, TableThrottled, CampaignNotFound."""
        campaign = get_campaign(self.table, batch.campaign_id)
        lease = self.table.get(keys.lease(batch.campaign_id, batch.batch_id, round_no))
        route = get_route(self.table, batch.route)
        stop = self._stop(campaign, round_no)
        refusal = self._hold(campaign, route, batch)
        if lease and (stop or refusal or self._is_over(lease)):
            return Admission(decision=Decision.CLOSE, round=round_no)  # first give back what the round has
        if stop:
            return self._skip_rest(batch, round_no, stop)
        answer = refusal or lease or self._lease(campaign, route, batch, round_no)
        if isinstance(answer, Refusal):
            return self._refuse(campaign, batch, round_no, answer.hold)
        return self._give_slots(campaign, route, batch, answer, has_waited)

    # -- may it go at all? ----------------------------------------------------------------------------------------

    def _stop(self, campaign: Campaign, round_no: int) -> Cause | None:
        if campaign.status in (CampaignStatus.CANCELLED, CampaignStatus.FAILED):
            return Cause.CANCELLED
        if campaign.send_by and self.now >= campaign.send_by:
            return Cause.SEND_BY_PASSED
        return Cause.SENDER_FAILED if round_no > MAX_ROUNDS else None

    def _is_over(self, lease: Row) -> bool:
        """A closed round; or one that never got its slots, and whose day is past."""
        return "closed_at" in lease or ("slots" not in lease and iso(self.now) >= lease["valid_until"])

    def _hold(self, campaign: Campaign, route: Route, batch: Batch) -> Refusal | None:
        if campaign.status is CampaignStatus.PAUSED:
            return Refusal(Hold(cause=Cause.PAUSED, since=self.now))
        if not route.is_enabled:
            return Refusal(Hold(cause=Cause.ROUTE_DISABLED, since=self.now))
        if is_open(campaign.sending_window, batch.zones, self.now):
            return None
        until = next_open(campaign.sending_window, batch.zones, self.now)
        return Refusal(Hold(cause=Cause.SENDING_WINDOW, since=self.now, until=until))

    def _lease(self, campaign: Campaign, route: Route, batch: Batch, round_no: int) -> Row | Refusal | None:
        leads = self._leads_left(batch, round_no)
        if not leads:
            return None
        account: Account = get_account(self.table, campaign.account_id)
        return take_lease(self.table, campaign, route, account, batch.batch_id, round_no, leads, self.now)

    def _leads_left(self, batch: Batch, round_no: int) -> list[Lead]:
        """The leads without a message. In the first round nobody can have one: its lease does not exist."""
        leads = read_leads(self.store, batch)
        if round_no == 1:
            return leads
        done = read_ledger(self.table, batch.campaign_id, batch.batch_id).messages
        return [lead for lead in leads if lead.lead_no not in done]

    # -- when? ----------------------------------------------------------------------------------------------------

    def _give_slots(
        self, campaign: Campaign, route: Route, batch: Batch, lease: Row | None, has_waited: bool
    ) -> Admission:
        if lease is None:
            return self._done(batch)
        if "slots" not in lease:
            leads = {lead.lead_no: lead for lead in read_leads(self.store, batch)}
            parts = tuple(leads[lead_no].parts for lead_no in lease["lead_nos"])
            request = Request(parts, route.parts_per_minute, self._valid_until(campaign, batch, lease))
            slots = take_slots(self.table, route.name, request, self.now, has_waited=has_waited)
            if isinstance(slots, Turn):
                return self._wait(batch, lease["round"], slots)
            lease = self._keep_slots(lease, slots[: request.usable(slots)])
        # A round has fewer slots than leads where the day or the window ends first: the rest comes back.
        pairs = zip(lease["lead_nos"], lease["slots"], strict=False)
        items = tuple(Item(lead_no=lead_no, slot=iso(from_us(slot))) for lead_no, slot in pairs)
        self._note(batch, status="sending")
        return Admission(decision=Decision.SEND, round=lease["round"], groups=_groups(items))

    def _valid_until(self, campaign: Campaign, batch: Batch, lease: Row) -> int:
        """The moment by which the round's messages must have left: the end of the day, the window or the campaign."""
        ends = [datetime.fromisoformat(lease["valid_until"]), campaign.send_by]
        ends.append(closes_at(campaign.sending_window, batch.zones, self.now))
        return min(to_us(end) for end in ends if end is not None)

    def _keep_slots(self, lease: Row, slots: list[int]) -> Row:
        update = Update(
            rows.key_of(lease), "SET #slots = :slots", {"slots": slots}, condition="attribute_not_exists(#slots)"
        )
        try:
            self.table.update(update)
        except ConditionFailed as kept:  # the same round, asked twice at once: one answer
            return kept.old or lease
        return lease | {"slots": slots}

    # -- the answers ----------------------------------------------------------------------------------------------

    def _wait(self, batch: Batch, round_no: int, turn: Turn) -> Admission:
        cause = Cause.PROVIDER_THROTTLED if turn.throttled else Cause.PACE
        self._note(batch, status="waiting", hold=Hold(cause=cause, since=self.now, until=turn.at))
        return Admission(decision=Decision.WAIT, round=round_no, wait_until=iso(turn.at), has_waited=True)

    def _refuse(self, campaign: Campaign, batch: Batch, round_no: int, hold: Hold) -> Admission:
        ends = [end for end in (hold.until, campaign.send_by) if end is not None]
        until = min(ends, default=self.now + timedelta(days=30))
        # Whole seconds, upwards: a hold that ended a moment too early would be refused for the same cause again.
        seconds = max(1, -((self.now - until) // timedelta(seconds=1)))
        self._note(batch, status="holding", hold=hold)
        return Admission(decision=Decision.HOLD, round=round_no, hold=hold, hold_seconds=seconds)

    def _skip_rest(self, batch: Batch, round_no: int, cause: Cause) -> Admission:
        if cause is Cause.SEND_BY_PASSED:  # say what it waited for, not only that it waited too long
            hold = (self.table.get(keys.batch(batch.campaign_id, batch.batch_id)) or {}).get("hold")
            cause = Cause(hold["cause"]) if hold else cause
        for lead in self._leads_left(batch, max(round_no, 2)):
            skip_lead(self.table, batch, round_no, lead, cause, self.now)
        return self._done(batch)

    def _done(self, batch: Batch) -> Admission:
        self._note(batch, status="sent")
        return Admission(decision=Decision.DONE, round=0)

    def _note(self, batch: Batch, *, status: str, hold: Hold | None = None) -> None:
        """Keep in the batch's summary what holds it, and for how long each earlier cause held it."""
        summary = self.table.get(keys.batch(batch.campaign_id, batch.batch_id)) or {}
        before = summary.get("hold")
        goes_on = bool(before and hold and before["cause"] == hold.cause)
        values: dict[str, Any] = {"status": status, "route": batch.route, "leads": batch.leads, "hold": None}
        if hold is not None:
            since = {"since": before["since"]} if before and goes_on else {}
            values["hold"] = hold.model_dump(mode="json") | since
        if before is not None and not goes_on:
            ended = {"cause": before["cause"], "since": before["since"], "until": iso(self.now)}
            values["held"] = [*summary.get("held", []), ended]
        summarize(self.table, batch.campaign_id, batch.batch_id, self.now, **values)


def _groups(items: tuple[Item, ...]) -> tuple[Group, ...]:
    """Deal the items out like cards: neighbours in time are in different Maps, so that none has a crowd to start."""
    count = -(-len(items) // GROUP_SIZE)
    return tuple(Group(items=items[first::count]) for first in range(count))


def skip_lead(table: Table, batch: Batch, round_no: int, lead: Lead, cause: Cause, now: datetime) -> None:
    """Write the outcome `skipped` for a lead that has no message; one that has keeps it."""
    message = Message(lead.lead_no, batch.batch_id, batch.route, round_no, lead.parts, MessageStatus.SKIPPED)
    row = rows.message_row(batch.campaign_id, replace(message, cause=cause.value, final_at=now))
    try:
        table.put(Put(row, condition="attribute_not_exists(#pk)"))
    except ConditionFailed:
        return
