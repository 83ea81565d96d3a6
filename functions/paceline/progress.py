"""How a campaign stands: counts, what holds it, since when, until when; from rows that the workflow writes anyway."""

from __future__ import annotations

from collections import Counter

from paceline.batches import batch_summaries
from paceline.campaigns import get_plan
from paceline.models import Campaign, JsonObject
from paceline.reporting import lost_to
from paceline.table import Row, Table


def describe_campaign(table: Table, campaign: Campaign) -> JsonObject:
    """Return the campaign for its customer. messages: by status, as of each batch's last step."""
    summaries = batch_summaries(table, campaign.campaign_id)
    messages: Counter[str] = Counter()
    for summary in summaries:
        messages.update(summary.get("messages", {}))
    shown = campaign.model_dump(mode="json", by_alias=True, exclude={"leads_key", "execution_arn"})
    if plan := get_plan(table, campaign.campaign_id):
        chosen = {"leads", "parts", "batches", "warnings", "rejected_reasons", "phone_column"}
        shown["plan"] = plan.model_dump(mode="json", by_alias=True, include=chosen)
    return shown | {"messages": dict(messages), "held_by": held_by(summaries), "lost_to": lost_to(summaries)}


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
