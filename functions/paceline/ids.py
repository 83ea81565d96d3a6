"""The ids that a task's input carries, for logs, metrics and traces; never its other values."""

from __future__ import annotations

from typing import Any

_IDS = ("campaign_id", "batch_id", "route", "round", "lead_no")


def ids_of(event: Any) -> dict[str, str | int]:
    """Return the ids of an event, as far as it has any: a request to the API has none until somebody checked it."""
    if not isinstance(event, dict):
        return {}
    looked_at = event["open"] if isinstance(event.get("open"), dict) else event
    batch = looked_at["batch"] if isinstance(looked_at.get("batch"), dict) else {}
    values = {**batch, **event}
    return {name: values[name] for name in _IDS if isinstance(values.get(name), str | int)}
