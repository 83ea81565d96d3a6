"""The bus that customers' systems listen to."""

from __future__ import annotations

import json
from typing import Any

SOURCE = "paceline"


class EventBridge:
    """A `paceline.ports.Events`."""

    def __init__(self, client: Any, bus_name: str) -> None:
        self._client = client
        self._bus_name = bus_name

    def publish(self, detail_type: str, detail: dict[str, object]) -> None:
        """Publish one event. Raises: RuntimeError, where the bus did not take it."""
        entry = {
            "Source": SOURCE,
            "DetailType": detail_type,
            "Detail": json.dumps(detail),
            "EventBusName": self._bus_name,
        }
        answer = self._client.put_events(Entries=[entry])
        if answer.get("FailedEntryCount"):
            raise RuntimeError(f"the event bus refused the event: {answer['Entries'][0].get('ErrorCode')}")
