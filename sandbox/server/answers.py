"""Answers and errors in AWS's shapes."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from html import escape
from typing import Any

from sandbox.gateway import Answer


def request_id() -> str:
    """Return an id for a request's answer; it names nothing inside the sandbox, so it need not be repeatable."""
    return str(uuid.uuid4())


def json_answer(body: object, default: Callable[[Any], Any] | None = None) -> Answer:
    """Return a success of the JSON protocol."""
    return _json(200, body, default)


def json_error(
    code: str,
    message: str,
    details: dict[str, Any] | None = None,
    *,
    status: int = 400,
    default: Callable[[Any], Any] | None = None,
) -> Answer:
    """Return an error of the JSON protocol. details: further keys; a `Message` among them replaces `message`."""
    details = details or {}
    text = {} if "Message" in details else {"message": message}
    return _json(status, {"__type": code, **text, **details}, default)


def error_for(service: str, is_json: bool, status: int, code: str, message: str) -> Answer:
    """Return an error in the protocol that a service's clients read."""
    if is_json:
        return json_error(code, message, status=status)
    if service == "lambda":
        headers = {"content-type": "application/json", "x-amzn-errortype": code, "x-amzn-requestid": request_id()}
        return Answer(status, headers, json.dumps({"Type": "User", "Message": message}).encode())
    error = f"<Error><Code>{escape(code)}</Code><Message>{escape(message)}</Message></Error>"
    body = error if service == "s3" else f"<ErrorResponse>{error}<RequestId>{request_id()}</RequestId></ErrorResponse>"
    return Answer(status, {"content-type": "text/xml"}, body.encode())


def _json(status: int, body: object, default: Callable[[Any], Any] | None) -> Answer:
    headers = {"content-type": "application/x-amz-json-1.0", "x-amzn-requestid": request_id()}
    return Answer(status, headers, json.dumps(body, default=default).encode())
