"""Sending one message: may it still go? → claim → provider → record. Each step can be killed and run again.

Killed between claim and record, the message is `unknown`: never sent again, settled by evidence only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from paceline import keys
from paceline.admission import skip_lead
from paceline.batches import find_lead, find_number
from paceline.campaigns import PAUSE_BOUND_SECONDS, get_campaign
from paceline.claims import claim, give_up_claim, note_unknown, record_failed, record_sent
from paceline.errors import (
    ProviderMisconfigured,
    ProviderThrottled,
    ProviderUnsure,
    RateLimited,
    TransactionConflict,
)
from paceline.metrics import Metric, count
from paceline.models import Batch, Campaign, Lead, Message, Model, Route
from paceline.moments import to_us
from paceline.pacing import is_late
from paceline.ports import Accepted, Clock, ObjectStore, OutgoingMessage, Provider, Refused
from paceline.resends import leave_for_resend
from paceline.routes import Signals, hold_route, route_now
from paceline.slots import slow_down
from paceline.status import CampaignStatus, Cause, MessageStatus
from paceline.table import Table
from paceline.windows import is_open

# A marketing text that could not be delivered within a day is of no use to anybody afterwards.
VALIDITY = timedelta(hours=24)


class Sent(Model):
    """The answer of `Send Message`: what became of one message, by its number alone."""

    lead_no: int
    status: MessageStatus


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends one message through its route's provider. providers: by name."""

    table: Table
    store: ObjectStore
    clock: Clock
    providers: Mapping[str, Provider]

    def send(self, batch: Batch, round_no: int, lead_no: int, slot: datetime, given_at: datetime) -> Sent:
        """Send one message at its slot, at most once ever. given_at: when the slot was given.

        Raises: RateLimited, ProviderThrottled, ProviderMisconfigured (back to admission); TransactionConflict,
        TableThrottled (again).
        """
        try:
            sent = self._send(batch, round_no, lead_no, slot, given_at)
        except (RateLimited, ProviderThrottled, ProviderMisconfigured) as error:
            _count_return(batch.route, error)
            raise
        count(Metric.SENDS, route=batch.route, outcome=sent.status)
        return sent

    def _send(self, batch: Batch, round_no: int, lead_no: int, slot: datetime, given_at: datetime) -> Sent:
        looked_at = self.clock.now()
        campaign = get_campaign(self.table, batch.campaign_id)
        route, signals = route_now(self.table, batch.route)
        self._check_may_go(campaign, batch, slot, given_at, signals)
        lead = find_lead(self.store, batch, lead_no)
        if lead is None or lead.is_forgotten:
            cause = Cause.LEAD_UNREADABLE if lead is None else Cause.OPTED_OUT
            lead = lead or find_number(self.store, batch, lead_no)
            status = skip_lead(self.table, campaign, batch, round_no, lead, cause, self.clock.now())
            return Sent(lead_no=lead_no, status=status)
        message = Message(lead_no, batch.batch_id, batch.route, round_no, lead.parts, MessageStatus.CLAIMED, slot=slot)
        claimed = claim(self.table, campaign, message, lead, self.clock.now())
        if isinstance(claimed, Message):
            return Sent(lead_no=lead_no, status=self._repeated(campaign, claimed))
        if isinstance(claimed, Cause):
            status = skip_lead(self.table, campaign, batch, round_no, lead, claimed, self.clock.now())
            return Sent(lead_no=lead_no, status=status)
        if "closing_at" in (self.table.get(keys.lease(batch.campaign_id, batch.batch_id, round_no)) or {}):
            # Our caller let us go long ago: what this message would use was given back, or is about to be.
            give_up_claim(self.table, campaign, message, lead)
            raise RateLimited("the round was closed while it was claimed", cause=Cause.SLOT_MISSED)
        return Sent(lead_no=lead_no, status=self._offer(campaign, route, batch, message, lead, looked_at))

    def _check_may_go(
        self, campaign: Campaign, batch: Batch, slot: datetime, given_at: datetime, signals: Signals
    ) -> None:
        now = self.clock.now()
        if campaign.status is not CampaignStatus.RUNNING:
            cause = Cause.PAUSED if campaign.status is CampaignStatus.PAUSED else Cause.CANCELLED
            raise RateLimited(f"the campaign is {campaign.status}", cause=cause)
        if is_late(to_us(slot), to_us(now)):
            raise RateLimited("the slot was missed", cause=Cause.SLOT_MISSED)
        if to_us(now) < signals.throttled_until:
            raise RateLimited("the provider asked for a pause", cause=Cause.PROVIDER_THROTTLED)
        if to_us(now) < signals.misconfigured_until:
            raise RateLimited("the provider refuses the route", cause=Cause.PROVIDER_MISCONFIGURED)
        if to_us(given_at) < signals.caps_lowered_at:
            raise RateLimited("the route's cap was lowered after the slot was given", cause=Cause.PACE)
        if not is_open(campaign.sending_window, batch.zones, now):
            raise RateLimited("the sending window is closed", cause=Cause.SENDING_WINDOW)

    def _repeated(self, campaign: Campaign, message: Message) -> MessageStatus:
        return self._in_doubt(campaign, message) if message.status is MessageStatus.CLAIMED else message.status

    def _in_doubt(self, campaign: Campaign, message: Message) -> MessageStatus:
        """The message may have left: never again, unless the account wants it once more. Raises: RateLimited."""
        if leave_for_resend(self.table, campaign, message):
            raise RateLimited("in doubt, and to be sent once more", cause=Cause.SLOT_MISSED)
        return note_unknown(self.table, campaign.campaign_id, message)

    def _offer(
        self, campaign: Campaign, route: Route, batch: Batch, message: Message, lead: Lead, looked_at: datetime
    ) -> MessageStatus:
        """Call the provider and record its answer. looked_at: when the campaign and the route were read."""
        message_id = keys.message_id(batch.campaign_id, batch.batch_id, lead.lead_no)
        validity = int(VALIDITY.total_seconds())
        outgoing = OutgoingMessage(message_id, route.sender, lead.phone_number, lead.text, validity)
        provider = self.providers[route.provider]
        try:
            provider.get_ready()  # what may take its time comes before the last look at the clock
            now = self.clock.now()
            if missed := self._missed(message, looked_at, now):
                give_up_claim(self.table, campaign, message, lead)
                raise RateLimited(missed, cause=Cause.SLOT_MISSED)
            answer = provider.send(outgoing)
        except ProviderThrottled as throttled:
            give_up_claim(self.table, campaign, message, lead)
            slow_down(self.table, batch.route, self.clock.now(), throttled.evidence.get("retry_after_seconds", 5))
            raise
        except ProviderMisconfigured as trouble:
            give_up_claim(self.table, campaign, message, lead)
            hold_route(self.table, batch.route, self.clock.now(), trouble.evidence["cause"])
            raise
        except ProviderUnsure:
            return self._in_doubt(campaign, message)
        return self._record(batch, message, answer, now)

    def _missed(self, message: Message, looked_at: datetime, now: datetime) -> str:
        """Say why it is too late for a claimed message by now; blank: it is not."""
        if message.slot is not None and is_late(to_us(message.slot), to_us(now)):
            return "the slot was missed while it was claimed"
        if (now - looked_at).total_seconds() > PAUSE_BOUND_SECONDS:
            return "the campaign may have been paused while it was claimed"
        return ""

    def _record(self, batch: Batch, message: Message, answer: Accepted | Refused, sent_at: datetime) -> MessageStatus:
        try:
            if isinstance(answer, Accepted):
                now = self.clock.now()
                count(Metric.PARTS, message.parts, route=batch.route, outcome=MessageStatus.SENT)
                record_sent(self.table, batch.campaign_id, message, answer.provider_message_id, sent_at, now)
                return MessageStatus.SENT
            return record_failed(self.table, batch.campaign_id, message, answer.cause, self.clock.now())
        except TransactionConflict:
            # Nothing else writes this row in a transaction; were it so, a retry must not see a bare claim and the
            # receipt carries our id anyway.
            return note_unknown(self.table, batch.campaign_id, message)


def _count_return(route: str, error: RateLimited | ProviderThrottled | ProviderMisconfigured) -> None:
    """Count a message that goes back to admission, and by what."""
    count(Metric.SENDS, route=route, outcome="returned")
    match error:
        case ProviderThrottled():
            count(Metric.PROVIDER_THROTTLES, route=route)
            cause = Cause.PROVIDER_THROTTLED
        case ProviderMisconfigured():
            cause = Cause.PROVIDER_MISCONFIGURED
        case _:
            cause = error.evidence["cause"]
    count(Metric.SENDS_RETURNED, route=route, cause=cause)
