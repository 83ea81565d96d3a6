"""Receipts: verified, stored raw, then applied to their own message's row and to nothing else.

A row's rank only rises, so late, doubled, out-of-order and contradicting receipts end in the same state whatever
their order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum, auto
from typing import Any

from paceline import keys, rows
from paceline.late import write_late
from paceline.moments import iso
from paceline.retention import INBOX, expiry
from paceline.status import FINAL, MessageStatus
from paceline.table import ConditionFailed, Put, Row, Table, Update

# Why a message is unconfirmed: the provider took it and said no last word; or nobody can tell that it took it.
NO_FINAL_RECEIPT = "no_final_receipt"
NO_EVIDENCE = "no_evidence_of_acceptance"


@dataclass(frozen=True, slots=True)
class Receipt:
    """What one callback says of one message, in our words. cause: why it was not delivered."""

    message_id: str
    provider_message_id: str
    status: MessageStatus
    cause: str = ""


def without_numbers(fields: Mapping[str, str], *numbers: str) -> dict[str, str]:
    """Return a callback's fields without those that have one of the numbers, whatever a provider calls the field."""
    digits = [found for number in numbers if len(found := _digits(number)[-10:]) > 6]
    return {name: value for name, value in fields.items() if not any(one in _digits(value) for one in digits)}


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def store_callback(
    table: Table, provider: str, message_id: str, fields: dict[str, str], now: datetime, says: Receipt | None = None
) -> None:
    """Keep a callback as it came, before anything is done about it. The same callback again is the same row.

    fields: without the message's text and numbers. says: what it means, for whoever finds it when the function that
    took it was killed.
    """
    digest = hashlib.sha256(repr(sorted(fields.items())).encode()).hexdigest()[:24]
    pk, sk = keys.inbox(message_id, f"{provider}#{digest}")
    row: dict[str, Any] = {"pk": pk, "sk": sk, "fields": fields, "received_at": iso(now), **expiry(now + INBOX)}
    if says is not None:
        row["says"] = {"id": says.provider_message_id, "status": says.status.value, "cause": says.cause}
    table.put(Put(row))


def stored_receipts(table: Table, message_id: str) -> Iterator[Receipt]:
    """Yield what the inbox has for a message: of what was taken some may not have been applied."""
    found = (receipt_of(row, message_id) for row in table.query(*keys.inbox(message_id, "")))
    return (receipt for receipt in found if receipt is not None)


def receipt_of(row: Row, message_id: str) -> Receipt | None:
    """Return what a row of the inbox says of a message; None, where nobody knew what it means."""
    says = row.get("says")
    return Receipt(message_id, says["id"], MessageStatus(says["status"]), says["cause"]) if says else None


class Effect(Enum):
    """What a receipt did to its message's row. LATE: it changed a final one, and that is noted beside it."""

    NONE = auto()
    CHANGED = auto()
    LATE = auto()


def apply_receipt(table: Table, receipt: Receipt, now: datetime) -> Effect:
    """Apply a receipt to its message's row, by one conditional update; a late one with its note, in a transaction.

    Raises: ValueError, where the message id is not one of ours; TransactionConflict, TableThrottled.
    """
    update = _update(receipt, now)
    in_time = f"{update.condition} AND #rank < :final"
    try:
        table.update(replace(update, condition=in_time, values={**update.values, "final": rows.FIRST_FINAL_RANK}))
        return Effect.CHANGED
    except ConditionFailed as refused:
        old = refused.old or {}
    if (taken := _as_evidence(receipt, old)) is not receipt:
        return apply_receipt(table, taken, now)
    if rows.FIRST_FINAL_RANK <= old.get("rank", "") < update.values["rank"]:
        return Effect.LATE if write_late(table, update, receipt.message_id, now) else Effect.NONE
    return Effect.NONE


def would_change(message: Row, receipt: Receipt) -> bool:
    """Tell whether `apply_receipt` would change a message's row, as that was read."""
    said = _as_evidence(receipt, message)
    if message.get("provider_message_id") and not said.provider_message_id:
        return False
    return bool(message["rank"] < rows.rank_of(said.status, said.cause, said.provider_message_id))


def _as_evidence(receipt: Receipt, message: Row) -> Receipt:
    """Late evidence that a message was taken gives the same row as if it had come in time, for it may be charged."""
    if receipt.status is MessageStatus.SENT and message.get("cause") == NO_EVIDENCE:
        return replace(receipt, status=MessageStatus.UNCONFIRMED, cause=NO_FINAL_RECEIPT)
    return receipt


def _update(receipt: Receipt, now: datetime) -> Update:
    campaign_id, batch_id, lead_no = keys.parse_message_id(receipt.message_id)
    rank = rows.rank_of(receipt.status, receipt.cause, receipt.provider_message_id)
    values: dict[str, Any] = {"status": receipt.status.value, "rank": rank}
    condition = "attribute_exists(#pk) AND #rank < :rank"
    if receipt.provider_message_id:
        values["provider_message_id"] = receipt.provider_message_id
    else:  # said of a row on which nobody had signed yet: were it signed by now, other words would be right
        condition += " AND attribute_not_exists(#provider_message_id)"
    if receipt.status in FINAL:
        values |= {"final_at": iso(now), "cause": receipt.cause}
    expression = "SET " + ", ".join(f"#{name} = :{name}" for name in values)
    return Update(keys.message(campaign_id, batch_id, lead_no), expression, values, condition)
