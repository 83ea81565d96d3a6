"""The customers' routes for their campaigns: list, create, look, upload, plan, report."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import datetime
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Query
from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field

from api.answers import CampaignAnswer, CampaignsAnswer, PlanAnswer, ReportAnswer, UploadAnswer
from api.caller import (
    AccountAsked,
    After,
    CampaignPath,
    IdempotencyKey,
    PageSize,
    account_asked,
    caller_of,
    campaign_asked,
    services,
    signature_of,
)
from api.document import documented
from paceline.accounts import get_account
from paceline.campaigns import get_plan
from paceline.creating import create_once
from paceline.errors import ObjectNotFound, ReportNotReady, RequestInvalid
from paceline.idempotency import Once, digest_of, find_answer
from paceline.leads.template import compile_template
from paceline.listing import list_campaigns
from paceline.models import AccountId, Campaign, CampaignId, JsonObject, Model, RouteName, SendingWindow, Weight
from paceline.outlook import Outlook
from paceline.planned import describe_plan
from paceline.progress import show_campaign
from paceline.reporting import report_prefix
from paceline.routes import get_route
from paceline.starting import dry_run_by_reason
from paceline.status import CampaignStatus

router = Router()  # type: ignore[no-untyped-call]

MAX_FILE_BYTES = 200 * 1024 * 1024
UPLOAD_SECONDS = 3600

_LISTED = {"campaign_id", "account_id", "name", "status", "created_at", "start_at", "send_by"}


def _spelled_as_moment(given: Any) -> Any:
    """Refuse what pydantic would take for a time too: seconds since 1970."""
    if isinstance(given, str) and re.match(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d", given, re.ASCII):
        return given
    raise ValueError("write it as RFC 3339 does, with its offset: 2026-09-02T09:00:00-04:00")


def _plausible(moment: datetime) -> datetime:
    if not 2020 <= moment.year <= 2100:
        raise ValueError("give a time between the years 2020 and 2100")
    return moment


Moment = Annotated[AwareDatetime, BeforeValidator(_spelled_as_moment), AfterValidator(_plausible)]


class CampaignPost(Model):
    """What a customer posts to create a campaign. account_id, and a weight above 1: only with an operator's key."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    message: Annotated[str, Field(min_length=1, max_length=1600)]
    file_name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")] = "leads.csv"
    campaign_id: CampaignId | None = None
    account_id: AccountId | None = None
    route: RouteName | None = None
    start_at: Moment | None = None
    send_by: Moment | None = None
    sending_window: SendingWindow = SendingWindow()
    max_messages_per_recipient_24h: Annotated[int, Field(strict=True, ge=1, le=1000)] | None = None
    weight: Weight = 1
    smart_punctuation: Literal["keep", "to_gsm7"] = "keep"
    receipt_deadline_hours: Annotated[int, Field(strict=True, ge=1, le=168)] = 72


@documented(router, "POST", "/v1/campaigns", CampaignAnswer)
def create(post: CampaignPost, idempotency_key: IdempotencyKey = None) -> JsonObject:
    """Create a campaign.

    The same Idempotency-Key with the same body returns the same answer; with another body it is refused.
    """
    event = router.current_event.raw_event
    account_id = account_asked(event, post.account_id)
    now = services.clock.now()
    once = None
    if idempotency_key is not None:
        once = Once(account_id, idempotency_key, digest_of("create", post.model_dump(mode="json")), now)
        if known := find_answer(services.table, once):
            return known
    _check(post, account_id)
    # By the request, not by the key alone: a key that was forgotten after its week makes another campaign.
    named = f"{account_id}#{idempotency_key}#{event['requestContext']['requestId']}"
    campaign_id = post.campaign_id or "c-" + hashlib.sha256(named.encode()).hexdigest()[:20]
    campaign = Campaign(
        campaign_id=campaign_id,
        account_id=account_id,
        leads_key=f"uploads/{account_id}/{campaign_id}/{post.file_name}",
        created_at=now,
        **post.model_dump(exclude={"file_name", "campaign_id", "account_id"}),
    )
    return create_once(services.table, campaign, signature_of(event), once)


def _check(post: CampaignPost, account_id: str) -> None:
    """Raises: RequestInvalid, RouteNotFound, for what no model can tell."""
    if post.weight > 1 and not caller_of(router.current_event.raw_event).is_operator:
        told = "A weight above 1 takes a share from other campaigns: an operator's key can give it."
        raise RequestInvalid(told, field="weight")
    get_account(services.table, account_id)
    compile_template(post.message)
    if post.route:
        get_route(services.table, post.route)


@documented(router, "GET", "/v1/campaigns", CampaignsAnswer)
def list_own_campaigns(account_id: AccountAsked = None, limit: PageSize = 50, after: After = None) -> JsonObject:
    """Return the account's campaigns, the newest first, a page at a time."""
    owner = account_asked(router.current_event.raw_event, account_id)
    page = list_campaigns(services.table, owner, limit, after)
    return {"campaigns": [one.model_dump(mode="json", include=_LISTED) for one in page.items], "next": page.next}


@documented(router, "GET", "/v1/campaigns/<campaign_id>", CampaignAnswer, 404)
def show(campaign_id: CampaignPath) -> JsonObject:
    """Return a campaign: counts, what holds it, since when, until when, what that has cost, and when it ends."""
    return show_campaign(_outlook(), campaign_asked(router.current_event.raw_event, campaign_id))


def _outlook() -> Outlook:
    return Outlook(services.table, services.store, services.clock.now())


@documented(router, "POST", "/v1/campaigns/<campaign_id>/upload", UploadAnswer, 404)
def upload(campaign_id: CampaignPath) -> JsonObject:
    """Return the address and form fields for uploading the lead file (multipart/form-data, the file last)."""
    campaign = campaign_asked(router.current_event.raw_event, campaign_id)
    if campaign.status is not CampaignStatus.CREATED:
        raise RequestInvalid("The campaign was started; its lead file can no longer change.")
    return services.store.presigned_post(campaign.leads_key, MAX_FILE_BYTES, UPLOAD_SECONDS)


def with_leads(campaign: Campaign) -> Campaign:
    """Return a campaign whose lead file is there. Raises: RequestInvalid."""
    try:
        services.store.open(campaign.leads_key).close()
    except ObjectNotFound:
        raise RequestInvalid("The campaign has no lead file yet; upload it first.") from None
    return campaign


@documented(router, "POST", "/v1/campaigns/<campaign_id>/plan", PlanAnswer, 404)
def plan(campaign_id: CampaignPath) -> JsonObject:
    """Return what a start now would do, when it would end and what would bind it; and change nothing."""
    event = router.current_event.raw_event
    campaign = with_leads(campaign_asked(event, campaign_id))
    planned, excluded = dry_run_by_reason(services.table, services.store, campaign)
    described = describe_plan(_outlook(), campaign, planned, sees_all=caller_of(event).is_operator)
    return described | {"excluded": excluded}


ReportVersion = Annotated[int | None, Query(ge=1, le=999, description="A version; the last one without it.")]


@documented(router, "GET", "/v1/campaigns/<campaign_id>/report", ReportAnswer, 404, 409)
def report(campaign_id: CampaignPath, version: ReportVersion = None) -> JsonObject:
    """Return the outcome report, the last version or the one asked for, with addresses of its files for an hour."""
    campaign = campaign_asked(router.current_event.raw_event, campaign_id)
    asked = version or max(campaign.report_version, 1)
    if 1 <= campaign.report_version < asked:
        raise RequestInvalid(f"There is no version {asked}: the last one is {campaign.report_version}.")
    prefix = report_prefix(campaign.campaign_id, asked)
    try:
        built: JsonObject = json.loads(services.store.get(f"{prefix}report.json"))
    except ObjectNotFound:
        raise ReportNotReady(f"The campaign is {campaign.status}; its report comes with its end.") from None
    names = ["report.json", "report.html", "outcomes.csv", "timeline.csv"]
    names += ["changes.csv"] if asked > 1 else []
    names += ["differences.csv"] if built["provider_differences"] else []
    keys = {name: f"{prefix}{name}" for name in names}
    if plan := get_plan(services.table, campaign_id):
        keys["rejects.csv"] = plan.rejects_key
    return built | {"files": {name: services.store.presigned_get(key, UPLOAD_SECONDS) for name, key in keys.items()}}
