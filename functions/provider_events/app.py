"""Take the events of AWS End User Messaging: receipts, and what recipients write back."""

from __future__ import annotations

from paceline.bootstrap import Services
from paceline.events import take_event
from paceline.models import JsonObject
from paceline.observability import task
from paceline.requests import NotificationsRequest

services = Services()


@task(NotificationsRequest)
def lambda_handler(request: NotificationsRequest) -> JsonObject:
    """Take every event; Lambda tries again what fails, and then keeps it in the dead-letter queue."""
    for record in request.Records:
        now, published = services.clock.now(), record.Sns.Timestamp
        reader, text = services.end_user_messaging, record.Sns.Message
        take_event(services.table, services.workflow, reader, text, now, published or now)
    return {"taken": len(request.Records)}
