"""How a campaign stands: counts, what holds it, since when, until when; from rows that the workflow writes anyway."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime

from paceline import keys
from paceline.batches import batch_summaries
from paceline.binding import binding_of, finish_of
from paceline.campaigns import OVER, get_plan
from paceline.looks import deadline
from paceline.minutes import by_minute, pace_of
from paceline.models import Campaign, JsonObject, Plan
from paceline.moments import iso
from paceline.outlook import Outlook
from paceline.report.words import counted
from paceline.reporting import lost_to
from paceline.status import FINAL, MessageStatus
from paceline.table import Row, Table
from paceline.webhooks.notifying import notifications_of

OPEN = [status.value for status in MessageStatus if status not in FINAL]


def describe_campaign(table: Table, campaign: Campaign) -> JsonObject:
    """Return the campaign for its customer. messages: by status, as of each batch's last step."""
    summaries = batch_summaries(table, campaign.campaign_id)
    return _described(campaign, get_plan(table, campaign.campaign_id), summaries) | {"lost_to": lost_to(summaries)}


def show_campaign(outlook: Outlook, campaign: Campaign) -> JsonObject:
    """Return the campaign with its outlook: the cause that binds now, what each has cost so far, when it ends.

    by_route, pace: as of each batch's last step too; what left in a round is known once the round is closed.
    finish_at: of its last message; None: finish_reason says why nobody can tell.
    """
    summaries = batch_summaries(outlook.table, campaign.campaign_id)
    plan = get_plan(outlook.table, campaign.campaign_id)
    shown = _described(campaign, plan, summaries)
    shown["lost_to"] = lost_to(until_now(summaries, outlook.now))
    shown["notifications"] = notifications_of(outlook.table, campaign.campaign_id)
    shown |= {"as_of": iso(outlook.now), "pace": pace_of(summaries)}
    shown["by_route"] = by_route(outlook.table, plan, summaries) if plan else []
    if plan is None or campaign.status in OVER:
        reason = {"cause": "not_planned" if plan is None else campaign.status.value}
        return shown | {"binding": None, "finish_at": None, "finish_reason": reason}
    left = outlook.remaining(campaign, plan, summaries)
    routes = {stream.route for stream in left.streams if stream.parts}
    told = outlook.forecast(left, outlook.beside(routes, campaign.campaign_id))
    binding = binding_of(outlook.table, left, told, summaries, outlook.now)
    return shown | {"binding": binding} | finish_of(campaign, told)


def _described(campaign: Campaign, plan: Plan | None, summaries: list[Row]) -> JsonObject:
    messages: Counter[str] = Counter()
    for summary in summaries:
        messages.update(_statuses(summary))
    shown = campaign.model_dump(mode="json", by_alias=True, exclude={"leads_key", "execution_arn"})
    if plan is not None:
        chosen = {"leads", "parts", "batches", "warnings", "rejected_reasons", "phone_column"}
        shown["plan"] = plan.model_dump(mode="json", by_alias=True, include=chosen)
    return shown | {
        "headline": _headline(campaign, messages),
        "messages": dict(messages),
        "held_by": held_by(summaries),
    }


def _statuses(summary: Row) -> Mapping[str, int]:
    """Return a batch's messages by status, as of its last step; one that reconciliation waits for counts as sent."""
    if "counted" not in summary or "final_at" in summary:
        return dict(summary.get("messages", {}))
    return Counter(summary["counted"]["messages"]) + Counter(sent=len(summary["open_leads"]))


def _headline(campaign: Campaign, messages: Mapping[str, int]) -> str:
    """Return the sentence for somebody who sees an empty queue and asks for the result; "" while there is no such."""
    if campaign.sending_ended_at is None or campaign.status in OVER:
        return ""
    until = deadline(campaign, campaign.sending_ended_at)
    phrases = (
        (messages.get("delivered", 0), "reached a handset", "reached handsets"),
        (messages.get("undelivered", 0) + messages.get("failed", 0), "failed", "failed"),
        (messages.get("skipped", 0), "was skipped on purpose", "were skipped on purpose"),
        (messages.get("unconfirmed", 0), "has no final receipt", "have no final receipt"),
        (sum(messages.get(name, 0) for name in OPEN), "is still open", "are still open"),
    )
    told = "; ".join(counted(n, one, many) for n, one, many in phrases if n)
    return f"The queue is empty; {told or 'nothing was sent'}. The report comes by {until:%d %b %Y, %H:%M} UTC."


def by_route(table: Table, plan: Plan, summaries: Iterable[Row]) -> list[JsonObject]:
    """Return for each route what the plan gives it, what became of that so far, and its cap now (None: it is gone)."""
    found: dict[str, JsonObject] = {}
    for stream in plan.streams:
        entry = found.setdefault(stream.route, _nothing_of(stream.route))
        entry["leads"] += stream.leads
        entry["parts"] += stream.parts
    for summary in summaries:
        entry = found.setdefault(summary["route"], _nothing_of(summary["route"]))
        entry["messages"].update(_statuses(summary))
        entry["held_batches"] += bool(summary.get("hold"))
        entry["parts_sent"] += sum(by_minute(summary).values())
    rows = table.get_many([keys.route(name) for name in found]) if found else []
    caps = {row["name"]: row["parts_per_minute"] for row in rows}
    return [e | {"messages": dict(e["messages"]), "per_minute": caps.get(name)} for name, e in sorted(found.items())]


def _nothing_of(route: str) -> JsonObject:
    return {"route": route, "leads": 0, "parts": 0, "messages": Counter(), "held_batches": 0, "parts_sent": 0}


def held_by(summaries: list[Row]) -> list[JsonObject]:
    """Return each cause that holds batches now, with the batches and leads it holds, the earliest since first."""
    found: dict[tuple[str, str], JsonObject] = {}
    for summary in summaries:
        hold = summary.get("hold")
        if not hold:
            continue
        entry = found.setdefault((hold["cause"], summary["route"]), {**hold, "route": summary["route"], "batches": 0})
        entry["batches"] += 1
        entry["since"] = min(entry["since"], hold["since"])
    return sorted(found.values(), key=lambda entry: str(entry["since"]))


def until_now(summaries: Iterable[Row], now: datetime) -> list[Row]:
    """Return the summaries with the holds that still go on among those that ended, as if they ended now."""
    return [_until_now(row, now) for row in summaries]


def _until_now(row: Row, now: datetime) -> Row:
    hold = row.get("hold")
    if not hold or datetime.fromisoformat(hold["since"]) > now:
        return row
    return {**row, "held": [*row.get("held", []), {**hold, "until": iso(now)}]}
