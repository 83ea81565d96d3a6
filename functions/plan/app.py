"""Plan a campaign: the workflow's first step."""

from __future__ import annotations

from paceline.bootstrap import Services
from paceline.models import JsonObject
from paceline.observability import task
from paceline.requests import CampaignRequest
from paceline.starting import plan_started_campaign

services = Services()


@task(CampaignRequest)
def lambda_handler(request: CampaignRequest) -> JsonObject:
    """Plan the campaign once; return what the workflow needs of the plan."""
    planned = plan_started_campaign(services.table, services.store, request.campaign_id, services.clock.now())
    return planned.model_dump(mode="json")
