"""Close a batch's round: give back what was not used, count what is left."""

from __future__ import annotations

from paceline.bootstrap import Services
from paceline.closing import close_round
from paceline.models import JsonObject
from paceline.observability import task
from paceline.requests import CloseRequest

services = Services()


@task(CloseRequest)
def lambda_handler(request: CloseRequest) -> JsonObject:
    """Close the round once; return how many leads are left and their round."""
    return close_round(
        services.table, services.workflow, request.batch, request.round, services.clock.now()
    ).model_dump(mode="json")
