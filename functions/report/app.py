"""Build the outcome report."""

from __future__ import annotations

from paceline.bootstrap import Services
from paceline.models import JsonObject
from paceline.observability import task
from paceline.reporting import build_and_store
from paceline.requests import ReportRequest

services = Services()


@task(ReportRequest)
def lambda_handler(request: ReportRequest) -> JsonObject:
    """Write the report's files; return where they are and whether the sums close."""
    now = services.clock.now()
    built = build_and_store(services.table, services.store, request.campaign_id, now, request.failure, request.revision)
    return built.model_dump(mode="json")
