"""The customers' API and the operators' administration, over HTTP."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError

from api import admin, admin_keys, campaigns, control, messages, opt_outs, routes, webhook
from api.document import document_of
from api.limits import refused_body
from api.problems import malformed, problem, refusal
from paceline.errors import PacelineError
from paceline.models import JsonObject
from paceline.observability import logger

app = APIGatewayHttpResolver(enable_validation=True)
for module in (campaigns, control, messages, opt_outs, routes, webhook, admin, admin_keys):
    app.include_router(module.router)


@app.get("/v1/openapi.json", include_in_schema=False)
def document() -> Response[str]:
    """Return the OpenAPI document of this API. It needs no key."""
    return Response(200, content_type="application/json", body=document_of(app))


@app.exception_handler(PacelineError)  # type: ignore[untyped-decorator]
def refused(error: PacelineError) -> Response[str]:
    return refusal(error)


@app.exception_handler(RequestValidationError)  # type: ignore[untyped-decorator]
def not_valid(error: RequestValidationError) -> Response[str]:
    return malformed(error.errors())


@app.exception_handler(Exception)  # type: ignore[untyped-decorator]
def failed(error: Exception) -> Response[str]:
    request_id = app.current_event.raw_event["requestContext"]["requestId"]
    logger.error("a route failed", exc_info=error)
    detail = "This is a fault of ours, and it is logged. Nothing may have been changed: look, then try again."
    return problem(500, "internal-fault", detail, request_id=request_id)


@app.not_found
def no_such_route(_: Exception) -> Response[str]:
    return problem(404, "no-such-route", f"There is no {app.current_event.http_method} {app.current_event.path}.")


def lambda_handler(event: dict[str, Any], context: Any) -> JsonObject:
    """Answer one request."""
    logger.append_keys(request_id=context.aws_request_id)
    refusal_of_body = refused_body(event)
    if refusal_of_body is not None:
        headers = {"content-type": refusal_of_body.headers["Content-Type"]}
        return {"statusCode": refusal_of_body.status_code, "headers": headers, "body": refusal_of_body.body}
    return app.resolve(event, context)
