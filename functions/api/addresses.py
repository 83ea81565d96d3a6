"""What is no address of the API, or takes other methods: the gateway's $default route brings it here.

It comes without a key having been looked at, so it is never handed on to a route.
"""

from __future__ import annotations

import re
from typing import Any

from aws_lambda_powertools.event_handler import Response

from api.document import ROUTES
from api.problems import problem

_PUBLIC = [("GET", "/v1/openapi.json"), ("POST", "/v1/callbacks/twilio")]


def refused_address(event: dict[str, Any]) -> Response[str] | None:
    """Return why no route takes the event; None: the gateway found one."""
    if event["routeKey"] != "$default":
        return None
    method, path = event["requestContext"]["http"]["method"], event["rawPath"]
    taken = sorted({takes for takes, pattern in [*ROUTES, *_PUBLIC] if re.fullmatch(_as_regex(pattern), path)})
    if not taken:
        told = f"There is no {path[:200]}; /v1/openapi.json has every address of the API."
        return problem(404, "no-such-route", told)
    refused = problem(405, "method-not-allowed", f"{path} takes {' and '.join(taken)}, not {method}.", allowed=taken)
    refused.headers["allow"] = ", ".join(taken)
    return refused


def _as_regex(pattern: str) -> str:
    return re.sub(r"<\w+>", "[^/]+", pattern)
