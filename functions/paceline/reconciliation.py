"""Reconciliation: looks at what is not final, at growing intervals, until everything is or the deadline has passed.

A batch whose messages are all final is settled by the next count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from paceline import keys, rows
from paceline.admission import skip_lead
from paceline.batches import find_lead, read_leads, read_ledger, summarize, unreadable_leads
from paceline.campaigns import get_campaign
from paceline.closing import close_round
from paceline.departures import MOST_KEYS
from paceline.errors import ProviderUnsure
from paceline.evidence import look_up
from paceline.looks import Counted, OpenBatch
from paceline.models import Batch, Charging, JsonObject, Message, Model, Route
from paceline.moments import iso
from paceline.ports import ObjectStore, OutgoingMessage, Provider, ProviderRecord, Workflow
from paceline.receipts import NO_EVIDENCE, NO_FINAL_RECEIPT, Effect, Receipt, apply_receipt, stored_receipts
from paceline.routes import get_route
from paceline.sending import VALIDITY
from paceline.settlement import amounts
from paceline.status import FINAL, Cause, MessageStatus
from paceline.table import Table

# A receipt that comes during the look changes what is right to say; another one is hardly there the next time.
MAX_TRIES = 3

# A sender lives for seconds; a claim this old has no sender any more.
ABANDONED_AFTER = timedelta(minutes=5)


# A provider that does not answer at the deadline is asked again by the looks after it, which are 5 minutes apart and at
# least four: the last but one does without its word.
PATIENCE = timedelta(minutes=10)


class Reconciled(Model):
    """The answer of `Reconcile Batch`. open: messages of the batch that are not final."""

    batch_id: str
    open: int


@dataclass(frozen=True, slots=True)
class Reconciler:
    """Reconciles one batch at the moment `now`."""

    table: Table
    store: ObjectStore
    workflow: Workflow
    providers: Mapping[str, Provider]
    now: datetime
    _routes: dict[str, Route] = field(default_factory=dict)

    def reconcile(self, one: OpenBatch, due_at: datetime, charging: Charging) -> Reconciled:
        """Settle what evidence allows. Raises: TransactionConflict, TableThrottled."""
        batch, is_due = one.batch, self.now >= due_at
        messages = self._messages(batch, one.open_leads)
        has_unsent = one.open_leads is None and len(messages) < batch.leads
        if has_unsent and (is_due or self._nobody_sends(batch)):
            messages, has_unsent = self._skip_unsent(batch), False
        differences: list[JsonObject] = []
        messages = [self._look_at(batch, message, due_at, differences) for message in messages]
        still_open = [message.lead_no for message in messages if message.status not in FINAL]
        if has_unsent:  # the next look begins anew
            return Reconciled(batch_id=batch.batch_id, open=len(still_open))
        counted = _added(one.counted, [message for message in messages if message.status in FINAL], charging)
        if not still_open:
            self._note(batch, differences, status="final", final_at=iso(self.now), **counted.model_dump())
        elif tuple(still_open) != one.open_leads:
            self._note(batch, differences, open_leads=still_open, counted=counted.model_dump())
        return Reconciled(batch_id=batch.batch_id, open=len(still_open))

    def _messages(self, batch: Batch, open_leads: Sequence[int] | None) -> list[Message]:
        """Return the batch's messages, or those that were open when somebody last looked."""
        if open_leads is None:
            found = self.table.query(keys.batch_partition(batch.campaign_id, batch.batch_id), keys.MESSAGES)
            return [rows.to_message(row) for row in found]
        wanted = iter([keys.message(batch.campaign_id, batch.batch_id, lead_no) for lead_no in open_leads])
        read: list[Message] = []
        while some := list(islice(wanted, MOST_KEYS)):
            read += map(rows.to_message, self.table.get_many(some))
        return sorted(read, key=lambda message: message.lead_no)

    def _note(self, batch: Batch, differences: list[JsonObject], **values: Any) -> None:
        if differences:
            known = (self.table.get(keys.batch(batch.campaign_id, batch.batch_id)) or {}).get("differences", [])
            values["differences"] = [*known, *(one for one in differences if one not in known)]
        summarize(self.table, batch.campaign_id, batch.batch_id, self.now, **values)

    def _nobody_sends(self, batch: Batch) -> bool:
        """Tell whether the campaign's sending ended so long ago that no sender and no admission of it lives."""
        ended = get_campaign(self.table, batch.campaign_id).sending_ended_at
        return ended is not None and self.now - ended >= ABANDONED_AFTER

    def _skip_unsent(self, batch: Batch) -> list[Message]:
        """Give an outcome to leads whose batch's workflow failed before they had one, and give back their leases."""
        # Of a batch that never began nobody else says the route.
        summarize(self.table, batch.campaign_id, batch.batch_id, self.now, route=batch.route, hold=None)
        for round_no in read_ledger(self.table, batch.campaign_id, batch.batch_id).leases:
            close_round(self.table, self.workflow, batch, round_no, self.now)
        campaign = get_campaign(self.table, batch.campaign_id)
        leads = read_leads(self.store, batch)
        for lead in leads:
            skip_lead(self.table, campaign, batch, 0, lead, Cause.SENDER_FAILED, self.now)
        for lead in unreadable_leads(self.store, batch, leads):
            skip_lead(self.table, campaign, batch, 0, lead, Cause.LEAD_UNREADABLE, self.now)
        return self._messages(batch, None)

    def _look_at(self, batch: Batch, message: Message, due_at: datetime, differences: list[JsonObject]) -> Message:
        """Return the message as evidence leaves it; where the provider knew more than we did, a difference more."""
        is_due = self.now >= due_at
        for _ in range(MAX_TRIES):
            if message.status in FINAL:
                return message
            try:
                record = self._ask_provider(batch, message, is_due)
            except ProviderUnsure:  # one message stops no other's, and the next look asks again
                if self.now < due_at + PATIENCE:
                    return self._replay(batch, message) if is_due else message
                record = None
            if record is not None and record.status not in (message.status, MessageStatus.CLAIMED):
                differences.append(_difference(message, record))
                message = self._apply(batch, message, record)
            if is_due and message.status not in FINAL:
                message = self._replay(batch, message)
            if message.status in FINAL or not is_due:
                return message
            cause = NO_FINAL_RECEIPT if message.provider_message_id else NO_EVIDENCE
            unconfirmed = ProviderRecord(message.provider_message_id, MessageStatus.UNCONFIRMED, cause)
            message = self._apply(batch, message, unconfirmed)
        return message

    def _replay(self, batch: Batch, message: Message) -> Message:
        """Apply what the inbox has for a message: whoever took a receipt may have been killed before it was applied."""
        message_id = keys.message_id(batch.campaign_id, batch.batch_id, message.lead_no)
        effects = [apply_receipt(self.table, receipt, self.now) for receipt in stored_receipts(self.table, message_id)]
        return message if set(effects) <= {Effect.NONE} else self._again(batch, message)

    def _again(self, batch: Batch, message: Message) -> Message:
        row = self.table.get(keys.message(batch.campaign_id, batch.batch_id, message.lead_no))
        return rows.to_message(row) if row else message

    def _ask_provider(self, batch: Batch, message: Message, is_due: bool) -> ProviderRecord | None:
        """Ask about what is in doubt, and at the deadline about everything that has no final receipt."""
        if message.provider_message_id:
            return self._provider_of(batch).status_of(message.provider_message_id) if is_due else None
        claimed_at = message.claimed_at or self.now
        if message.status is MessageStatus.CLAIMED and self.now - claimed_at < ABANDONED_AFTER:
            return None
        lead = find_lead(self.store, batch, message.lead_no)
        if lead is None or lead.is_forgotten:
            return None  # nobody knows any more whom to ask about: its receipt is the only evidence
        outgoing = OutgoingMessage(
            keys.message_id(batch.campaign_id, batch.batch_id, message.lead_no),
            self._route(batch).sender,
            lead.phone_number,
            lead.text,
            int(VALIDITY.total_seconds()),
        )
        account_id = get_campaign(self.table, batch.campaign_id).account_id
        claims = [moment for moment in (message.first_claimed_at, claimed_at) if moment]
        return look_up(self.table, self._provider_of(batch), account_id, outgoing, claims)

    def _provider_of(self, batch: Batch) -> Provider:
        return self.providers[self._route(batch).provider]

    def _route(self, batch: Batch) -> Route:
        """Return the batch's route, read once."""
        if batch.route not in self._routes:
            self._routes[batch.route] = get_route(self.table, batch.route)
        return self._routes[batch.route]

    def _apply(self, batch: Batch, message: Message, record: ProviderRecord) -> Message:
        message_id = keys.message_id(batch.campaign_id, batch.batch_id, message.lead_no)
        receipt = Receipt(message_id, record.provider_message_id, record.status, record.cause)
        if apply_receipt(self.table, receipt, self.now) is not Effect.NONE:
            return replace(
                message,
                status=record.status,
                cause=record.cause,
                provider_message_id=record.provider_message_id or message.provider_message_id,
            )
        return self._again(batch, message)


def _added(counted: Counted, messages: Sequence[Message], charging: Charging) -> Counted:
    more = amounts(messages, charging)
    statuses = Counter(counted.messages) + Counter(message.status.value for message in messages)
    return Counted(
        messages=dict(statuses),
        held_parts=counted.held_parts + more["held_parts"],
        consumed=counted.consumed + more["consumed"],
    )


def _difference(message: Message, record: ProviderRecord) -> JsonObject:
    """Return what the provider's book had that ours had not, for the report: it holds no number and no text."""
    return {
        "lead_no": message.lead_no,
        "ours": message.status.value,
        "provider": record.status.value,
        "cause": record.cause,
        "provider_message_id": record.provider_message_id,
    }
