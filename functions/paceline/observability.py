"""Structured logs with ids, and one rule for what may leave a handler: errors that a state machine can name."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from aws_lambda_powertools import Logger
from botocore.exceptions import BotoCoreError, ClientError
from pydantic import BaseModel, ValidationError

from paceline.adapters.service_faults import as_ours
from paceline.errors import PacelineError, RequestMalformed

logger = Logger(service="paceline")

# What libraries log of a call has its address, and an address may have a person's number or a customer's secret in it:
# so they keep to warnings, at whatever level Lambda is told to log.
for _library in ("httpx", "httpcore", "boto3", "botocore", "urllib3"):
    logging.getLogger(_library).setLevel(logging.WARNING)

Handler = Callable[[Any, Any], Any]


def task(request: type[BaseModel]) -> Callable[[Callable[[Any], Any]], Handler]:
    """Make a workflow task's handler of a function from a request model to a plain JSON answer.

    Raises: PacelineError's leaves as they are; RequestMalformed for an input that is not the request's;
    ServiceUnavailable and ServiceFault for what else AWS answered. Nothing else leaves the handler by design.
    """

    def decorate(function: Callable[[Any], Any]) -> Handler:
        @wraps(function)
        def handler(event: Any, context: Any) -> Any:
            try:
                return function(request.model_validate(event))
            except PacelineError as error:
                ids = {"request_id": context.aws_request_id, **_ids(event)}
                logger.warning(str(error), extra={"error": type(error).__name__, "evidence": error.evidence, **ids})
                raise
            except ValidationError as error:
                problems = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_input=False)]
                raise RequestMalformed("; ".join(problems)) from None
            except (ClientError, BotoCoreError) as error:
                logger.exception("AWS refused a call", extra=_ids(event))
                raise as_ours(error) from error

        return handler

    return decorate


def _ids(event: Any) -> dict[str, Any]:
    """Return the ids that an event carries, for the log; never its other values."""
    batch = event.get("batch") or {}
    values = {**event, "campaign_id": event.get("campaign_id") or batch.get("campaign_id"), **_batch_ids(batch)}
    return {name: values[name] for name in ("campaign_id", "batch_id", "route", "round", "lead_no") if values.get(name)}


def _batch_ids(batch: dict[str, Any]) -> dict[str, Any]:
    return {name: batch[name] for name in ("batch_id", "route") if name in batch}
