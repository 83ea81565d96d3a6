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
from paceline.batches import Ledger, read_leads, read_ledger, summarize
from paceline.campaigns import get_campaign
from paceline.departures import round_ref
from paceline.failing import MOST_FAILURES, asks_again_at, failures, probe
from paceline.leases import Refusal, take_lease
from paceline.metrics import Metric, count
from paceline.models import Account, Batch, Campaign, Hold, Lead, Message, Model, Route
from paceline.moments import from_us, iso, to_us
from paceline.pace_rows import to_pace
from paceline.pacing import RECOVERY_US, Request, fits_a_round
from paceline.ports import ObjectStore
from paceline.resends import refuse_resend
from paceline.routes import Signals, route_now
from paceline.slots import take_slots
from paceline.status import CampaignStatus, Cause, MessageStatus
from paceline.table import ConditionFailed, Put, Row, Table, Update
from paceline.turns import Turn, await_turn, take_turn
from paceline.windows import closes_at, is_open, next_open

# What no moment ends: somebody buys credits, opens an account or a route, puts a provider's settings right. Whoever
# paused a campaign knows of it.
NEEDS_A_PERSON = {Cause.CREDITS, Cause.ACCOUNT_NOT_ACTIVE, Cause.ROUTE_DISABLED, Cause.PROVIDER_MISCONFIGURED}

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
    """The items of one inline Map, which runs up to 40 at once on AWS. A batch is sent by a Map of such Maps."""

    items: tuple[Item, ...]


class Admission(Model):
    """The answer of `Admit Batch`.

    For SEND: groups, how many items of each are under way at once, and when the slots were given. For WAIT:
    wait_until, and the turn (a slot) that the batch may count on then. For HOLD: hold and hold_seconds.
    """

    decision: Decision
    round: int
    groups: tuple[Group, ...] = ()
    items_at_once: int = GROUP_SIZE
    given_at: str | None = None
    wait_until: str | None = None
    turn: str | None = None
    hold: Hold | None = None
    hold_seconds: int | None = None

    @property
    def items(self) -> list[Item]:
        """The items of all groups, in the order of their slots."""
        return sorted((item for group in self.groups for item in group.items), key=lambda item: item.slot)


# Of a batch's summary: the round of this admission was not closed, nor found to have nothing left to send.
NOT_CLOSED = "attribute_not_exists(#round) OR #round < :limit"


@dataclass(frozen=True, slots=True)
class Admitter:
    """Admits batches. `now` is the moment of the call."""

    table: Table
    store: ObjectStore
    now: datetime

    def admit(self, batch: Batch, round_no: int, *, turn: datetime | None = None) -> Admission:
        """Return what the batch may do now. turn: of an earlier answer WAIT.

        Raises: TransactionConflict, TableThrottled, CampaignNotFound.
        """
        campaign = get_campaign(self.table, batch.campaign_id)
        lease = self.table.get(keys.lease(batch.campaign_id, batch.batch_id, round_no))
        route, signals = route_now(self.table, batch.route)
        stop = self._stop(campaign)
        refusal = self._hold(campaign, route, signals, batch)
        if lease and (stop or refusal or self._is_over(lease)):
            return Admission(decision=Decision.CLOSE, round=round_no)  # first give back what the round has
        if stop:
            return self._skip_rest(campaign, batch, round_no, stop)
        if refusal:
            return self._refuse(campaign, batch, round_no, refusal.hold)
        if lease is None:
            return self._begin_round(campaign, route, signals, batch, round_no, turn)
        return self._give_slots(campaign, route, batch, lease)

    # -- may it go at all? ----------------------------------------------------------------------------------------

    def _stop(self, campaign: Campaign) -> Cause | None:
        if campaign.status in (CampaignStatus.CANCELLED, CampaignStatus.FAILED):
            return Cause.CANCELLED
        if campaign.send_by and self.now >= campaign.send_by:
            return Cause.SEND_BY_PASSED
        return None

    def _is_over(self, lease: Row) -> bool:
        """A closed round; or one that never got its slots, and whose day is past."""
        return "closed_at" in lease or ("slots" not in lease and iso(self.now) >= lease["valid_until"])

    def _hold(self, campaign: Campaign, route: Route, signals: Signals, batch: Batch) -> Refusal | None:
        if campaign.status is CampaignStatus.PAUSED:
            return Refusal(Hold(cause=Cause.PAUSED, since=self.now))
        if not route.is_enabled:
            return Refusal(Hold(cause=Cause.ROUTE_DISABLED, since=self.now))
        if signals.misconfigured_until > to_us(self.now):
            ends = from_us(signals.misconfigured_until)
            return Refusal(Hold(cause=Cause.PROVIDER_MISCONFIGURED, since=self.now, until=ends))
        if is_open(campaign.sending_window, batch.zones, self.now):
            return None
        until = next_open(campaign.sending_window, batch.zones, self.now)
        return Refusal(Hold(cause=Cause.SENDING_WINDOW, since=self.now, until=until))

    def _begin_round(
        self,
        campaign: Campaign,
        route: Route,
        signals: Signals,
        batch: Batch,
        round_no: int,
        turn: datetime | None,
    ) -> Admission:
        """Wait for the campaign's turn, holding nothing; then lease what one round sends."""
        # In the first round no lead can have a message: its lease does not exist.
        ledger = self._ledger(batch) if round_no > 1 else Ledger({}, {})
        leads = self._leads_left(batch, ledger)
        if not leads:
            return self._done(batch, round_no)
        failed, last = failures(ledger.leases)
        if failed >= MOST_FAILURES:
            return self._skip_rest(campaign, batch, round_no, Cause.SENDER_FAILED)
        if last is not None and self.now < (again := asks_again_at(failed, last)):
            return self._wait_for_sender(batch, round_no, again)
        leads = probe(leads, failed)
        parts = [lead.parts for lead in leads]
        leads = leads[: fits_a_round(parts, route.parts_per_minute)]
        leads = leads[: self._most_while_it_probes(route, signals, len(leads))]
        if wait := self._turn(campaign, route, leads, turn):
            return self._wait(batch, round_no, wait, has_lease=False)
        account: Account = get_account(self.table, campaign.account_id)
        lease = take_lease(self.table, campaign, route, account, batch.batch_id, round_no, leads, self.now)
        if isinstance(lease, Refusal):
            return self._refuse(campaign, batch, round_no, lease.hold)
        return self._give_slots(campaign, route, batch, lease)

    def _most_while_it_probes(self, route: Route, signals: Signals, leads: int) -> int:
        """Return how many of the leads may go after a provider's 429: few, that another 429 does not send many back."""
        if to_us(self.now) > signals.throttled_until + RECOVERY_US:
            return leads
        speed = to_pace(self.table.get(keys.route_pace(route.name))).speed_at(to_us(self.now))
        return max(1, int(leads * speed * speed))

    def _turn(self, campaign: Campaign, route: Route, leads: list[Lead], turn: datetime | None) -> Turn | None:
        request = _request(campaign, route, campaign.campaign_id, tuple(lead.parts for lead in leads))
        if turn is not None:
            return await_turn(self.table, route.name, request, turn, self.now)
        return take_turn(self.table, route.name, request, self.now)

    def _ledger(self, batch: Batch) -> Ledger:
        return read_ledger(self.table, batch.campaign_id, batch.batch_id)

    def _leads_left(self, batch: Batch, ledger: Ledger) -> list[Lead]:
        return [lead for lead in read_leads(self.store, batch) if not ledger.is_done(lead.lead_no)]

    # -- when? ----------------------------------------------------------------------------------------------------

    def _give_slots(self, campaign: Campaign, route: Route, batch: Batch, lease: Row) -> Admission:
        if "slots" not in lease:
            sizes = lease.get("sizes") or [1] * len(lease["lead_nos"])
            ref = round_ref(batch.campaign_id, batch.batch_id, lease["round"])
            request = _request(campaign, route, ref, tuple(sizes), self._valid_until(campaign, batch, lease))
            slots = take_slots(self.table, route.name, request, self.now)
            if isinstance(slots, Turn):
                return self._wait(batch, lease["round"], slots, has_lease=True)
            lease = self._keep_slots(lease, slots.moments, slots.width)
        # A round has fewer slots than leads where the day or the window ends first: the rest comes back.
        pairs = zip(lease["lead_nos"], lease["slots"], strict=False)
        items = tuple(Item(lead_no=lead_no, slot=iso(from_us(slot))) for lead_no, slot in pairs)
        self._note(batch, lease["round"], status="sending", has_lease=True)
        count(Metric.ROUTE_PACE, route.parts_per_minute, route=batch.route)
        groups, items_at_once = _lanes(len(items), lease.get("width", 0))
        return Admission(
            decision=Decision.SEND,
            round=lease["round"],
            groups=tuple(Group(items=items[first::groups]) for first in range(groups)),
            items_at_once=items_at_once,
            given_at=lease["given_at"],
        )

    def _valid_until(self, campaign: Campaign, batch: Batch, lease: Row) -> int:
        """The moment by which the round's messages must have left: the end of the day, the window or the campaign."""
        ends = [datetime.fromisoformat(lease["valid_until"]), campaign.send_by]
        ends.append(closes_at(campaign.sending_window, batch.zones, self.now))
        return min(to_us(end) for end in ends if end is not None)

    def _keep_slots(self, lease: Row, slots: list[int], width: int) -> Row:
        given = {"slots": slots, "first_slot": slots[0], "width": width, "given_at": iso(self.now)}
        sets = ", ".join(f"#{name} = :{name}" for name in given)
        update = Update(rows.key_of(lease), f"SET {sets}", given, condition="attribute_not_exists(#slots)")
        try:
            self.table.update(update)
        except ConditionFailed as kept:  # the same round, asked twice at once: one answer
            return kept.old or lease
        return lease | given

    # -- the answers ----------------------------------------------------------------------------------------------

    def _wait(self, batch: Batch, round_no: int, turn: Turn, *, has_lease: bool) -> Admission:
        cause = Cause.PROVIDER_THROTTLED if turn.throttled else Cause.PACE
        hold = Hold(cause=cause, since=self.now, until=turn.at)
        self._note(batch, round_no, status="waiting", hold=hold, has_lease=has_lease)
        return Admission(decision=Decision.WAIT, round=round_no, wait_until=iso(turn.at), turn=iso(turn.turn))

    def _wait_for_sender(self, batch: Batch, round_no: int, until: datetime) -> Admission:
        """Wait with no turn of the route: the batch takes one when it asks again."""
        hold = Hold(cause=Cause.SENDER_FAILED, since=self.now, until=until)
        self._note(batch, round_no, status="waiting", hold=hold)
        return Admission(decision=Decision.WAIT, round=round_no, wait_until=iso(until))

    def _refuse(self, campaign: Campaign, batch: Batch, round_no: int, hold: Hold) -> Admission:
        ends = [end for end in (hold.until, campaign.send_by) if end is not None]
        until = min(ends, default=self.now + timedelta(days=30))
        # Whole seconds, upwards: a hold that ended a moment too early would be refused for the same cause again.
        seconds = max(1, -((self.now - until) // timedelta(seconds=1)))
        self._note(batch, round_no, status="holding", hold=hold)
        return Admission(decision=Decision.HOLD, round=round_no, hold=hold, hold_seconds=seconds)

    def _skip_rest(self, campaign: Campaign, batch: Batch, round_no: int, cause: Cause) -> Admission:
        if cause is Cause.SEND_BY_PASSED:  # say what it waited for, not only that it waited too long
            hold = (self.table.get(keys.batch(batch.campaign_id, batch.batch_id)) or {}).get("hold")
            cause = Cause(hold["cause"]) if hold else cause
        for lead in self._leads_left(batch, self._ledger(batch)):
            skip_lead(self.table, campaign, batch, round_no, lead, cause, self.now)
        return self._done(batch, round_no)

    def _done(self, batch: Batch, round_no: int) -> Admission:
        self._note(batch, round_no, status="sent", round=round_no)
        return Admission(decision=Decision.DONE, round=0)

    def _note(
        self,
        batch: Batch,
        round_no: int,
        *,
        status: str,
        hold: Hold | None = None,
        has_lease: bool = False,
        **more: int,
    ) -> None:
        """Keep in the batch's summary what holds it, and for how long each earlier cause held it.

        has_lease: credits and day use are taken for what it will send next. An admission whose caller let it go long
        ago notes nothing any more once its round is closed.
        """
        summary = self.table.get(keys.batch(batch.campaign_id, batch.batch_id)) or {}
        before = summary.get("hold")
        goes_on = bool(before and hold and before["cause"] == hold.cause)
        values: dict[str, Any] = {"status": status, "route": batch.route, "leads": batch.leads, "hold": None}
        values |= {"has_lease": has_lease, **more}
        if hold is not None:
            since = {"since": before["since"]} if before and goes_on else {}
            values["hold"] = hold.model_dump(mode="json") | since
        if before is not None and not goes_on:
            evidence = {name: before[name] for name in ("used", "limit") if before.get(name) is not None}
            ended = {"cause": before["cause"], "since": before["since"], "until": iso(self.now), **evidence}
            values["held"] = [*summary.get("held", []), ended]
        if hold is not None and status == "holding" and not goes_on:
            _count_hold(batch, hold.cause, summary.get("left", batch.leads))
        summarize(
            self.table, batch.campaign_id, batch.batch_id, self.now, condition=NOT_CLOSED, limit=round_no, **values
        )


def _count_hold(batch: Batch, cause: Cause, messages: int) -> None:
    """Count a hold that begins, and how many messages it stops."""
    count(Metric.HELD_BATCHES, route=batch.route, cause=cause)
    count(Metric.HELD_MESSAGES, messages, route=batch.route, cause=cause)
    if cause in NEEDS_A_PERSON:
        count(Metric.PARKED_MESSAGES, messages)


def _request(campaign: Campaign, route: Route, ref: str, parts: tuple[int, ...], valid_until: int = 0) -> Request:
    return Request(ref, parts, route.parts_per_minute, valid_until, route.concurrency, campaign.weight)


def _lanes(items: int, width: int) -> tuple[int, int]:
    """Return into how many groups a round's items are dealt, and how many items of each are under way at once.

    Dealt out like cards: neighbours in time are in different Maps, so that none has a crowd to start. width: how many
    sends may be under way at once (0: no cap).
    """
    if width:
        return max(1, min(GROUP_SIZE, width // GROUP_SIZE)), min(GROUP_SIZE, width)
    return -(-items // GROUP_SIZE), GROUP_SIZE


def skip_lead(
    table: Table, campaign: Campaign, batch: Batch, round_no: int, lead: Lead, cause: Cause, now: datetime
) -> MessageStatus:
    """Write the outcome `skipped` for a lead that has no message; return what became of it.

    One that has a message keeps it: where it was due once more it is no longer, for its first try may have left.
    """
    message = Message(lead.lead_no, batch.batch_id, batch.route, round_no, lead.parts, MessageStatus.SKIPPED)
    row = rows.message_row(batch.campaign_id, replace(message, cause=cause.value, final_at=now), campaign.kept_until)
    try:
        table.put(Put(row, condition="attribute_not_exists(#pk)"))
    except ConditionFailed as kept:
        found = rows.to_message(kept.old or row)
        if found.is_due:
            refuse_resend(table, campaign.campaign_id, found, round_no)
        return found.status
    return MessageStatus.SKIPPED
