"""Authorize a request to the API by its key."""

from __future__ import annotations

from typing import Any

from paceline.api_keys import find_key
from paceline.bootstrap import Services
from paceline.models import JsonObject
from paceline.observability import observed

services = Services()


@observed
def lambda_handler(event: dict[str, Any], context: Any) -> JsonObject:
    """Return whether the key is known, and for whom: what the API's handlers get as their caller."""
    key = find_key(services.table, services.key_pepper, event["headers"].get("x-api-key", ""))
    if key is None:
        return {"isAuthorized": False}
    who = {"account_id": key["account_id"], "scope": key["scope"]}
    return {"isAuthorized": True, "context": who | {"key_id": key["key_id"], "key_name": key["name"]}}
