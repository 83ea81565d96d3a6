"""The life of a campaign: created, planned, started, paused, held, sent, reconciled, reported."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from paceline.batches import batch_summaries, read_ledger
from paceline.campaigns import get_campaign, get_plan
from paceline.errors import ObjectNotFound
from paceline.explain.finding import planned_batches
from paceline.explain.steps import Explanation, Step, in_order, moment
from paceline.models import Campaign, JsonObject, Message, Plan
from paceline.moments import iso
from paceline.ports import ObjectStore
from paceline.report.pauses import handed_over_at
from paceline.report.words import counted, label
from paceline.table import Row, Table

# More looks or versions than these no campaign has.
_MOST = 1000


def explain_campaign(table: Table, store: ObjectStore, campaign_id: str) -> Explanation:
    """Return the life of a campaign. It reads every message. Raises: CampaignNotFound."""
    campaign, plan = get_campaign(table, campaign_id), get_plan(table, campaign_id)
    summaries = batch_summaries(table, campaign_id)
    messages = list(_messages(table, store, campaign_id, plan))
    steps = [*_pauses(campaign), *_holds(summaries), *_sending(messages), *_settling(summaries)]
    return Explanation(
        f"Campaign {campaign_id} of {campaign.account_id} is {campaign.status.value}.",
        {
            "campaign_id": campaign_id,
            "account_id": campaign.account_id,
            "status": campaign.status.value,
            "messages": dict(Counter(message.status.value for message in messages)),
        },
        (*in_order(_beginning(campaign, plan), steps), *_looks(store, campaign_id), *_reports(store, campaign_id)),
        tuple(_not_told(campaign, plan, summaries)),
    )


def _messages(table: Table, store: ObjectStore, campaign_id: str, plan: Plan | None) -> Iterator[Message]:
    for batch in planned_batches(store, plan) if plan else []:
        yield from read_ledger(table, campaign_id, batch.batch_id).messages.values()


def _beginning(campaign: Campaign, plan: Plan | None) -> Iterator[Step]:
    yield Step(campaign.created_at, f"created as {campaign.name!r}")
    if plan is not None:
        leads = plan.leads
        routes = ", ".join(sorted({stream.route for stream in plan.streams})) or "none"
        text = (
            f"planned: {leads.total:,} leads = {leads.accepted:,} accepted + {leads.rejected:,} rejected + "
            f"{leads.duplicates:,} duplicates + {leads.opted_out:,} opted out; {counted(plan.parts, 'part')} in "
            f"{counted(plan.batches, 'batch', 'batches')} of {counted(len(plan.streams), 'stream')} by {routes}"
        )
        yield Step(None, text, {"leads": leads.model_dump(by_alias=True), "warnings": list(plan.warnings)})
    if campaign.start_at:
        by = f"; what is left at {iso(campaign.send_by)} is skipped" if campaign.send_by else ""
        yield Step(campaign.start_at, f"to start{by}", {"execution_arn": campaign.execution_arn})


def _pauses(campaign: Campaign) -> Iterator[Step]:
    for pause in campaign.pauses:
        yield Step(pause.paused_at, f"paused by key {pause.paused_by or 'unknown'}", {"by": pause.paused_by})
        if pause.resumed_at:
            yield Step(pause.resumed_at, f"resumed by key {pause.resumed_by or 'unknown'}", {"by": pause.resumed_by})


def _holds(summaries: Sequence[Row]) -> Iterator[Step]:
    """Yield each cause on each route with the times at which it held batches; a time that another continues is one."""
    spans: dict[tuple[str, str], list[tuple[datetime, datetime | None]]] = {}
    for row in summaries:
        for held in row.get("held", []):
            spans.setdefault((held["cause"], row["route"]), []).append(
                (datetime.fromisoformat(held["since"]), datetime.fromisoformat(held["until"]))
            )
        if hold := row.get("hold"):
            spans.setdefault((hold["cause"], row["route"]), []).append((datetime.fromisoformat(hold["since"]), None))
    for (cause, route), found in spans.items():
        for since, until, batches in _joined(found):
            ends = f"until {iso(until)}" if until else "and still does"
            text = f"{label(cause)} held {counted(batches, 'batch', 'batches')} on {route} {ends}"
            facts = {"cause": cause, "route": route, "until": iso(until) if until else None, "batches": batches}
            yield Step(since, text, facts)


def _joined(
    spans: list[tuple[datetime, datetime | None]],
) -> Iterator[tuple[datetime, datetime | None, int]]:
    """Yield the union of spans, each with how many are in it. None: no end yet."""
    current: tuple[datetime, datetime | None, int] | None = None
    for since, until in sorted(spans, key=lambda span: span[0]):
        if current is None:
            current = (since, until, 1)
        elif current[1] is None or since <= current[1]:
            end = None if current[1] is None or until is None else max(current[1], until)
            current = (current[0], end, current[2] + 1)
        else:
            yield current
            current = (since, until, 1)
    if current is not None:
        yield current


def _sending(messages: Sequence[Message]) -> Iterator[Step]:
    left = sorted(at for message in messages if (at := handed_over_at(message)) is not None)
    if left:
        yield Step(left[0], "the first message was handed to a provider")
        yield Step(left[-1], f"the last of {counted(len(left), 'message')} so far was handed to a provider")


def _settling(summaries: Sequence[Row]) -> Iterator[Step]:
    settled = sorted(at for row in summaries if (at := moment(row, "settled_at")) is not None)
    if settled:
        consumed = sum(row["consumed"] for row in summaries if "settled_at" in row)
        text = f"the last of {counted(len(settled), 'batch', 'batches')} was settled: {consumed:,} credits consumed"
        yield Step(settled[-1], text, {"settled": len(settled), "consumed": consumed})


def _looks(store: ObjectStore, campaign_id: str) -> Iterator[Step]:
    """Yield reconciliation's looks, by the list of open batches that each wrote."""
    for look in range(_MOST):
        try:
            still_open = json.loads(store.get(f"campaigns/{campaign_id}/open/{look:03d}.json"))
        except ObjectNotFound:
            return
        text = f"reconciliation, look {look}: {counted(len(still_open), 'batch', 'batches')} open"
        yield Step(None, text, {"look": look, "open_batches": len(still_open)})


def _reports(store: ObjectStore, campaign_id: str) -> Iterator[Step]:
    for version in range(1, _MOST):
        try:
            report: JsonObject = json.loads(store.get(f"campaigns/{campaign_id}/report/v{version:03d}/report.json"))
        except ObjectNotFound:
            return
        text = f"report, version {version}: {report['headline']}"
        yield Step(moment(report, "generated_at"), text, {"version": version, "balanced": report["balanced"]})


def _not_told(campaign: Campaign, plan: Plan | None, summaries: Sequence[Row]) -> Iterator[str]:
    yield "who created and who started it: the campaign's row keeps no key for these"
    if plan is not None:
        yield "when it was planned: the plan keeps no time"
    if not summaries and campaign.start_at:
        yield "what holds it: no batch has begun"
    if summaries:
        yield "when reconciliation looked: its lists keep no time of their own"
