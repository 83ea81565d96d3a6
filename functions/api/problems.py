"""Errors as RFC 9457 problem details: a stable type, the field, and a sentence that says what to do."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from aws_lambda_powertools.event_handler import Response
from pydantic import BaseModel, ConfigDict, Field

from paceline.errors import (
    CampaignNotFound,
    ChangedMeanwhile,
    IdempotencyKeyReused,
    LeadFileInvalid,
    ObjectNotFound,
    PacelineError,
    PlanNotFound,
    ReportNotReady,
    RequestInvalid,
    RouteNotFound,
    ServiceUnavailable,
    TableThrottled,
    TransactionConflict,
)
from paceline.observability import logger

URN = "urn:paceline:problem:"
MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 1

# What passes by itself. What it was is for the log: a customer can do the same about each.
AGAIN = (ServiceUnavailable, TableThrottled, TransactionConflict)
ASK_AGAIN = (
    "We are busy, or a service that we stand on failed: the request may be done or not. Look, then send it again; one"
    " with an Idempotency-Key is done once."
)

STATUS: dict[type[PacelineError], int] = {
    CampaignNotFound: 404,
    ObjectNotFound: 404,
    RouteNotFound: 422,
    LeadFileInvalid: 422,
    PlanNotFound: 404,
    ReportNotReady: 409,
    ChangedMeanwhile: 409,
    IdempotencyKeyReused: 422,
    RequestInvalid: 422,
}

# So many are told at once; a list of thousands may be wrong in every entry.
MOST_ERRORS = 20

# pydantic's kinds of error → what to do, where its own sentence does not say.
_ADVICE = {
    "missing": "Give this field.",
    "extra_forbidden": "There is no such field; leave it out, or spell it as the document does.",
    "model_attributes_type": "Send one JSON object.",
}


class Forbidden(PacelineError):
    """The key is known, but its scope does not reach so far."""


class FieldError(BaseModel):
    field: str
    problem: str


class Problem(BaseModel):
    """RFC 9457. type: for programs, stable. detail: for people, what to do. field: what to change, where it is one."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(pattern=f"^{URN}[a-z0-9-]+$")
    title: str
    status: int
    detail: str
    field: str | None = None
    errors: list[FieldError] | None = None


class GatewayRefusal(BaseModel):
    """What API Gateway answers itself, before any code of ours: no key, or none that is known."""

    message: str


def problem(status: int, kind: str, detail: str, **more: Any) -> Response[str]:
    """Return an error as problem details. kind: stable, for programs; detail: what to do, for people."""
    body = {"type": f"{URN}{kind}", "title": kind.replace("-", " "), "status": status, "detail": detail}
    headers = {"retry-after": str(RETRY_AFTER_SECONDS)} if status == 503 else {}
    return Response(status, content_type=MEDIA_TYPE, body=json.dumps(body | more, default=str), headers=headers)


def refusal_of(error: PacelineError) -> Response[str]:
    """Return one of our errors; what is none of the caller's doing can be tried again."""
    name = type(error).__name__
    kind = "".join("-" + c.lower() if c.isupper() else c for c in name).lstrip("-")
    status = next((code for kinds, code in STATUS.items() if isinstance(error, kinds)), 503)
    if isinstance(error, AGAIN):
        logger.warning(str(error), extra={"error": name, "evidence": error.evidence})
        return problem(503, kind, ASK_AGAIN)
    return problem(403 if isinstance(error, Forbidden) else status, kind, str(error), **error.evidence)


def malformed(errors: Sequence[Mapping[str, Any]]) -> Response[str]:
    """Return what validation found first, each with its field. The very first is the problem's own sentence."""
    found = [
        {"field": _shortened(".".join(map(str, error["loc"])), 100), "problem": _shortened(_advice(error), 500)}
        for error in errors[:MOST_ERRORS]
    ]
    first = found[0] if found else {"field": "body", "problem": "The request cannot be read."}
    detail = f"{first['field']}: {first['problem']}"
    return problem(422, "request-malformed", detail, field=first["field"], errors=found)


def _shortened(text: str, length: int) -> str:
    """Return no more of the caller's own words than tells them which."""
    return text if len(text) <= length else f"{text[:length]}…"


def _advice(error: Mapping[str, Any]) -> str:
    """Return what to do about an error of pydantic's; its own sentence, where that says it."""
    pattern = error.get("ctx", {}).get("pattern")
    if pattern:
        return f"Write it in the form that the document gives: {pattern}"
    if error["type"] == "missing" and error["loc"] == ("body",):
        return _ADVICE["model_attributes_type"]
    return _ADVICE.get(error["type"], str(error["msg"]).removeprefix("Value error, "))
