"""Publish a campaign's outcome."""

from __future__ import annotations

from paceline.bootstrap import Services
from paceline.models import JsonObject
from paceline.observability import task
from paceline.reporting import ReportBuilt, publish_outcome

services = Services()


@task(ReportBuilt)
def lambda_handler(request: ReportBuilt) -> JsonObject:
    """Give the campaign its last status and tell the event bus."""
    return publish_outcome(services.table, services.store, services.events, request).model_dump(mode="json")
