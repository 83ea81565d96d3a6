"""The customers' routes: campaigns from their creation to their report."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Literal

from aws_lambda_powertools.event_handler.api_gateway import Router
from pydantic import AwareDatetime, Field

from api.caller import caller_of, services, signature_of
from paceline.accounts import get_account
from paceline.campaigns import create_campaign, get_campaign, get_plan
from paceline.errors import ObjectNotFound, ReportNotReady, RequestInvalid
from paceline.leads.template import compile_template
from paceline.models import Campaign, CampaignId, JsonObject, Model, RouteName, SendingWindow
from paceline.outlook import Outlook
from paceline.planned import describe_plan
from paceline.progress import describe_campaign, show_campaign
from paceline.routes import get_route
from paceline.starting import dry_run, start_campaign
from paceline.status import CampaignStatus

router = Router()  # type: ignore[no-untyped-call]

# What a campaign gets after it was posted is no part of whether two posts are the same.
_NOT_POSTED = {"status", "created_at", "execution_arn", "pauses"}

_SET_BY_START = {"start_at", "send_by", "sending_window"}

MAX_FILE_BYTES = 200 * 1024 * 1024
UPLOAD_SECONDS = 3600


class CampaignPost(Model):
    """What a customer posts to create a campaign. account_id, and a weight above 1: only with an operator's key."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    message: Annotated[str, Field(min_length=1, max_length=1600)]
    file_name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")] = "leads.csv"
    campaign_id: CampaignId | None = None
    account_id: str | None = None
    route: RouteName | None = None
    start_at: AwareDatetime | None = None
    send_by: AwareDatetime | None = None
    sending_window: SendingWindow = SendingWindow()
    max_messages_per_recipient_24h: Annotated[int, Field(ge=1)] | None = None
    weight: Annotated[int, Field(ge=1, le=10)] = 1
    smart_punctuation: Literal["keep", "to_gsm7"] = "keep"
    receipt_deadline_hours: Annotated[int, Field(ge=1, le=168)] = 72


@router.post("/v1/campaigns")
def create(post: CampaignPost) -> JsonObject:
    """Create a campaign. The same Idempotency-Key with the same body returns the campaign that it created."""
    caller = caller_of(router.current_event.raw_event)
    account_id = caller.account_id or post.account_id
    if account_id is None:
        raise RequestInvalid("An operator's key needs `account_id` in the body.")
    if post.weight > 1 and not caller.is_operator:
        raise RequestInvalid("A weight above 1 takes a share from other campaigns: an operator's key can give it.")
    get_account(services.table, account_id)
    compile_template(post.message)
    if post.route:
        get_route(services.table, post.route)
    key = router.current_event.headers.get("idempotency-key") or router.lambda_context.aws_request_id
    campaign_id = post.campaign_id or "c-" + hashlib.sha256(f"{account_id}#{key}".encode()).hexdigest()[:20]
    campaign = Campaign(
        campaign_id=campaign_id,
        account_id=account_id,
        leads_key=f"uploads/{account_id}/{campaign_id}/{post.file_name}",
        created_at=services.clock.now(),
        **post.model_dump(exclude={"file_name", "campaign_id", "account_id"}),
    )
    return describe_campaign(services.table, _create_once(campaign))


def _create_once(campaign: Campaign) -> Campaign:
    try:
        create_campaign(services.table, campaign, signature_of(router.current_event.raw_event))
    except RequestInvalid:
        same = get_campaign(services.table, campaign.campaign_id, campaign.account_id)
        later = _NOT_POSTED if same.status is CampaignStatus.CREATED else _NOT_POSTED | _SET_BY_START
        if same.model_dump(exclude=later) != campaign.model_dump(exclude=later):
            raise RequestInvalid("This Idempotency-Key or id was used for another campaign; choose another.") from None
        return same
    return campaign


def _campaign(campaign_id: str) -> Campaign:
    return get_campaign(services.table, campaign_id, caller_of(router.current_event.raw_event).account_id)


def _with_leads(campaign_id: str) -> Campaign:
    """Return a campaign whose lead file is there. Raises: RequestInvalid."""
    campaign = _campaign(campaign_id)
    try:
        services.store.open(campaign.leads_key).close()
    except ObjectNotFound:
        raise RequestInvalid("The campaign has no lead file yet; upload it first.") from None
    return campaign


@router.get("/v1/campaigns/<campaign_id>")
def show(campaign_id: str) -> JsonObject:
    """Return a campaign: counts, what holds it, since when, until when, what that has cost, and when it ends."""
    return show_campaign(_outlook(), _campaign(campaign_id))


def _outlook() -> Outlook:
    return Outlook(services.table, services.store, services.clock.now())


@router.post("/v1/campaigns/<campaign_id>/upload")
def upload(campaign_id: str) -> JsonObject:
    """Return the address and form fields for uploading the lead file (multipart/form-data, the file last)."""
    campaign = _campaign(campaign_id)
    if campaign.status is not CampaignStatus.CREATED:
        raise RequestInvalid("The campaign was started; its lead file can no longer change.")
    return services.store.presigned_post(campaign.leads_key, MAX_FILE_BYTES, UPLOAD_SECONDS)


@router.post("/v1/campaigns/<campaign_id>/plan")
def plan(campaign_id: str) -> JsonObject:
    """Return what a start now would do, when it would end and what would bind it; and change nothing."""
    campaign = _with_leads(campaign_id)
    planned = dry_run(services.table, services.store, campaign)
    sees_all = caller_of(router.current_event.raw_event).is_operator
    return describe_plan(_outlook(), campaign, planned, sees_all=sees_all)


@router.post("/v1/campaigns/<campaign_id>/start")
def start(campaign_id: str) -> JsonObject:
    """Start the campaign; the same again changes nothing."""
    campaign = start_campaign(services.table, services.workflow, _with_leads(campaign_id), services.clock.now())
    return describe_campaign(services.table, campaign)


@router.get("/v1/campaigns/<campaign_id>/report")
def report(campaign_id: str) -> JsonObject:
    """Return the outcome report, with addresses of its files that are good for an hour."""
    campaign = _campaign(campaign_id)
    prefix = f"campaigns/{campaign.campaign_id}/report/v001/"
    try:
        built: JsonObject = json.loads(services.store.get(f"{prefix}report.json"))
    except ObjectNotFound:
        raise ReportNotReady(f"The campaign is {campaign.status}; its report comes with its end.") from None
    names = ("report.json", "report.html", "outcomes.csv", "timeline.csv")
    keys = {name: f"{prefix}{name}" for name in names}
    if plan := get_plan(services.table, campaign_id):
        keys["rejects.csv"] = plan.rejects_key
    return built | {"files": {name: services.store.presigned_get(key, UPLOAD_SECONDS) for name, key in keys.items()}}


@router.get("/v1/account")
def account() -> JsonObject:
    """Return the caller's account and its credits."""
    caller = caller_of(router.current_event.raw_event)
    if caller.account_id is None:
        raise RequestInvalid("An operator's key has no account of its own.")
    return get_account(services.table, caller.account_id).model_dump(mode="json")
