"""Functions of ours that nobody waits for."""

from __future__ import annotations

import json
from typing import Any

from paceline.adapters.service_faults import our_errors


class DryRunFunction:
    """A `paceline.ports.DryRunner`: the template's DryRunFunction, invoked as an event."""

    def __init__(self, client: Any, name: str) -> None:
        self._client = client
        self._name = name

    def begin(self, campaign_id: str, dry_run_id: str) -> None:
        """Hand the dry run over. Raises: ServiceUnavailable, where Lambda does not take it now; ServiceFault."""
        payload = json.dumps({"campaign_id": campaign_id, "dry_run_id": dry_run_id})
        with our_errors():
            self._client.invoke(FunctionName=self._name, InvocationType="Event", Payload=payload)
