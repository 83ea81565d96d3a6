"""The end of a campaign: its rows become the report, its files and the event that says so."""

from __future__ import annotations

import io
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import TypeAdapter

from paceline import keys
from paceline.accounts import get_account
from paceline.batches import batch_summaries, read_all_leads, read_ledger
from paceline.campaigns import OVER, get_campaign, get_plan, set_status
from paceline.contracts import check
from paceline.errors import ObjectNotFound, RequestInvalid
from paceline.late import notes_for, take_up
from paceline.leads.rejects import read_rejects
from paceline.models import Batch, Campaign, ExcludedLead, JsonObject, Lead, LeadCounts, Message, Model, Plan
from paceline.ports import Events, ObjectStore
from paceline.report import (
    DIFFERENCE_COLUMNS,
    OUTCOME_COLUMNS,
    TIMELINE_COLUMNS,
    Credits,
    Report,
    build_report,
    difference_rows,
    outcome_rows,
    render_page,
    timeline_rows,
    write_csv,
)
from paceline.report.model import ReportStatus
from paceline.revising import CHANGE_COLUMNS, Changed, begin_report, change_rows, changed_since, difference, settle_late
from paceline.routes import all_routes
from paceline.status import CampaignStatus
from paceline.table import ConditionFailed, Row, Table, Update

EVENT = "Campaign Finished"
_BATCHES = TypeAdapter(list[Batch])


class ReportBuilt(Model):
    """The answer of `Build Report`: where it is, and whether its sums close. is_new: whether it says anything new."""

    campaign_id: str
    status: ReportStatus
    reason: str
    balanced: bool
    report_prefix: str
    version: int = 1
    is_new: bool = True


class Published(Model):
    """The answer of `Publish Outcome`. notify: whether the account has a webhook to be called."""

    published: bool
    notify: bool


@dataclass(slots=True)
class _Collected:
    """Leads and messages as they are read, batch by batch; the lists that the tables need."""

    pairs: list[tuple[Lead, Message | None]] = field(default_factory=list)

    @property
    def messages(self) -> Iterator[Message]:
        return (message for _, message in self.pairs if message is not None)


def build_and_store(
    table: Table,
    store: ObjectStore,
    campaign_id: str,
    now: datetime,
    failure: JsonObject | None = None,
    revision: int | None = None,
) -> ReportBuilt:
    """Build the next version of the report from the ledger and write its files, report.json the last of them.

    failure: what ended the campaign. revision: so many reports were begun when a late receipt asked for this one; where
    nothing is new since the last version, none is written.
    """
    begin_report(table, campaign_id, (revision or 0) + 1)
    campaign = get_campaign(table, campaign_id)
    version = campaign.report_version + 1
    plan = get_plan(table, campaign_id) or Plan(leads=LeadCounts())
    notes = list(notes_for(table, campaign_id, version))
    collected = _collect(table, store, campaign_id, plan)
    settle_late(table, campaign, notes, collected.messages, batch_summaries(table, campaign_id), now)
    summaries = batch_summaries(table, campaign_id)
    before = _report(store, campaign_id, version - 1) if version > 1 else None
    status, reason = (before.status, before.reason) if before else _status(campaign, failure)
    report = build_report(
        campaign,
        plan,
        collected.messages,
        _credits(summaries),
        lost_to(summaries),
        version=version,
        now=now,
        status=status,
        reason=reason,
        caps={route.name: route.parts_per_minute for route in all_routes(table)},
    )
    differences = [one for summary in summaries for one in summary.get("differences", [])]
    report = report.model_copy(update={"provider_differences": len(differences)})
    changed = changed_since(notes, collected.messages) if before else []
    if before:  # it ended when it ended: late words change what is known of that
        told = difference(report, before, changed, summaries)
        report = report.model_copy(update={"finished_at": before.finished_at, "difference": told})
    prefix = report_prefix(campaign_id, version)
    if changed or not before:
        _write(store, prefix, report, collected, _excluded(store, plan), changed, differences)
    for note in notes:
        take_up(table, campaign_id, note, version)
    return ReportBuilt(
        campaign_id=campaign_id,
        status=status,
        reason=reason,
        balanced=report.balanced,
        report_prefix=prefix,
        version=version,
        is_new=bool(changed) or not before,
    )


def report_prefix(campaign_id: str, version: int) -> str:
    """Return where a version of the report has its files."""
    return f"campaigns/{campaign_id}/report/v{version:03d}/"


def _report(store: ObjectStore, campaign_id: str, version: int) -> Report:
    return Report.model_validate_json(store.get(f"{report_prefix(campaign_id, version)}report.json"))


def publish_outcome(table: Table, store: ObjectStore, events: Events, built: ReportBuilt) -> Published:
    """Move the campaign to its last status and publish the event, checked against its contract first."""
    detail, _ = finished_detail(store, built.report_prefix)
    if built.status != "cancelled":
        # A cancel that came after the report was built keeps the campaign cancelled.
        _set_last_status(table, built)
    _note_version(table, built)
    check("events/campaign-finished", detail)
    events.publish(EVENT, detail)
    account = get_account(table, detail["account_id"])
    return Published(published=True, notify=account.webhook_url is not None)


def finished_detail(store: ObjectStore, prefix: str) -> tuple[JsonObject, datetime]:
    """Return what the event says of a report, and when the report was made."""
    report = json.loads(store.get(f"{prefix}report.json"))
    chosen = ("campaign_id", "account_id", "status", "reason", "version", "balanced", "headline")
    detail = {name: report[name] for name in (*chosen, "leads", "outcomes", "credits", "difference")}
    detail |= {"report_bucket": store.bucket, "report_prefix": prefix}
    return detail, datetime.fromisoformat(report["generated_at"])


def _note_version(table: Table, built: ReportBuilt) -> None:
    """Keep which version is the last: the API shows that one, and the next is made after it."""
    condition = "attribute_not_exists(#report_version) OR #report_version < :version"
    values = {"version": built.version}
    key = keys.campaign(built.campaign_id)
    with suppress(ConditionFailed):
        table.update(Update(key, "SET #report_version = :version", values, condition=condition))


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
    batches = _BATCHES.validate_json(store.get(plan.batches_manifest_key))
    for batch, leads in read_all_leads(store, batches):
        messages = read_ledger(table, campaign_id, batch.batch_id).messages
        # Of a lead that cannot be read any more its message tells all that there is.
        known = {lead.lead_no for lead in leads}
        unread = [Lead(lead_no, "", "", one.parts) for lead_no, one in messages.items() if lead_no not in known]
        collected.pairs += [(lead, messages.get(lead.lead_no)) for lead in (*leads, *unread)]
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
    store: ObjectStore,
    prefix: str,
    report: Report,
    collected: _Collected,
    excluded: list[ExcludedLead],
    changed: list[Changed],
    differences: list[JsonObject],
) -> None:
    outcomes = b"".join(write_csv(outcome_rows(collected.pairs, excluded), OUTCOME_COLUMNS))
    timeline = b"".join(write_csv(timeline_rows(collected.messages), TIMELINE_COLUMNS))
    if differences:
        listed = b"".join(write_csv(difference_rows(differences), DIFFERENCE_COLUMNS))
        store.put(f"{prefix}differences.csv", listed, "text/csv; charset=utf-8")
    if report.version > 1:
        changes = b"".join(write_csv(change_rows(changed), CHANGE_COLUMNS))
        store.put(f"{prefix}changes.csv", changes, "text/csv; charset=utf-8")
    store.put(f"{prefix}outcomes.csv", outcomes, "text/csv; charset=utf-8")
    store.put(f"{prefix}timeline.csv", timeline, "text/csv; charset=utf-8")
    store.put(f"{prefix}report.html", render_page(report).encode(), "text/html; charset=utf-8")
    # Last: whoever finds report.json finds the rest.
    store.put(f"{prefix}report.json", json.dumps(report.model_dump(mode="json", by_alias=True), indent=1).encode())
