"""Reconcile one batch: settle what evidence allows."""

from __future__ import annotations

from paceline.bootstrap import Services
from paceline.models import JsonObject
from paceline.observability import task
from paceline.reconciliation import Reconciler
from paceline.requests import ReconcileRequest

services = Services()


@task(ReconcileRequest)
def lambda_handler(request: ReconcileRequest) -> JsonObject:
    """Look at the batch's messages; return how many are not final."""
    reconciler = Reconciler(services.table, services.store, services.workflow, services.providers, services.clock.now())
    return reconciler.reconcile(request.open, request.due_at, request.charging).model_dump(mode="json")
