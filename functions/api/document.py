"""The OpenAPI document: made from the routes, their models and docstrings, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from aws_lambda_powertools.event_handler.openapi.models import APIKey, APIKeyIn
from pydantic import BaseModel

from api.problems import MEDIA_TYPE, GatewayRefusal, Problem

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
    from aws_lambda_powertools.event_handler.api_gateway import Router

Handler = TypeVar("Handler", bound=Callable[..., Any])

VERSION = "1.0.0"
ABOUT = """SMS campaigns: create one, upload its lead file, plan, start, look.

Every request carries `x-api-key`. Errors are problem details (RFC 9457), except those that API Gateway answers itself:
401 without a key, 403 with a key that is not known, 413 above its own limits (lead files are uploaded); they are
`{"message": …}`. What is no address is a 404, a method that an address does not take a 405, with and without a key.
A body has at most 1 MB; lead files are uploaded: `POST /v1/campaigns/{campaign_id}/upload` says where."""

# Every route of the API: method and path.
ROUTES: list[tuple[str, str]] = []

_HEADER: dict[str, Any] = {"required": True, "schema": {"type": "string"}}
_PLACE_TO_LOOK: dict[str, Any] = {
    "headers": {
        "Location": _HEADER | {"description": "Where to look for it."},
        "Retry-After": _HEADER | {"description": "After so many seconds."},
    }
}

_PROBLEMS = {
    403: "The key is not known, or its scope does not reach so far.",
    404: "There is no such thing, or it is another account's.",
    409: "Not now: the state of the thing forbids it. Look at it, then ask again.",
    413: "The body is over the limit; upload lead files.",
    415: "The body is not application/json.",
    422: "Something in the request cannot be followed; the detail says what to change.",
    500: "A fault of ours, which is logged.",
    503: "Busy, or a service failed: it may be done or not. Look, then send it again after `Retry-After` seconds.",
}


def documented(
    router: Router,
    method: str,
    path: str,
    answer: type[BaseModel],
    *more: int,
    tag: str = "campaigns",
    accepted: type[BaseModel] | None = None,
) -> Callable[[Handler], Handler]:
    """Register a route with its answer and every status that it may give. more: beside those that any route gives.

    accepted: its answer where the work goes on (202). The docstring's first line is the summary, the rest the
    description.
    """
    has_body = {413, 415} if method in ("POST", "PATCH") else set()
    statuses = sorted({403, 422, 500, 503, *has_body, *more})
    answers = {200: _content("What was asked for.", "application/json", answer)}
    if accepted is not None:
        answers[202] = _content("The work goes on.", "application/json", accepted) | _PLACE_TO_LOOK
    ROUTES.append((method, path))

    def register(handler: Handler) -> Handler:
        summary, _, description = (handler.__doc__ or "").partition("\n\n")
        route = router.route(
            path,
            method,
            summary=summary,
            description=" ".join(description.split()) or None,
            responses=answers | _refusals(statuses),
            operation_id=handler.__name__,
            tags=[tag],
        )
        return route(handler)

    return register


def _content(description: str, media_type: str, model: type[BaseModel]) -> Any:
    return {"description": description, "content": {media_type: {"model": model}}}


def _refusals(statuses: list[int]) -> dict[int, Any]:
    found = {status: _content(_PROBLEMS[status], MEDIA_TYPE, Problem) for status in statuses}
    for status in {403, 413} & set(statuses):  # the gateway has them too
        found[status]["content"]["application/json"] = {"model": GatewayRefusal}
    return {401: _content("There is no key in the request.", "application/json", GatewayRefusal)} | found


@cache
def document_of(app: APIGatewayHttpResolver) -> str:
    """Return the document as JSON text, the same for the same code."""
    text = app.get_openapi_json_schema(
        title="Paceline",
        version=VERSION,
        description=ABOUT,
        security_schemes={"ApiKey": APIKey(name="x-api-key", **{"in": APIKeyIn.header})},  # type: ignore[arg-type]
        security=[{"ApiKey": []}],
    )
    document = json.loads(text)
    for unused in ("HTTPValidationError", "ValidationError"):  # Powertools' own error, which no route of ours gives
        document["components"]["schemas"].pop(unused, None)
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
