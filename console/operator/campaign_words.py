"""How a campaign stands, in words: one home for the command and the web console. `one`: as GET of it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paceline.report.words import counted, label
from paceline.status import FINAL, CampaignStatus, Cause, MessageStatus

NOT_SENT = {MessageStatus.CLAIMED, MessageStatus.SKIPPED}
# These bind a campaign that moves on.
MOVING = {"start_at", Cause.PACE, Cause.PROVIDER_THROTTLED}
LIVE = {CampaignStatus.RUNNING, CampaignStatus.PAUSED}
QUESTIONS = {
    "pause": "Pause it? What is not sent waits for a resume.",
    "resume": "Resume it? It sends at once.",
    "cancel": "Cancel it? For good: what is not sent is skipped, and the report follows.",
}
_MAY = {"running": ("pause", "cancel"), "paused": ("resume", "cancel")}


@dataclass(frozen=True, slots=True)
class Progress:
    """Leads, as of each batch's last step. accepted: what the plan will send to. sent: handed to a provider."""

    sent: int
    final: int
    accepted: int


def progress_of(one: Mapping[str, Any]) -> Progress | None:
    """Return how far its leads are; None without a plan."""
    if not one.get("plan"):
        return None
    return Progress(sent_of(one["messages"]), final_of(one["messages"]), one["plan"]["leads"]["accepted"])


def sent_of(messages: Mapping[str, int]) -> int:
    """Return how many were handed to a provider, of messages by status."""
    return sum(count for status, count in messages.items() if status not in NOT_SENT)


def final_of(messages: Mapping[str, int]) -> int:
    """Return how many have an outcome."""
    return sum(count for status, count in messages.items() if status in FINAL)


def progress(one: Mapping[str, Any]) -> str:
    """Return how far its leads are: "960 sent, 917 final, of 970"; "-" without a plan."""
    found = progress_of(one)
    return f"{found.sent:,} sent, {found.final:,} final, of {found.accepted:,}" if found else "-"


def cause_of(hold: Mapping[str, Any]) -> str:
    """Return what holds, with its evidence: "Daily cap of the route (2,000 of 2,000 used)"."""
    cause = "Waits for its start time" if hold["cause"] == "start_at" else label(hold["cause"])
    return cause + _evidence(hold)


def no_finish(one: Mapping[str, Any]) -> str:
    """Return why nobody can tell when its last message goes; "" where that is known, or over."""
    reason = one.get("finish_reason") or {}
    if one.get("finish_at") or not reason or reason["cause"] == one["status"]:
        return ""
    return str(reason.get("detail") or label(reason["cause"]))


def standing(one: Mapping[str, Any]) -> str:
    """Return in a word or two how it stands: its status and, while it is running, at what."""
    status = one["status"]
    if status == CampaignStatus.CANCELLED and not one.get("report_version", 1):
        return "cancelled, report to come"
    if status != CampaignStatus.RUNNING or "messages" not in one:
        return str(status)
    if one.get("headline"):
        return "waiting for receipts"
    if not one.get("plan"):
        return "planning"
    cause = (one.get("binding") or {}).get("cause")
    if cause == "start_at":
        return "scheduled"
    return "held" if cause and cause not in MOVING else "running"


def may(status: str) -> tuple[str, ...]:
    """Return what an operator can do to a campaign of this status."""
    return _MAY.get(status, ())


def told(changed: Mapping[str, Any]) -> str:
    """Return in a sentence or two what became of a campaign that was changed."""
    bound = changed.get("pause_bound_seconds")
    more = f" Nothing is handed to the provider later than {bound} s after the pause." if bound is not None else ""
    return f"{changed['campaign_id']} is {changed['status']}.{more}"


def batches_of(hold: Mapping[str, Any]) -> str:
    """Return how many batches a hold has: "3 batches"."""
    return counted(hold["batches"], "batch", "batches")


def _evidence(hold: Mapping[str, Any]) -> str:
    used, limit = hold.get("used"), hold.get("limit")
    if limit is None:
        return ""
    if used is None:
        return f" ({limit:,} a minute)" if hold["cause"] == Cause.PACE else ""
    if hold["cause"] == Cause.CREDITS:  # the refusal tells what was asked for and what there was
        return f" ({used:,} needed, {limit:,} available)"
    return f" ({used:,} of {limit:,} used)"
