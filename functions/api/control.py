"""Pause, resume and cancel: what a customer changes while a campaign runs."""

from __future__ import annotations

from aws_lambda_powertools.event_handler.api_gateway import Router

from api.caller import caller_of, services, signature_of
from paceline.campaigns import PAUSE_BOUND_SECONDS, get_campaign, get_plan, pause_campaign, resume_campaign, set_status
from paceline.holds import release_campaign
from paceline.models import Campaign, JsonObject
from paceline.moments import iso
from paceline.progress import describe_campaign
from paceline.status import CampaignStatus

router = Router()  # type: ignore[no-untyped-call]


@router.post("/v1/campaigns/<campaign_id>/pause")
def pause(campaign_id: str) -> JsonObject:
    """Pause the campaign. Nothing is handed to the provider later than pause_bound_seconds after paused_at."""
    _check_caller(campaign_id)
    signature = signature_of(router.current_event.raw_event)
    campaign = pause_campaign(services.table, campaign_id, signature.key_id, signature.at)
    paused_at = campaign.pauses[-1].paused_at if campaign.pauses else signature.at
    bound = {"pause_bound_seconds": PAUSE_BOUND_SECONDS, "paused_at": iso(paused_at)}
    return describe_campaign(services.table, campaign) | bound


@router.post("/v1/campaigns/<campaign_id>/resume")
def resume(campaign_id: str) -> JsonObject:
    """Resume a paused campaign, at once."""
    _check_caller(campaign_id)
    signature = signature_of(router.current_event.raw_event)
    return _released(resume_campaign(services.table, campaign_id, signature.key_id, signature.at))


@router.post("/v1/campaigns/<campaign_id>/cancel")
def cancel(campaign_id: str) -> JsonObject:
    """Cancel a campaign: what was not sent is skipped, and the report follows."""
    _check_caller(campaign_id)
    may_be = {CampaignStatus.RUNNING, CampaignStatus.PAUSED}
    return _released(set_status(services.table, campaign_id, CampaignStatus.CANCELLED, may_be))


def _check_caller(campaign_id: str) -> None:
    """Raises: CampaignNotFound, for another account's campaign."""
    get_campaign(services.table, campaign_id, caller_of(router.current_event.raw_event).account_id)


def _released(campaign: Campaign) -> JsonObject:
    plan = get_plan(services.table, campaign.campaign_id)
    routes = {stream.route for stream in plan.streams} if plan else set()
    release_campaign(services.table, services.workflow, campaign.campaign_id, campaign.account_id, sorted(routes))
    return describe_campaign(services.table, campaign)
