"""Register a hold: a batch that waits for the end of a cause, or for a signal."""

from __future__ import annotations

from paceline.bootstrap import Services
from paceline.campaigns import get_campaign
from paceline.holds import register_hold, scope_of
from paceline.models import JsonObject
from paceline.observability import task
from paceline.requests import HoldRequest

services = Services()


@task(HoldRequest)
def lambda_handler(request: HoldRequest) -> JsonObject:
    """Write the hold where its signal looks for it; return whether the batch still waits."""
    batch, hold = request.batch, request.hold
    campaign = get_campaign(services.table, batch.campaign_id)
    waits = register_hold(
        services.table,
        services.workflow,
        services.clock.now(),
        token=request.token,
        scope=scope_of(hold.cause, campaign.account_id, batch.route, batch.campaign_id),
        campaign_id=batch.campaign_id,
        batch_id=batch.batch_id,
        hold=hold,
    )
    return {"waits": waits}
