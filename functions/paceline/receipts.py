"""Receipts: verified, stored raw, then applied to their own message's row and to nothing else.

A row's rank only rises, so late, doubled, out-of-order and contradicting receipts end in the same state whatever
their order.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from paceline import keys, rows
from paceline.moments import iso
from paceline.status import FINAL, MessageStatus
from paceline.table import ConditionFailed, Put, Table, Update

# How long a raw callback is kept for a replay.
INBOX_RETENTION = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Receipt:
    """What one callback says of one message, in our words. cause: why it was not delivered."""

    message_id: str
    provider_message_id: str
    status: MessageStatus
    cause: str = ""


def store_callback(table: Table, provider: str, message_id: str, fields: dict[str, str], now: datetime) -> None:
    """Keep a callback as it came, before anything is made of it. The same callback again is the same row.

    fields: without the message's text and numbers.
    """
    digest = hashlib.sha256(repr(sorted(fields.items())).encode()).hexdigest()[:24]
    pk, sk = keys.inbox(message_id, f"{provider}#{digest}")
    expires_at = int((now + INBOX_RETENTION).timestamp())
    table.put(Put({"pk": pk, "sk": sk, "fields": fields, "received_at": iso(now), "expires_at": expires_at}))


def apply_receipt(table: Table, receipt: Receipt, now: datetime) -> bool:
    """Apply a receipt to its message's row, by one conditional update. Return whether it changed the row.

    Raises: ValueError, where the message id is not one of ours; TransactionConflict, TableThrottled.
    """
    campaign_id, batch_id, lead_no = keys.parse_message_id(receipt.message_id)
    values: dict[str, Any] = {
        "status": receipt.status.value,
        "rank": rows.RANK[receipt.status],
        "id": receipt.provider_message_id,
    }
    expression = "SET #status = :status, #rank = :rank, #provider_message_id = :id"
    if receipt.status in FINAL:
        values |= {"now": iso(now), "cause": receipt.cause}
        expression += ", #final_at = :now, #cause = :cause"
    condition = "attribute_exists(#pk) AND #rank < :rank"
    try:
        table.update(Update(keys.message(campaign_id, batch_id, lead_no), expression, values, condition))
    except ConditionFailed:
        return False
    return True
