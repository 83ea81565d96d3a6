"""The customers' routes for looking at their campaigns: list, one, its report."""

from __future__ import annotations

import json
from typing import Annotated

from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Query

from api.answers.campaigns import CampaignAnswer, CampaignsAnswer, ReportAnswer
from api.caller import AccountAsked, After, CampaignPath, PageSize, account_asked, campaign_asked, services
from api.document import documented
from paceline.campaigns import get_plan
from paceline.errors import ObjectNotFound, ReportNotReady, RequestInvalid
from paceline.listing import list_campaigns
from paceline.models import JsonObject
from paceline.outlook import Outlook
from paceline.progress import show_campaign
from paceline.reporting import report_prefix
from paceline.retention import no_longer_kept

router = Router()  # type: ignore[no-untyped-call]

DOWNLOAD_SECONDS = 3600

_LISTED = {"campaign_id", "account_id", "name", "status", "created_at", "start_at", "send_by"}


@documented(router, "GET", "/v1/campaigns", CampaignsAnswer)
def list_own_campaigns(account_id: AccountAsked = None, limit: PageSize = 50, after: After = None) -> JsonObject:
    """Return the account's campaigns, the newest first, a page at a time."""
    owner = account_asked(router.current_event.raw_event, account_id)
    page = list_campaigns(services.table, owner, limit, after)
    return {"campaigns": [one.model_dump(mode="json", include=_LISTED) for one in page.items], "next": page.next}


@documented(router, "GET", "/v1/campaigns/<campaign_id>", CampaignAnswer, 404)
def show(campaign_id: CampaignPath) -> JsonObject:
    """Return a campaign: counts, what holds it, since when, until when, what that has cost, and when it ends."""
    outlook = Outlook(services.table, services.store, services.clock.now())
    return show_campaign(outlook, campaign_asked(router.current_event.raw_event, campaign_id))


ReportVersion = Annotated[int | None, Query(ge=1, le=999, description="A version; the last one without it.")]


@documented(router, "GET", "/v1/campaigns/<campaign_id>/report", ReportAnswer, 404, 409)
def report(campaign_id: CampaignPath, version: ReportVersion = None) -> JsonObject:
    """Return the outcome report, the last version or the one asked for, with addresses of its files for an hour."""
    campaign = campaign_asked(router.current_event.raw_event, campaign_id)
    asked = version or max(campaign.report_version, 1)
    if 1 <= campaign.report_version < asked:
        told = f"There is no version {asked}: the last one is {campaign.report_version}."
        raise RequestInvalid(told, field="version")
    prefix = report_prefix(campaign.campaign_id, asked)
    try:
        built: JsonObject = json.loads(services.store.get(f"{prefix}report.json"))
    except ObjectNotFound:
        if campaign.report_version:
            raise no_longer_kept(campaign, "reports") from None
        raise ReportNotReady(f"The campaign is {campaign.status}; its report comes with its end.") from None
    names = ["report.json", "report.html", "outcomes.csv", "timeline.csv"]
    names += ["changes.csv"] if asked > 1 else []
    names += ["differences.csv"] if built["provider_differences"] else []
    keys = {name: f"{prefix}{name}" for name in names}
    if plan := get_plan(services.table, campaign.campaign_id):
        keys["rejects.csv"] = plan.rejects_key
    return built | {"files": {name: services.store.presigned_get(key, DOWNLOAD_SECONDS) for name, key in keys.items()}}
