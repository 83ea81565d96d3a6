"""Rows of the table to models and back."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from paceline import keys
from paceline.audit import STAMPS
from paceline.models import Account, Campaign, Message, Route
from paceline.moments import iso
from paceline.retention import expiry
from paceline.status import FINAL, MessageStatus, Resend
from paceline.table import Row

# The order in which statuses override each other. Delivered is proof and beats every other word; skipped can be
# followed by nothing.
_ORDER = {
    MessageStatus.CLAIMED: 0,
    MessageStatus.UNKNOWN: 1,
    MessageStatus.SENT: 2,
    MessageStatus.UNCONFIRMED: 3,
    MessageStatus.FAILED: 4,
    MessageStatus.UNDELIVERED: 5,
    MessageStatus.DELIVERED: 6,
    MessageStatus.SKIPPED: 9,
}

# What sends and operators note in a route's row beside the route.
_NOTES = ("throttled_until", "caps_lowered_at", "misconfigured_until", "trouble")


# A message's moments.
_TIMES = ("slot", "claimed_at", "sent_at", "answered_at", "final_at", "first_claimed_at")

# Causes that say less than any other of the same status.
_VAGUE = {"", "unknown_error", "no_evidence_of_acceptance"}


def rank_of(status: MessageStatus, cause: str = "", provider_message_id: str = "") -> str:
    """Return the rank of what a message's row says: text whose order is total over everything that a receipt can say.

    A row's rank only rises, so any order of the same receipts ends in the same row: of two receipts with one status
    the one with the plainer cause wins, then the alphabet.
    """
    return f"{_ORDER[status]}{int(cause not in _VAGUE)}{cause}#{provider_message_id}"


# Below it are the ranks of everything that is not final.
FIRST_FINAL_RANK = str(min(_ORDER[status] for status in FINAL))


def key_of(row: Row) -> keys.Key:
    return row["pk"], row["sk"]


def _row(key: keys.Key, values: dict[str, Any]) -> Row:
    return {"pk": key[0], "sk": key[1], **{name: value for name, value in values.items() if value is not None}}


def _values(row: Row, *dropped: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("pk", "sk", *dropped)}


def account_row(account: Account) -> Row:
    return _row(keys.account(account.account_id), account.model_dump(mode="json"))


def to_account(row: Row) -> Account:
    return Account.model_validate(_values(row, *STAMPS))


def route_row(route: Route) -> Row:
    return _row(keys.route(route.name), route.model_dump(mode="json"))


def to_route(row: Row) -> Route:
    """Return the route without what sends and operators note beside it."""
    return Route.model_validate(_values(row, *_NOTES, *STAMPS))


def campaign_row(campaign: Campaign) -> Row:
    return _row(keys.campaign(campaign.campaign_id), campaign.model_dump(mode="json", by_alias=True))


def to_campaign(row: Row) -> Campaign:
    return Campaign.model_validate(_values(row))


def _moment(row: Row, name: str) -> datetime | None:
    return datetime.fromisoformat(row[name]) if name in row else None


def message_row(campaign_id: str, message: Message, kept_until: datetime | None) -> Row:
    """Return a new message's row. It holds neither the number nor the text: those stay in the batch's object.

    kept_until: the campaign's.
    """
    values = {
        "lead_no": message.lead_no,
        "batch_id": message.batch_id,
        "route": message.route,
        "round": message.round,
        "parts": message.parts,
        "status": message.status.value,
        "rank": rank_of(message.status, message.cause, message.provider_message_id),
        "cause": message.cause or None,
        "resend": message.resend.value or None,
    }
    times = {name: getattr(message, name) for name in _TIMES}
    values |= {name: iso(moment) if moment else None for name, moment in times.items()}
    return _row(keys.message(campaign_id, message.batch_id, message.lead_no), values | expiry(kept_until))


def to_message(row: Row) -> Message:
    return Message(
        lead_no=row["lead_no"],
        batch_id=row["batch_id"],
        route=row["route"],
        round=row["round"],
        parts=row["parts"],
        status=MessageStatus(row["status"]),
        cause=row.get("cause", ""),
        provider_message_id=row.get("provider_message_id", ""),
        resend=Resend(row.get("resend", "")),
        **{name: _moment(row, name) for name in _TIMES},
    )
