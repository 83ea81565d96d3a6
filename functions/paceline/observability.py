"""Structured logs with ids, metrics and traces of every invocation, and one rule for what may leave a handler."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from aws_lambda_powertools import Logger
from botocore.exceptions import BotoCoreError, ClientError
from pydantic import BaseModel, ValidationError

from paceline.adapters.service_faults import as_ours
from paceline.errors import (
    PacelineError,
    ProviderMisconfigured,
    ProviderThrottled,
    RateLimited,
    RequestMalformed,
    ServiceUnavailable,
    TableThrottled,
    TransactionConflict,
    WebhookFailed,
)
from paceline.ids import ids_of
from paceline.keys import parse_message_id
from paceline.metrics import Metric, count, counting

logger = Logger(service="paceline")

# What libraries log of a call has its address, and an address may have a person's number or a customer's secret in it:
# so they keep to warnings, at whatever level Lambda is told to log.
for _library in ("httpx", "httpcore", "boto3", "botocore", "urllib3"):
    logging.getLogger(_library).setLevel(logging.WARNING)

Handler = Callable[[Any, Any], Any]

# Errors that Lambda counts and that are none: by them a step tells the workflow to ask again.
ORDINARY = (
    RateLimited,
    ProviderThrottled,
    ProviderMisconfigured,
    TransactionConflict,
    TableThrottled,
    ServiceUnavailable,
    WebhookFailed,
)


def observed(handler: Handler) -> Handler:
    """Let every line that a handler logs, its metrics and its trace carry the ids that its event has."""
    from paceline.tracing import traced  # here: X-Ray's SDK takes 70 ms, and what is no function needs it not

    function = handler.__module__.partition(".")[0]

    @wraps(handler)
    def watched(event: Any, context: Any) -> Any:
        ids = ids_of(event)
        logger.thread_safe_clear_keys()  # of the invocation before
        logger.thread_safe_append_keys(request_id=context.aws_request_id, function=function, **ids)
        with counting(function, ids, _write), traced(function, ids):
            return handler(event, context)

    return watched


def identify(**ids: str | int) -> None:
    """Let what the running invocation logs and traces from here on carry ids that its event did not plainly have."""
    from paceline.tracing import annotate  # as in `observed`

    logger.thread_safe_append_keys(**ids)
    annotate(ids)


def identify_message(message_id: str) -> None:
    """As `identify`, by a message's id. Raises: ValueError, where it is not one of ours."""
    campaign_id, batch_id, lead_no = parse_message_id(message_id)
    identify(campaign_id=campaign_id, batch_id=batch_id, lead_no=lead_no)


def _write(line: str) -> None:
    """Write a line where the log's lines go."""
    logger.registered_handler.stream.write(f"{line}\n")  # type: ignore[attr-defined]
    logger.registered_handler.flush()  # as for a line of the log: Lambda may stop the process after the answer


def task(request: type[BaseModel]) -> Callable[[Callable[[Any], Any]], Handler]:
    """Make a workflow task's handler of a function from a request model to a plain JSON answer.

    Raises: PacelineError's leaves as they are; RequestMalformed for an input that is not the request's;
    ServiceUnavailable and ServiceFault for what else AWS answered. Nothing else leaves the handler by design.
    """

    def decorate(function: Callable[[Any], Any]) -> Handler:
        @observed
        @wraps(function)
        def handler(event: Any, context: Any) -> Any:
            try:
                return _answer(function, request, event)
            except ORDINARY:
                count(Metric.ORDINARY_ERRORS)
                raise

        return handler

    return decorate


def _answer(function: Callable[[Any], Any], request: type[BaseModel], event: Any) -> Any:
    try:
        return function(request.model_validate(event))
    except PacelineError as error:
        logger.warning(str(error), extra={"error": type(error).__name__, "evidence": error.evidence})
        raise
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_input=False)]
        raise RequestMalformed("; ".join(problems)) from None
    except (ClientError, BotoCoreError) as error:
        logger.exception("AWS refused a call")
        raise as_ours(error) from error
