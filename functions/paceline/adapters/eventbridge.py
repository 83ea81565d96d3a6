"""The bus that customers' systems listen to."""

from __future__ import annotations

import json
from typing import Any

from paceline.adapters.service_faults import our_errors
from paceline.errors import ServiceFault, ServiceUnavailable

SOURCE = "paceline"

# Why the bus may refuse an event that it takes a moment later. Source: EventBridge API reference, PutEvents.
_AGAIN = ("InternalFailure", "InternalException", "ThrottlingException", "ConcurrentModificationException")


class EventBridge:
    """A `paceline.ports.Events`."""

    def __init__(self, client: Any, bus_name: str) -> None:
        self._client = client
        self._bus_name = bus_name

    def publish(self, detail_type: str, detail: dict[str, object]) -> None:
        """Publish one event. Raises: ServiceUnavailable, where the bus did not take it now; ServiceFault."""
        entry = {
            "Source": SOURCE,
            "DetailType": detail_type,
            "Detail": json.dumps(detail),
            "EventBusName": self._bus_name,
        }
        with our_errors():
            answer = self._client.put_events(Entries=[entry])
        if answer.get("FailedEntryCount"):
            code = answer["Entries"][0].get("ErrorCode", "")
            refused = ServiceUnavailable if code in _AGAIN else ServiceFault
            raise refused(f"the event bus refused the event: {code}", code=code)
