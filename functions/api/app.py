"""The customers' API and the operators' administration, over HTTP."""

from __future__ import annotations

import json
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError

from api import admin, admin_keys, campaigns, control, routes
from api.caller import Forbidden
from paceline.errors import (
    CampaignNotFound,
    ChangedMeanwhile,
    LeadFileInvalid,
    ObjectNotFound,
    PacelineError,
    ReportNotReady,
    RequestInvalid,
    RouteNotFound,
)
from paceline.models import JsonObject
from paceline.observability import logger

app = APIGatewayHttpResolver(enable_validation=True)
app.include_router(campaigns.router)
app.include_router(control.router)
app.include_router(routes.router)
app.include_router(admin.router)
app.include_router(admin_keys.router)

STATUS = {
    CampaignNotFound: 404,
    ObjectNotFound: 404,
    RouteNotFound: 422,
    LeadFileInvalid: 422,
    ReportNotReady: 409,
    ChangedMeanwhile: 409,
    RequestInvalid: 422,
    Forbidden: 403,
}


def problem(status: int, kind: str, detail: str, **more: Any) -> Response[str]:
    """Return an error as RFC 9457 problem details. kind: stable, for programs; detail: what to do, for people."""
    body = {"type": f"urn:paceline:problem:{kind}", "status": status, "title": kind.replace("-", " "), "detail": detail}
    return Response(status, content_type="application/problem+json", body=json.dumps(body | more, default=str))


@app.exception_handler(PacelineError)  # type: ignore[untyped-decorator]
def refused(error: PacelineError) -> Response[str]:
    name = type(error).__name__
    kind = "".join("-" + c.lower() if c.isupper() else c for c in name).lstrip("-")
    status = next((code for kinds, code in STATUS.items() if isinstance(error, kinds)), 503)
    return problem(status, kind, str(error), **error.evidence)


@app.exception_handler(RequestValidationError)  # type: ignore[untyped-decorator]
def malformed(error: RequestValidationError) -> Response[str]:
    errors = [{"field": ".".join(map(str, e["loc"])), "problem": e["msg"]} for e in error.errors()]
    first = f"{errors[0]['field']}: {errors[0]['problem']}" if errors else "the request cannot be read"
    return problem(422, "request-malformed", first, errors=errors)


@app.not_found
def no_such_route(_: Exception) -> Response[str]:
    return problem(404, "no-such-route", f"There is no {app.current_event.http_method} {app.current_event.path}.")


def lambda_handler(event: dict[str, Any], context: Any) -> JsonObject:
    """Answer one request."""
    logger.append_keys(request_id=context.aws_request_id)
    return app.resolve(event, context)
