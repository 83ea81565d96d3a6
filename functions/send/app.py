"""Send one message at its slot."""

from __future__ import annotations

from paceline.bootstrap import Services
from paceline.models import JsonObject
from paceline.observability import task
from paceline.requests import SendRequest
from paceline.sending import Sender

services = Services()


@task(SendRequest)
def lambda_handler(request: SendRequest) -> JsonObject:
    """Send the message, at most once ever; return what became of it."""
    sender = Sender(services.table, services.store, services.clock, services.providers)
    sent = sender.send(request.batch, request.round, request.lead_no, request.slot, request.given_at)
    return sent.model_dump(mode="json")
