"""The customers' API and the operators' administration, over HTTP."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError
from botocore.exceptions import BotoCoreError, ClientError

from api import (
    admin_accounts,
    admin_keys,
    admin_routes,
    campaigns,
    carriers,
    control,
    creation,
    lead_files,
    messages,
    opt_outs,
    plans,
    reveals,
    routes,
    webhook,
)
from api.addresses import refused_address
from api.document import document_of
from api.limits import refused_body
from api.problems import malformed, problem, refusal_of
from paceline.adapters.service_faults import as_ours
from paceline.errors import ContractBroken, PacelineError, ServiceFault
from paceline.models import JsonObject
from paceline.observability import logger, observed

# What no other try of the same request mends.
OURS_TO_MEND = (ServiceFault, ContractBroken)

app = APIGatewayHttpResolver(enable_validation=True)
MODULES = (
    creation,
    campaigns,
    lead_files,
    plans,
    control,
    messages,
    opt_outs,
    carriers,
    routes,
    webhook,
    admin_accounts,
    admin_routes,
    admin_keys,
    reveals,
)
for module in MODULES:
    app.include_router(module.router)


@app.get("/v1/openapi.json", include_in_schema=False)
def document() -> Response[str]:
    """Return the OpenAPI document of this API. It needs no key."""
    return Response(200, content_type="application/json", body=document_of(app))


@app.exception_handler(PacelineError)  # type: ignore[untyped-decorator]
def refused(error: PacelineError) -> Response[str]:
    answer: Response[str] = failed(error) if isinstance(error, OURS_TO_MEND) else refusal_of(error)
    return answer


@app.exception_handler(RequestValidationError)  # type: ignore[untyped-decorator]
def not_valid(error: RequestValidationError) -> Response[str]:
    return malformed(error.errors())


@app.exception_handler(ClientError)  # type: ignore[untyped-decorator]
@app.exception_handler(BotoCoreError)  # type: ignore[untyped-decorator]
def service_failed(error: ClientError | BotoCoreError) -> Response[str]:
    answer: Response[str] = refused(as_ours(error))
    return answer


@app.exception_handler(Exception)  # type: ignore[untyped-decorator]
def failed(error: Exception) -> Response[str]:
    request_id = app.current_event.raw_event["requestContext"]["requestId"]
    logger.error("a route failed", exc_info=error)
    detail = "This is a fault of ours, and it is logged. Nothing may have been changed: look, then try again."
    return problem(500, "internal-fault", detail, request_id=request_id)


@observed
def lambda_handler(event: dict[str, Any], context: Any) -> JsonObject:
    """Answer one request."""
    refusal = refused_address(event) or refused_body(event)
    if refusal is not None:
        headers = {name.lower(): value for name, value in refusal.headers.items()}
        return {"statusCode": refusal.status_code, "headers": headers, "body": refusal.body}
    return app.resolve(event, context)
