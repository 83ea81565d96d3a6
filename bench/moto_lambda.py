"""Python functions in the place of Lambda functions, for moto's own interpreter: without Docker it only echoes."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import boto3

Function = Callable[[Any], Any]


class _Http:
    status_code = 200
    headers: dict[str, str] = {}  # noqa: RUF012 (never written)


@contextmanager
def functions_for_moto(functions: Mapping[str, Function]) -> Iterator[None]:
    """Answer every Invoke of this process's boto3 from `functions` (the last part of the ARN → callable).

    What a function raises is answered as Lambda does: FunctionError, and the class's bare name in the payload.
    """
    if boto3.DEFAULT_SESSION is None:
        boto3.setup_default_session()

    def keep(params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        context["invoke"] = params

    def answer(context: dict[str, Any], **_: Any) -> tuple[_Http, dict[str, Any]]:
        params = context["invoke"]
        name = params["FunctionName"].removesuffix(":$LATEST").rpartition(":")[2]
        payload = params.get("Payload") or b"{}"
        shown: dict[str, Any] = {"StatusCode": 200, "ExecutedVersion": "$LATEST"}
        try:
            body = functions[name](json.loads(payload))
        except Exception as error:
            shown["FunctionError"] = "Unhandled"
            body = {"errorType": type(error).__name__, "errorMessage": str(error)}
        shown["Payload"] = io.BytesIO(json.dumps(body).encode())
        return _Http(), shown | {"ResponseMetadata": {"HTTPStatusCode": 200, "RetryAttempts": 0, "HTTPHeaders": {}}}

    events = boto3.DEFAULT_SESSION.events
    events.register("provide-client-params.lambda.Invoke", keep)
    events.register("before-call.lambda.Invoke", answer)
    try:
        yield
    finally:
        events.unregister("provide-client-params.lambda.Invoke", keep)
        events.unregister("before-call.lambda.Invoke", answer)
