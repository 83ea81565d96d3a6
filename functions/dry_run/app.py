"""Carry out the dry run of a large lead file, while nobody waits."""

from __future__ import annotations

from paceline.bootstrap import Services
from paceline.dry_runs import carry_out, find_dry_run
from paceline.models import JsonObject
from paceline.observability import task
from paceline.requests import DryRunRequest

services = Services()


@task(DryRunRequest)
def lambda_handler(request: DryRunRequest) -> JsonObject:
    """Plan the campaign beside itself, if nobody asked for another dry run since; return how that stands."""
    begun = find_dry_run(services.table, request.campaign_id)
    if begun is None or begun.dry_run_id != request.dry_run_id:
        return {"dry_run_id": request.dry_run_id, "stage": None}
    stage = carry_out(services.table, services.store, begun).stage
    return {"dry_run_id": request.dry_run_id, "stage": stage.value}
