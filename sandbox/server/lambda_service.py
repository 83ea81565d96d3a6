"""Lambda's Invoke, as its HTTP API speaks."""

from __future__ import annotations

import json
import re
from urllib.parse import unquote

from sandbox.engine import TaskFailed
from sandbox.functions import MAX_PAYLOAD_BYTES, Function
from sandbox.gateway import Answer
from sandbox.server.answers import error_for, request_id
from sandbox.server.requests import LAMBDA_PATH, Request
from sandbox.world import Sandbox

_INVOKE = re.compile(rf"{LAMBDA_PATH}/([^/]+)/invocations")


def is_invoke(request: Request) -> bool:
    return request.method == "POST" and _INVOKE.fullmatch(unquote(request.path)) is not None


def answer_invoke(sandbox: Sandbox, request: Request) -> Answer:
    """Invoke a function. Only inside a task of the scheduler."""
    match = _INVOKE.fullmatch(unquote(request.path))
    assert match is not None
    function = _find(sandbox, match[1])
    if function is None:
        message = f"Function not found: {match[1]} (the sandbox runs the template's functions only)"
        return error_for("lambda", False, 404, "ResourceNotFoundException", message)
    if len(request.body) > MAX_PAYLOAD_BYTES:
        message = f"{len(request.body)} byte payload is too large for the RequestResponse invocation type"
        return error_for("lambda", False, 413, "RequestTooLargeException", message)
    try:
        payload = json.dumps(json.loads(request.body or b"{}"))
    except ValueError as error:
        message = f"Could not parse request body into json: {error}"
        return error_for("lambda", False, 400, "InvalidRequestContentException", message)
    match request.headers.get("x-amz-invocation-type", "RequestResponse"):
        case "RequestResponse":
            return _invoke(sandbox, function, payload)
        case "Event":
            sandbox.functions.invoke_event(function.name, payload)
            return Answer(202, _headers(), b"")
        case "DryRun":
            return Answer(204, _headers(), b"")
        case other:
            return error_for("lambda", False, 400, "InvalidParameterValueException", f"no invocation type {other!r}")


def _invoke(sandbox: Sandbox, function: Function, payload: str) -> Answer:
    try:
        return Answer(200, _headers(), sandbox.functions.invoke(function.name, payload).encode())
    except TaskFailed as failed:
        cause = json.loads(failed.cause or "{}")
        body = {"errorType": failed.error, "errorMessage": "", **cause}
        return Answer(200, _headers() | {"x-amz-function-error": "Unhandled"}, json.dumps(body).encode())


def _find(sandbox: Sandbox, name: str) -> Function | None:
    """Return a function by its name, its ARN (whole or partial, a version behind it or not) or its logical name."""
    if name.startswith("arn:") or ":function:" in name:
        name = name.rpartition(":function:")[2]
    name = name.partition(":")[0]
    try:
        return sandbox.functions.get(sandbox.names.get(name, name))
    except TaskFailed:
        return None


def _headers() -> dict[str, str]:
    return {
        "content-type": "application/json",
        "x-amz-executed-version": "$LATEST",
        "x-amzn-requestid": request_id(),
    }
