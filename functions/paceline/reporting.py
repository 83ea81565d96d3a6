"""The end of a campaign: its rows become the report, its files and the event that says so."""

from __future__ import annotations

import io
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import TypeAdapter

from paceline.batches import batch_summaries, read_leads, read_ledger
from paceline.campaigns import OVER, get_campaign, get_plan, set_status
from paceline.contracts import check
from paceline.errors import ObjectNotFound, RequestInvalid
from paceline.leads.rejects import read_rejects
from paceline.models import Batch, Campaign, ExcludedLead, JsonObject, Lead, LeadCounts, Message, Model, Plan
from paceline.ports import Events, ObjectStore
from paceline.report import (
    OUTCOME_COLUMNS,
    TIMELINE_COLUMNS,
    Credits,
    Report,
    build_report,
    outcome_rows,
    render_page,
    timeline_rows,
    write_csv,
)
from paceline.report.model import ReportStatus
from paceline.routes import all_routes
from paceline.status import CampaignStatus
from paceline.table import Row, Table

EVENT = "Campaign Finished"
_BATCHES = TypeAdapter(list[Batch])


class ReportBuilt(Model):
    """The answer of `Build Report`: where it is, and whether its sums close."""

    campaign_id: str
    status: ReportStatus
    reason: str
    balanced: bool
    report_prefix: str


class Published(Model):
    """The answer of `Publish Outcome`."""

    published: bool


@dataclass(slots=True)
class _Collected:
    """Leads and messages as they are read, batch by batch; the lists that the tables need."""

    pairs: list[tuple[Lead, Message | None]] = field(default_factory=list)

    @property
    def messages(self) -> Iterator[Message]:
        return (message for _, message in self.pairs if message is not None)


def build_and_store(
    table: Table, store: ObjectStore, campaign_id: str, now: datetime, failure: JsonObject | None = None
) -> ReportBuilt:
    """Build the report from the ledger and write report.json, report.html, outcomes.csv and timeline.csv."""
    campaign = get_campaign(table, campaign_id)
    plan = get_plan(table, campaign_id) or Plan(leads=LeadCounts())
    collected = _collect(table, store, campaign_id, plan)
    summaries = batch_summaries(table, campaign_id)
    status, reason = _status(campaign, failure)
    report = build_report(
        campaign,
        plan,
        collected.messages,
        _credits(summaries),
        lost_to(summaries),
        version=1,
        now=now,
        status=status,
        reason=reason,
        caps={route.name: route.parts_per_minute for route in all_routes(table)},
    )
    prefix = f"campaigns/{campaign_id}/report/v{report.version:03d}/"
    _write(store, prefix, report, collected, _excluded(store, plan))
    return ReportBuilt(
        campaign_id=campaign_id, status=status, reason=reason, balanced=report.balanced, report_prefix=prefix
    )


def publish_outcome(table: Table, store: ObjectStore, events: Events, built: ReportBuilt) -> Published:
    """Move the campaign to its last status and publish the event, checked against its contract first."""
    report = json.loads(store.get(f"{built.report_prefix}report.json"))
    if built.status != "cancelled":
        # A cancel that came after the report was built keeps the campaign cancelled.
        _set_last_status(table, built)
    chosen = ("campaign_id", "account_id", "status", "reason", "version", "balanced", "headline")
    detail = {name: report[name] for name in (*chosen, "leads", "outcomes", "credits")}
    detail |= {"report_bucket": store.bucket, "report_prefix": built.report_prefix}
    check("events/campaign-finished", detail)
    events.publish(EVENT, detail)
    return Published(published=True)


def _set_last_status(table: Table, built: ReportBuilt) -> None:
    allowed = [status for status in CampaignStatus if status not in OVER]
    try:
        set_status(table, built.campaign_id, CampaignStatus(built.status), allowed)
    except RequestInvalid:
        return


def lost_to(summaries: Iterable[Row]) -> dict[str, float]:
    """Return for each cause the seconds in which it held at least one batch: the union of its holds, not their sum."""
    spans: dict[str, list[tuple[datetime, datetime]]] = defaultdict(list)
    for summary in summaries:
        for held in summary.get("held", []):
            span = (datetime.fromisoformat(held["since"]), datetime.fromisoformat(held["until"]))
            spans[held["cause"]].append(span)
    return {cause: round(_union_seconds(sorted(found)), 3) for cause, found in sorted(spans.items())}


def _union_seconds(spans: list[tuple[datetime, datetime]]) -> float:
    total, end = 0.0, None
    for since, until in spans:
        if end is None or since > end:
            total += (until - since).total_seconds()
        elif until > end:
            total += (until - end).total_seconds()
        end = until if end is None else max(end, until)
    return total


def _collect(table: Table, store: ObjectStore, campaign_id: str, plan: Plan) -> _Collected:
    collected = _Collected()
    if not plan.batches_manifest_key:
        return collected
    for batch in _BATCHES.validate_json(store.get(plan.batches_manifest_key)):
        messages = read_ledger(table, campaign_id, batch.batch_id).messages
        collected.pairs += [(lead, messages.get(lead.lead_no)) for lead in read_leads(store, batch)]
    return collected


def _excluded(store: ObjectStore, plan: Plan) -> list[ExcludedLead]:
    if not plan.rejects_key:
        return []
    try:
        return list(read_rejects(io.BytesIO(store.get(plan.rejects_key))))
    except ObjectNotFound:
        return []


def _credits(summaries: Iterable[Row]) -> Credits:
    sums = dict.fromkeys(("reserved", "consumed", "released"), 0)
    for summary in summaries:
        for name in sums:
            sums[name] += summary.get(name, 0)
    return Credits(**sums)


def _status(campaign: Campaign, failure: JsonObject | None) -> tuple[ReportStatus, str]:
    if failure:
        return "failed", f"{failure.get('Error', 'Unknown')}: {_cause_text(str(failure.get('Cause', '')))}"
    if campaign.status is CampaignStatus.CANCELLED:
        return "cancelled", "cancelled on request"
    return "finished", ""


def _cause_text(cause: str) -> str:
    """Return what a person can read of a failure's cause: a function's own message, without its stack."""
    try:
        return str(json.loads(cause)["errorMessage"])
    except (ValueError, KeyError, TypeError):
        return cause[:500]


def _write(
    store: ObjectStore, prefix: str, report: Report, collected: _Collected, excluded: list[ExcludedLead]
) -> None:
    outcomes = b"".join(write_csv(outcome_rows(collected.pairs, excluded), OUTCOME_COLUMNS))
    timeline = b"".join(write_csv(timeline_rows(collected.messages), TIMELINE_COLUMNS))
    store.put(f"{prefix}outcomes.csv", outcomes, "text/csv; charset=utf-8")
    store.put(f"{prefix}timeline.csv", timeline, "text/csv; charset=utf-8")
    store.put(f"{prefix}report.html", render_page(report).encode(), "text/html; charset=utf-8")
    # Last: whoever finds report.json finds the rest.
    store.put(f"{prefix}report.json", json.dumps(report.model_dump(mode="json", by_alias=True), indent=1).encode())
