"""A campaign as the console's list has it: a word, how far it is, what holds it, when it ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from console.operator.campaign_words import MOVING, Progress, cause_of, no_finish, progress_of, standing
from paceline.campaigns import OVER
from paceline.status import MessageStatus

TONES = {
    "running": "accent",
    "planning": "accent",
    "scheduled": "accent",
    "waiting for receipts": "accent",
    "held": "warn",
    "paused": "warn",
    "finished": "good",
    "failed": "bad",
}
_ENDED_BY = {
    "paused": "until it is resumed",
    "credits": "until credits are added",
    "account_not_active": "until the account is active and approved",
    "route_disabled": "until the route is enabled",
    "provider_misconfigured": "until the sender or the account is put right",
}
NEEDS_EYES = ("held", "paused")


@dataclass(frozen=True, slots=True)
class Hold:
    """What holds a campaign, or only bounds it (is_moving). since, until: as the API has them.

    ended_by: what ends it where there is no `until`.
    """

    cause: str
    route: str
    since: str | None
    until: str | None
    is_moving: bool
    ended_by: str


@dataclass(frozen=True, slots=True)
class Row:
    """word: how it stands. is_known: whether more than the list's answer is known. no_finish: why there is no end."""

    campaign_id: str
    account: str
    name: str
    created_at: str
    word: str
    tone: str
    is_live: bool
    is_known: bool
    progress: Progress | None
    messages: dict[str, int]
    hold: Hold | None
    finish_at: str | None
    no_finish: str


def row_of(listed: Mapping[str, Any], detail: Mapping[str, Any] | None) -> Row:
    """Return the row. listed: the list's answer. detail: the campaign's own, where it was read."""
    one = detail or listed
    word = standing(one)
    return Row(
        campaign_id=one["campaign_id"],
        account=one["account_id"],
        name=one["name"],
        created_at=one["created_at"],
        word=word,
        tone=TONES.get(word, ""),
        is_live=one["status"] not in OVER or word not in (one["status"],),
        is_known=detail is not None,
        progress=progress_of(one),
        messages=in_order(one.get("messages", {})),
        hold=hold_of(one.get("binding")),
        finish_at=one.get("finish_at"),
        no_finish=no_finish(one),
    )


def hold_of(binding: Mapping[str, Any] | None) -> Hold | None:
    """Return what binds a campaign, in words; None: nothing does."""
    if not binding:
        return None
    is_moving = binding["cause"] in MOVING
    since, until = binding.get("since"), binding.get("until")
    ended_by = _ENDED_BY.get(binding["cause"], "until its cause ends")
    return Hold(cause_of(binding), binding.get("route") or "", since, until, is_moving, ended_by)


def in_order(messages: Mapping[str, int]) -> dict[str, int]:
    """Return messages by status, in the order of a message's life."""
    return {status.value: messages[status] for status in MessageStatus if messages.get(status)}
