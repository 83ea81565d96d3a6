"""The plan of a campaign that was not started yet: asked for, and looked at until it is there."""

from __future__ import annotations

import json
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from api.answers.plans import PlanAnswer, PlanningAnswer
from api.caller import CampaignPath, caller_of, campaign_asked, services
from api.campaigns import DOWNLOAD_SECONDS
from api.document import documented
from api.lead_files import lead_file_of
from paceline.dry_runs import DryRun, Stage, begin_dry_run, find_dry_run, planned_by
from paceline.errors import ObjectNotFound, PlanNotFound, RequestInvalid
from paceline.models import Campaign
from paceline.moments import iso
from paceline.outlook import Outlook
from paceline.planned import describe_plan
from paceline.status import CampaignStatus

router = Router()  # type: ignore[no-untyped-call]

LOOK_AGAIN_SECONDS = 3


@documented(router, "POST", "/v1/campaigns/<campaign_id>/plan", PlanAnswer, 404, accepted=PlanningAnswer)
def plan(campaign_id: CampaignPath) -> Response[str]:
    """Plan the campaign: what a start now would do, when it would end and what would bind it. Nothing is changed.

    A file of about 30,000 rows is planned at once (200); a larger one takes up to a minute: 202 says where to look for
    the plan (`Location`), and when (`Retry-After`).
    """
    campaign = _not_started(campaign_id)
    named = router.current_event.raw_event["requestContext"]["requestId"]
    now, file = services.clock.now(), lead_file_of(campaign)
    return _answer(
        campaign, begin_dry_run(services.table, services.store, services.dry_runner, campaign, file, named, now)
    )


@documented(router, "GET", "/v1/campaigns/<campaign_id>/plan", PlanAnswer, 404, accepted=PlanningAnswer)
def show_plan(campaign_id: CampaignPath) -> Response[str]:
    """Return the plan that was asked for last, with the caps, credits and campaigns of now; 202 while it is made.

    What is wrong with the file as a whole is answered as the problem that it is. rejects.csv has a row for every
    lead that is not sent to.
    """
    campaign = _not_started(campaign_id)
    last = find_dry_run(services.table, campaign.campaign_id)
    if last is None or (last.stage is Stage.PLANNING and not last.is_under_way(services.clock.now())):
        raise PlanNotFound("There is no plan of this campaign: ask for one with POST at this address.")
    return _answer(campaign, last)


def _not_started(campaign_id: str) -> Campaign:
    campaign = campaign_asked(router.current_event.raw_event, campaign_id)
    if campaign.status is not CampaignStatus.CREATED:
        told = "The campaign was started: GET /v1/campaigns/{campaign_id} says how it goes, and what was planned."
        raise RequestInvalid(told, campaign_status=campaign.status.value)
    return campaign


def _answer(campaign: Campaign, dry_run: DryRun) -> Response[str]:
    if error := dry_run.error():
        raise error
    if dry_run.stage is Stage.PLANNING:
        headers = {"location": f"/v1/campaigns/{campaign.campaign_id}/plan", "retry-after": str(LOOK_AGAIN_SECONDS)}
        body = {"campaign_id": campaign.campaign_id, "stage": "planning", "asked_at": iso(dry_run.asked_at)}
        return Response(202, content_type="application/json", body=json.dumps(body), headers=headers)
    return Response(200, content_type="application/json", body=json.dumps(_described(campaign, dry_run)))


def _described(campaign: Campaign, dry_run: DryRun) -> dict[str, Any]:
    try:
        found = planned_by(services.store, dry_run)
    except ObjectNotFound:
        raise PlanNotFound("The plan is no longer kept: ask for another with POST at this address.") from None
    outlook = Outlook(services.table, services.store, services.clock.now())
    sees_all = caller_of(router.current_event.raw_event).is_operator
    described = describe_plan(outlook, campaign, found.plan, sees_all=sees_all)
    files = {"rejects.csv": services.store.presigned_get(found.plan.rejects_key, DOWNLOAD_SECONDS)}
    about = {"campaign_id": campaign.campaign_id, "stage": "ready", "asked_at": iso(dry_run.asked_at)}
    return about | described | {"excluded": found.excluded, "files": files}
