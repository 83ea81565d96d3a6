"""Notify the customer of a campaign's end."""

from __future__ import annotations

from paceline.bootstrap import Services
from paceline.models import JsonObject
from paceline.observability import task
from paceline.requests import NotifyRequest
from paceline.webhooks.notifying import notify

services = Services()


@task(NotifyRequest)
def lambda_handler(request: NotifyRequest) -> JsonObject:
    """Call the account's webhook, once: the workflow decides about another try."""
    notified = notify(
        services.table, services.store, services.webhooks, services.webhook_master, request, services.clock.now()
    )
    return notified.model_dump(mode="json")
