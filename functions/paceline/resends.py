"""A message in doubt, once more: for accounts that would rather have a text arrive twice than perhaps not at all.

Its first try may have left. So its row stays, for evidence of that try, and that try's lease keeps what it took of
credits, a minute and a day. The row is due until a later round claims it, or finds that it may not go.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from paceline import keys, rows
from paceline.models import Campaign, Message
from paceline.moments import to_us
from paceline.status import MessageStatus, Resend
from paceline.table import ConditionFailed, Put, Row, Table, TransactionRefused, Update

# A claim is changed by whoever made it alone: an orphan may live on beside the claim of a later round.
OF_ROUND = "#round = :round"

# A claim of which nothing came yet: no answer, no receipt.
BARE_CLAIM = f"#status = :claimed AND {OF_ROUND} AND attribute_not_exists(#provider_message_id)"


def claimed_by(message: Message) -> dict[str, Any]:
    """Return the values of a condition on a message's own claim."""
    return {"claimed": MessageStatus.CLAIMED.value, "round": message.round}


def to_unknown() -> dict[str, Any]:
    """Return the values of a row that becomes unknown."""
    return {"unknown": MessageStatus.UNKNOWN.value, "rank": rows.rank_of(MessageStatus.UNKNOWN)}


def leave_for_resend(table: Table, campaign: Campaign, message: Message) -> bool:
    """Let a message that may have left be due once more, in a slot of its own. Return whether it is.

    Once only, and only where the account wants that: the person may get two texts.
    Raises: TransactionConflict, TableThrottled.
    """
    if campaign.in_doubt != "resend_once":
        return False
    due = _due(campaign.campaign_id, message)
    once = replace(due, condition=f"{due.condition} AND attribute_not_exists(#resend)")
    slot = message.slot or message.claimed_at
    assert slot is not None  # a claim has both
    note = Update(
        keys.lease(campaign.campaign_id, message.batch_id, message.round),
        "SET #in_doubt = list_append(if_not_exists(#in_doubt, :none), :one)",
        {"none": [], "one": [[to_us(slot), message.parts]]},
        condition="attribute_exists(#pk) AND attribute_not_exists(#closing_at)",
    )
    try:
        table.transact([once, note])
    except TransactionRefused:
        return False
    return True


def claim_once_more(campaign: Campaign, message: Message, before: Message) -> Put:
    """Return the claim of a message that is due, as long as nothing is heard of its first try."""
    first = before.first_claimed_at or before.claimed_at
    message = replace(message, resend=Resend.DONE, first_claimed_at=first)
    row = rows.message_row(campaign.campaign_id, message, campaign.kept_until)
    values = {"due": Resend.DUE.value, "unknown": MessageStatus.UNKNOWN.value}
    return Put(row, condition="#resend = :due AND #status = :unknown", values=values)


def leave_due(table: Table, campaign_id: str, message: Message, row: Row) -> None:
    """Let a message be due again whose second claim is given up. row: the message's, which may be of another claim."""
    if row.get("resend") == Resend.DONE:
        with suppress(ConditionFailed):  # something came of it meanwhile
            table.update(_due(campaign_id, message))


def refuse_resend(table: Table, campaign_id: str, message: Message, round_no: int) -> None:
    """Let a message that was due wait for evidence of its first try. round_no: that found that it may not go."""
    values = {"due": Resend.DUE.value, "refused": Resend.REFUSED.value, "round": round_no}
    key = keys.message(campaign_id, message.batch_id, message.lead_no)
    with suppress(ConditionFailed):  # another try of the round was faster
        table.update(Update(key, "SET #resend = :refused, #round = :round", values, condition="#resend = :due"))


def _due(campaign_id: str, message: Message) -> Update:
    key = keys.message(campaign_id, message.batch_id, message.lead_no)
    values = {**claimed_by(message), **to_unknown(), "due": Resend.DUE.value}
    return Update(key, "SET #status = :unknown, #rank = :rank, #resend = :due", values, condition=BARE_CLAIM)
