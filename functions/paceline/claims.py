"""The claim: the conditional write before the provider is called, in the two rows that only this person's sends share.

Here a STOP and a send meet, and here two sends of one message meet: whoever is second learns it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from paceline import keys, rows
from paceline.errors import TransactionConflict
from paceline.models import Campaign, Lead, Message
from paceline.moments import iso, to_us
from paceline.receipts import Receipt, apply_receipt
from paceline.resends import BARE_CLAIM, OF_ROUND, claim_once_more, claimed_by, leave_due, to_unknown
from paceline.retention import expiry
from paceline.status import Cause, MessageStatus
from paceline.table import ConditionFailed, Delete, Put, Row, Table, TransactionRefused, Update

FREQUENCY_WINDOW = timedelta(hours=24)

# The recipient's row changes only with another send to, or a word from, the same person.
MAX_TRIES = 4


def claim(table: Table, campaign: Campaign, message: Message, lead: Lead, now: datetime) -> Message | Cause | None:
    """Claim a message for sending.

    Return None: it is ours. A Message: it was claimed before, and this is its row. A Cause: the person may not be
    written to (OPTED_OUT, FREQUENCY_CAP). Raises: TransactionConflict, TableThrottled.
    """
    message = replace(message, status=MessageStatus.CLAIMED, claimed_at=now)
    put = Put(
        rows.message_row(campaign.campaign_id, message, campaign.kept_until), condition="attribute_not_exists(#pk)"
    )
    person = keys.recipient(campaign.account_id, lead.phone_number)
    message_id = keys.message_id(*_ids(campaign, message))
    known: Row | None = None
    for _ in range(MAX_TRIES):
        recent = _recent(known, now)
        cap = campaign.max_messages_per_recipient_24h
        if cap is not None and len(recent.keys() - {message_id}) >= cap:
            return Cause.FREQUENCY_CAP
        try:
            table.transact([put, _note_send(person, {**recent, message_id: to_us(now)}, known, campaign.kept_until)])
            return None
        except TransactionRefused as refused:
            of_message, of_person = refused.reasons
        if of_message.code == "ConditionalCheckFailed":
            before = rows.to_message(of_message.old or {})
            if not before.is_due or before.round >= message.round:  # of its own round: a try whose answer was lost
                return before
            put = claim_once_more(campaign, message, before)
        known = of_person.old or {}
        if "opted_out_at" in known:
            return Cause.OPTED_OUT
    raise TransactionConflict("the recipient's row changed under every try", message_id=message_id)


def give_up_claim(table: Table, campaign: Campaign, message: Message, lead: Lead) -> None:
    """Take back a claim whose message certainly did not leave, so that admission may give it a new slot.

    Of one that was claimed once more, the first try may have left: its row stays.
    """
    condition = f"{BARE_CLAIM} AND attribute_not_exists(#resend)"
    try:
        table.delete(Delete(keys.message(*_ids(campaign, message)), condition, claimed_by(message)))
    except ConditionFailed as kept:  # a second claim; or a receipt came for it: it did leave, and the row says so
        leave_due(table, campaign.campaign_id, message, kept.old or {})
        return
    _forget_send(
        table, keys.recipient(campaign.account_id, lead.phone_number), keys.message_id(*_ids(campaign, message))
    )


def _ids(campaign: Campaign, message: Message) -> tuple[str, str, int]:
    return campaign.campaign_id, message.batch_id, message.lead_no


def _forget_send(table: Table, person: keys.Key, message_id: str) -> None:
    """Take a message that did not leave out of the person's recent sends.

    Where somebody writes the row meanwhile it stays among them for a day: too few messages to a person, never too many.
    """
    recent = (table.get(person) or {}).get("recent", {})
    if message_id not in recent:
        return
    values = {"recent": {other: at for other, at in recent.items() if other != message_id}, "was": recent}
    with suppress(ConditionFailed, TransactionConflict):
        table.update(Update(person, "SET #recent = :recent", values, condition="#recent = :was"))


def _recent(row: Row | None, now: datetime) -> dict[str, int]:
    """Return the sends to this person in the last 24 hours: message id to microseconds."""
    since = to_us(now - FREQUENCY_WINDOW)
    return {message_id: at for message_id, at in (row or {}).get("recent", {}).items() if at > since}


def _note_send(person: keys.Key, recent: Mapping[str, int], known: Row | None, kept_until: datetime | None) -> Update:
    """Write this person's recent sends, if nobody else did since we looked and the person did not opt out.

    The row ends with the campaign's others, unless it says that a START came after a STOP: that must be shown for ever.
    """
    known = known or {}
    expression, condition = "SET #recent = :recent", "attribute_not_exists(#opted_out_at)"
    values: dict[str, Any] = {"recent": dict(recent)}
    if kept_until is not None and "opted_in_at" not in known:
        expression += ", #expires_at = :expires_at"
        condition += " AND attribute_not_exists(#opted_in_at)"
        values |= expiry(kept_until)
    if "recent" not in known:
        return Update(person, expression, values, f"{condition} AND attribute_not_exists(#recent)")
    return Update(person, expression, values | {"was": known["recent"]}, f"{condition} AND #recent = :was")


def note_unknown(table: Table, campaign_id: str, message: Message) -> MessageStatus:
    """Mark a claim whose sender did not live to record the answer: never sent again, settled by evidence."""
    key = keys.message(campaign_id, message.batch_id, message.lead_no)
    values, condition = {**claimed_by(message), **to_unknown()}, f"#status = :claimed AND {OF_ROUND}"
    try:
        table.update(Update(key, "SET #status = :unknown, #rank = :rank", values, condition=condition))
    except ConditionFailed as moved_on:
        return MessageStatus((moved_on.old or {}).get("status", MessageStatus.UNKNOWN))
    return MessageStatus.UNKNOWN


def record_sent(
    table: Table,
    campaign_id: str,
    message: Message,
    provider_message_id: str,
    sent_at: datetime,
    answered_at: datetime,
) -> None:
    """Record the provider's acceptance. A receipt that was faster keeps its status.

    Of a claim that was taken back meanwhile, to be sent once more, it is what a receipt is: evidence.
    """
    key = keys.message(campaign_id, message.batch_id, message.lead_no)
    values = {"id": provider_message_id, "at": iso(sent_at), "answered": iso(answered_at), "round": message.round}
    facts = "SET #provider_message_id = :id, #sent_at = :at, #answered_at = :answered"
    rank = rows.rank_of(MessageStatus.SENT, "", provider_message_id)
    to_sent = {"sent": MessageStatus.SENT.value, "rank": rank}
    try:
        sent = f"{facts}, #status = :sent, #rank = :rank"
        table.update(Update(key, sent, values | to_sent, condition=f"#rank < :rank AND {OF_ROUND}"))
    except ConditionFailed:
        try:
            table.update(Update(key, facts, values, condition=OF_ROUND))
        except ConditionFailed:
            message_id = keys.message_id(campaign_id, message.batch_id, message.lead_no)
            apply_receipt(table, Receipt(message_id, provider_message_id, MessageStatus.SENT), answered_at)


def record_failed(table: Table, campaign_id: str, message: Message, cause: str, now: datetime) -> MessageStatus:
    """Record the provider's refusal: the outcome `failed`, whose credits are released when the batch is settled.

    Of one that was claimed once more it says nothing of the first try, which may have left: that is unknown.
    """
    values = {
        "failed": MessageStatus.FAILED.value,
        "rank": rows.rank_of(MessageStatus.FAILED, cause),
        "cause": cause,
        "now": iso(now),
    }
    times = "#final_at = :now, #sent_at = :now, #answered_at = :now"
    expression = f"SET #status = :failed, #rank = :rank, #cause = :cause, {times}"
    key = keys.message(campaign_id, message.batch_id, message.lead_no)
    condition = "#rank < :rank AND attribute_not_exists(#resend)"
    try:
        table.update(Update(key, expression, values, condition=condition))
    except ConditionFailed:
        return note_unknown(table, campaign_id, message)
    return MessageStatus.FAILED
