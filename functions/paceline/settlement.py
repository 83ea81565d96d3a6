"""Settling credits: what a final batch has reserved becomes consumed and released, exactly once.

Batches are settled together, many in one transaction with the account's row: one write of that row for 99 batches,
by one function at a time, where a transaction a batch had them all contend for it (461 conflicts in 25,000 sends).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice

from paceline import keys, rows
from paceline.models import Charging, Message
from paceline.moments import iso
from paceline.status import MessageStatus, Resend
from paceline.table import Action, Row, Table, TransactionRefused, Update

# A transaction takes 100 actions: these, and the account's.
BATCHES_A_TRANSACTION = 99

# The causes by which a carrier's filter stopped a message that the provider took.
FILTERED = frozenset({"carrier_filtered"})


def is_charged(message: Message, charging: Charging) -> bool:
    """Tell whether a message's parts are consumed.

    What the provider refused, or was never seen to take, is not charged, whatever the account's policy.
    """
    match message.status:
        case MessageStatus.DELIVERED:
            return True
        case MessageStatus.UNDELIVERED:
            return charging.charged == "submitted" and (charging.filtered or message.cause not in FILTERED)
        case MessageStatus.UNCONFIRMED:
            return charging.charged == "submitted" and bool(message.provider_message_id)
    return False


def amounts(messages: Iterable[Message], charging: Charging) -> dict[str, int]:
    """Return what the messages of a final batch hold of the account's reserved credits, and what of it is consumed.

    One that was sent once more holds its parts in two leases, and is charged once.
    """
    messages = list(messages)
    held = sum(message.parts for message in messages if message.status is not MessageStatus.SKIPPED)
    held += sum(message.parts for message in messages if message.resend is Resend.DONE)
    consumed = sum(message.parts for message in messages if is_charged(message, charging))
    return {"held_parts": held, "consumed": consumed}


def settle(table: Table, account_id: str, summaries: Sequence[Row], now: datetime) -> bool:
    """Settle the batches that are final (`final_at`) and not settled (`settled_at`). Return whether credits came back
    from any of them, be it by an earlier try of this step.

    Raises: TransactionConflict, TableThrottled; a repeated call goes on where it was.
    """
    final = [row if "settled_at" in row else _as_held(row) for row in summaries if "final_at" in row]
    waiting = [row for row in final if "settled_at" not in row]
    groups = iter(waiting)
    while group := list(islice(groups, BATCHES_A_TRANSACTION)):
        try:
            table.transact([_mark(row, now) for row in group] + _move_credits(account_id, group))
        except TransactionRefused as refused:  # some were settled by another try of this step: the others, one by one
            for row, reason in zip(group, refused.reasons, strict=False):
                if reason.code != "ConditionalCheckFailed":
                    _settle_one(table, account_id, row, now)
    return any(row["held_parts"] > row["consumed"] for row in final)


def _as_held(row: Row) -> Row:
    """Return a final batch's row with what its leases still hold, and no more of that consumed.

    Its messages hold as much, unless a sender gave a claim up that was counted when its round was closed.
    """
    held = row["reserved"] - row["released"] if "reserved" in row else row["held_parts"]
    consumed = min(row["consumed"], held)
    return {**row, "held_parts": held, "consumed": consumed, "waived": row["consumed"] - consumed}


def _settle_one(table: Table, account_id: str, row: Row, now: datetime) -> None:
    try:
        table.transact([_mark(row, now), *_move_credits(account_id, [row])])
    except TransactionRefused:
        return


def _mark(row: Row, now: datetime) -> Update:
    values = {"status": "settled", "settled_at": iso(now)} | {n: row[n] for n in ("held_parts", "consumed")}
    if row["waived"]:
        values["waived"] = row["waived"]
    return Update(
        rows.key_of(row),
        "SET " + ", ".join(f"#{name} = :{name}" for name in values) + " ADD #released :back",
        {**values, "back": row["held_parts"] - row["consumed"]},
        condition="attribute_exists(#final_at) AND attribute_not_exists(#settled_at)",
    )


def _move_credits(account_id: str, group: Sequence[Row]) -> list[Action]:
    held, consumed = (sum(row[name] for row in group) for name in ("held_parts", "consumed"))
    if not held:
        return []
    expression = "ADD #reserved :minus, #consumed :consumed, #available :back"
    values = {"minus": -held, "consumed": consumed, "back": held - consumed}
    return [Update(keys.account(account_id), expression, values)]


def resettle(table: Table, account_id: str, summary: Row, owed: int, now: datetime) -> None:
    """Let a settled batch consume what its messages now owe (parts), after late receipts; the account's row with it.

    What was released may be spent by then: no more is charged than is available, the rest is waived. A batch that is
    not settled is owed nothing yet. Raises: TransactionConflict, TableThrottled; a repeated call changes nothing.
    """
    while "settled_at" in summary and (more := owed - summary["consumed"]):
        if more > 0:
            account = table.get(keys.account(account_id)) or {}
            more = min(more, max(account.get("available", 0), 0))
        waived = owed - summary["consumed"] - more
        if not more and summary.get("waived", 0) == waived:
            return
        mark = Update(
            rows.key_of(summary),
            "SET #waived = :waived, #resettled_at = :now ADD #consumed :more, #released :back",
            {"waived": waived, "now": iso(now), "more": more, "back": -more, "was": summary["consumed"]},
            condition="#consumed = :was",
        )
        try:
            return table.transact([mark, *_charge(account_id, more)])
        except TransactionRefused:  # resettled by another try, or the credits were spent meanwhile: look again
            summary = table.get(rows.key_of(summary)) or {}


def _charge(account_id: str, more: int) -> list[Action]:
    """Return the account's write for so many parts more, or fewer, consumed."""
    if not more:
        return []
    update = Update(keys.account(account_id), "ADD #consumed :more, #available :back", {"more": more, "back": -more})
    if more < 0:
        return [update]
    return [replace(update, values={**update.values, "enough": more}, condition="#available >= :enough")]
