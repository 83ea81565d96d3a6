"""Start, pause, resume and cancel: what a customer does to a campaign, and an operator to its weight."""

from __future__ import annotations

from aws_lambda_powertools.event_handler.api_gateway import Router

from api.answers.campaigns import CampaignAnswer, PausedAnswer
from api.caller import (
    CampaignPath,
    IdempotencyKey,
    campaign_asked,
    services,
    sign_as_operator,
    signature_of,
)
from api.document import documented
from api.lead_files import lead_file_of
from paceline.campaigns import (
    PAUSE_BOUND_SECONDS,
    change_weight,
    get_plan,
    pause_campaign,
    resume_campaign,
    set_status,
)
from paceline.holds import release_campaign
from paceline.idempotency import Once, digest_of, do_once
from paceline.models import Campaign, JsonObject, Model, Weight
from paceline.moments import iso
from paceline.progress import describe_campaign
from paceline.starting import start_campaign
from paceline.status import CampaignStatus

router = Router()  # type: ignore[no-untyped-call]


class CampaignPatch(Model):
    """weight: the campaign's share of the routes that others send on too."""

    weight: Weight


@documented(router, "POST", "/v1/campaigns/<campaign_id>/start", CampaignAnswer, 404)
def start(campaign_id: CampaignPath, idempotency_key: IdempotencyKey = None) -> JsonObject:
    """Start the campaign; the same again starts nothing.

    With an Idempotency-Key the same again gets the same answer too, not how the campaign stands by then.
    """
    campaign = campaign_asked(router.current_event.raw_event, campaign_id)
    if idempotency_key is None:
        return _started(campaign)
    digest = digest_of("start", campaign.campaign_id)
    once = Once(campaign.account_id, idempotency_key, digest, services.clock.now())
    return do_once(services.table, once, lambda: _started(campaign))


def _started(campaign: Campaign) -> JsonObject:
    lead_file_of(campaign)
    started = start_campaign(
        services.table, services.workflow, campaign, services.clock.now(), services.settings.retention_days
    )
    return describe_campaign(services.table, started)


@documented(router, "POST", "/v1/campaigns/<campaign_id>/pause", PausedAnswer, 404)
def pause(campaign_id: CampaignPath) -> JsonObject:
    """Pause the campaign. Nothing is handed to the provider later than pause_bound_seconds after paused_at."""
    asked = campaign_asked(router.current_event.raw_event, campaign_id)
    signature = signature_of(router.current_event.raw_event)
    campaign = pause_campaign(services.table, asked.campaign_id, signature.key_id, signature.at)
    paused_at = campaign.pauses[-1].paused_at if campaign.pauses else signature.at
    bound = {"pause_bound_seconds": PAUSE_BOUND_SECONDS, "paused_at": iso(paused_at)}
    return describe_campaign(services.table, campaign) | bound


@documented(router, "POST", "/v1/campaigns/<campaign_id>/resume", CampaignAnswer, 404)
def resume(campaign_id: CampaignPath) -> JsonObject:
    """Resume a paused campaign, at once."""
    asked = campaign_asked(router.current_event.raw_event, campaign_id)
    signature = signature_of(router.current_event.raw_event)
    return _released(resume_campaign(services.table, asked.campaign_id, signature.key_id, signature.at))


@documented(router, "POST", "/v1/campaigns/<campaign_id>/cancel", CampaignAnswer, 404)
def cancel(campaign_id: CampaignPath) -> JsonObject:
    """Cancel a campaign: what was not sent is skipped, and the report follows."""
    asked = campaign_asked(router.current_event.raw_event, campaign_id)
    may_be = {CampaignStatus.RUNNING, CampaignStatus.PAUSED}
    return _released(set_status(services.table, asked.campaign_id, CampaignStatus.CANCELLED, may_be))


@documented(router, "PATCH", "/v1/admin/campaigns/<campaign_id>", CampaignAnswer, 404, 409, tag="operators")
def weigh(campaign_id: CampaignPath, post: CampaignPatch) -> JsonObject:
    """Change a campaign's weight, while it runs too; audited with its account."""
    signature = sign_as_operator(router.current_event.raw_event)
    return describe_campaign(services.table, change_weight(services.table, campaign_id, post.weight, signature))


def _released(campaign: Campaign) -> JsonObject:
    plan = get_plan(services.table, campaign.campaign_id)
    routes = {stream.route for stream in plan.streams} if plan else set()
    release_campaign(services.table, services.workflow, campaign.campaign_id, campaign.account_id, sorted(routes))
    return describe_campaign(services.table, campaign)
