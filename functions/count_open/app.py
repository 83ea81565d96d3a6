"""Count what is not settled, and say when to look again."""

from __future__ import annotations

from paceline.bootstrap import Services
from paceline.looks import OpenCounter
from paceline.models import JsonObject
from paceline.observability import task
from paceline.requests import CountOpenRequest

services = Services()


@task(CountOpenRequest)
def lambda_handler(request: CountOpenRequest) -> JsonObject:
    """Write the manifest of the open batches; return their number and the moment of the next look."""
    now = services.clock.now()
    counter = OpenCounter(services.table, services.store, services.workflow, now)
    answer = counter.count(request.campaign_id, request.look, request.since)
    return answer.model_dump(mode="json")
