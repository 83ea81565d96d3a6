"""Reconciliation: looks at what is not final, at growing intervals, until everything is or the deadline has passed.

A batch whose messages are all final is settled by the next count.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from paceline import keys, rows
from paceline.admission import skip_lead
from paceline.batches import Ledger, batch_summaries, read_leads, read_ledger, summarize
from paceline.campaigns import get_campaign, get_plan
from paceline.closing import close_round
from paceline.evidence import look_up
from paceline.holds import release_after_give_back
from paceline.models import Batch, Campaign, JsonObject, Message, Model, Route
from paceline.moments import iso
from paceline.ports import ObjectStore, OutgoingMessage, Provider, ProviderRecord, Workflow
from paceline.receipts import Effect, Receipt, apply_receipt
from paceline.routes import get_route
from paceline.sending import VALIDITY
from paceline.settlement import amounts, settle
from paceline.status import FINAL, Cause, MessageStatus
from paceline.table import Table

# Receipts come in seconds or minutes; those that do not, in hours or never. Growing steps look often while it pays.
LOOKS = tuple(timedelta(minutes=m) for m in (0.5, 2, 5, 15, 60, 240, 720, 1440, 2880, 5760, 10080))

# A look at the deadline makes everything final; more are needed only where a step of it failed.
LOOKS_AFTER_DEADLINE = 3

# A sender lives for seconds; a claim this old has no sender any more.
ABANDONED_AFTER = timedelta(minutes=5)


class OpenMessages(Model):
    """The answer of `Count Open Messages`. open_batches: not settled yet; manifest_key: a JSON array of them.

    is_over: everything is settled, or so many looks after the deadline failed that a report must say so.
    """

    is_over: bool
    open_batches: int
    look: int
    next_look_at: str
    manifest_bucket: str
    manifest_key: str


class Reconciled(Model):
    """The answer of `Reconcile Batch`. open: messages of the batch that are not final."""

    batch_id: str
    open: int


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
        left = self._open_batches(campaign)
        manifest_key = f"campaigns/{campaign_id}/open/{look:03d}.json"
        self.store.put(manifest_key, json.dumps(left).encode())
        return OpenMessages(
            is_over=not left or look >= len(LOOKS) + LOOKS_AFTER_DEADLINE,
            open_batches=len(left),
            look=look + 1,
            next_look_at=iso(_look_at(campaign, look, since, self.now)),
            manifest_bucket=self.store.bucket,
            manifest_key=manifest_key,
        )

    def _open_batches(self, campaign: Campaign) -> list[JsonObject]:
        """Settle what is final; return the descriptors of the other batches."""
        summaries = batch_summaries(self.table, campaign.campaign_id)
        if settle(self.table, campaign.account_id, summaries, self.now):
            release_after_give_back(self.table, self.workflow, campaign.account_id)
        final = {row["sk"].removeprefix("BATCH#") for row in summaries if "final_at" in row}
        plan = get_plan(self.table, campaign.campaign_id)
        batches = json.loads(self.store.get(plan.batches_manifest_key)) if plan else []
        return [batch for batch in batches if batch["batch_id"] not in final]


def deadline(campaign: Campaign, since: datetime) -> datetime:
    """Return when a message without a final receipt becomes `unconfirmed`. since: the end of the sending."""
    return since + timedelta(hours=campaign.receipt_deadline_hours)


def _look_at(campaign: Campaign, look: int, since: datetime, now: datetime) -> datetime:
    """Return the moment of a look: the last one at the deadline exactly, and further ones only if that one failed."""
    planned = min(since + LOOKS[min(look, len(LOOKS) - 1)], deadline(campaign, since))
    return planned if planned > now else now + timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Reconciler:
    """Reconciles one batch at the moment `now`."""

    table: Table
    store: ObjectStore
    workflow: Workflow
    providers: Mapping[str, Provider]
    now: datetime
    _routes: dict[str, Route] = field(default_factory=dict)

    def reconcile(self, batch: Batch, since: datetime) -> Reconciled:
        """Settle what evidence allows. Raises: TransactionConflict, TableThrottled."""
        campaign = get_campaign(self.table, batch.campaign_id)
        is_due = self.now >= deadline(campaign, since)
        ledger = read_ledger(self.table, batch.campaign_id, batch.batch_id)
        if is_due and len(ledger.messages) < batch.leads:
            ledger = self._skip_unsent(batch, ledger)
        messages = [self._look_at(batch, message, is_due) for message in ledger.messages.values()]
        still_open = sum(message.status not in FINAL for message in messages)
        statuses = dict(Counter(message.status.value for message in messages))
        if not still_open and len(messages) == batch.leads:
            final: dict[str, Any] = {
                "status": "final",
                "final_at": iso(self.now),
                **amounts(messages, campaign.charging),
            }
            summarize(self.table, batch.campaign_id, batch.batch_id, self.now, messages=statuses, **final)
        return Reconciled(batch_id=batch.batch_id, open=still_open)

    def _skip_unsent(self, batch: Batch, ledger: Ledger) -> Ledger:
        """Give an outcome to leads whose batch's workflow failed before they had one, and give back their leases."""
        for round_no in ledger.leases:
            close_round(self.table, self.workflow, batch, round_no, self.now)
        for lead in read_leads(self.store, batch):
            skip_lead(self.table, batch, 0, lead, Cause.SENDER_FAILED, self.now)
        return read_ledger(self.table, batch.campaign_id, batch.batch_id)

    def _look_at(self, batch: Batch, message: Message, is_due: bool) -> Message:
        if message.status in FINAL:
            return message
        record = self._ask_provider(batch, message, is_due)
        if record is not None and record.status not in (message.status, MessageStatus.CLAIMED):
            message = self._apply(batch, message, record)
        if message.status in FINAL or not is_due:
            return message
        cause = "no_final_receipt" if message.provider_message_id else "no_evidence_of_acceptance"
        unconfirmed = ProviderRecord(message.provider_message_id, MessageStatus.UNCONFIRMED, cause)
        return self._apply(batch, message, unconfirmed)

    def _ask_provider(self, batch: Batch, message: Message, is_due: bool) -> ProviderRecord | None:
        """Ask about what is in doubt, and at the deadline about everything that has no final receipt."""
        if message.provider_message_id:
            return self._provider_of(batch).status_of(message.provider_message_id) if is_due else None
        claimed_at = message.claimed_at or self.now
        if message.status is MessageStatus.CLAIMED and self.now - claimed_at < ABANDONED_AFTER:
            return None
        lead = next(lead for lead in read_leads(self.store, batch) if lead.lead_no == message.lead_no)
        outgoing = OutgoingMessage(
            keys.message_id(batch.campaign_id, batch.batch_id, message.lead_no),
            self._route(batch).sender,
            lead.phone_number,
            lead.text,
            int(VALIDITY.total_seconds()),
        )
        account_id = get_campaign(self.table, batch.campaign_id).account_id
        return look_up(self.table, self._provider_of(batch), account_id, outgoing, claimed_at)

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
        row = self.table.get(keys.message(batch.campaign_id, batch.batch_id, message.lead_no))
        return rows.to_message(row) if row else message
