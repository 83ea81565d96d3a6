"""Admit a batch: credits, day use and slots, or the cause that holds it."""

from __future__ import annotations

from paceline.admission import Admitter
from paceline.bootstrap import Services
from paceline.models import JsonObject
from paceline.observability import task
from paceline.requests import AdmitRequest

services = Services()


@task(AdmitRequest)
def lambda_handler(request: AdmitRequest) -> JsonObject:
    """Return the batch's slots, or why and until when it waits."""
    admitter = Admitter(services.table, services.store, services.clock.now())
    admission = admitter.admit(request.batch, request.round, turn=request.turn)
    return admission.model_dump(mode="json")
