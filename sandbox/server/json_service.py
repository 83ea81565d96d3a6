"""AWS's JSON protocol, for the two services that the sandbox answers itself: Step Functions and DynamoDB's items."""

from __future__ import annotations

import base64
import json
from datetime import datetime
from functools import cache
from typing import Any

import botocore.session
from botocore.model import OperationModel, ServiceModel
from botocore.validate import ParamValidator

from sandbox.dynamodb import DynamoDB, DynamoDBError
from sandbox.gateway import Answer
from sandbox.server.answers import json_answer, json_error
from sandbox.server.requests import Request
from sandbox.workflows import WorkflowError, Workflows


@cache
def _model(service: str) -> ServiceModel:
    return botocore.session.get_session().get_service_model(service)


def answer_workflows(workflows: Workflows, request: Request) -> Answer:
    """Answer a request to Step Functions."""
    operation = request.target
    if operation not in Workflows.OPERATIONS:
        if operation in _model("stepfunctions").operation_names:
            return json_error("NotSupportedBySandbox", f"the sandbox's Step Functions does not have {operation}")
        return json_error("UnknownOperationException", f"Step Functions has no operation {operation!r}")
    parameters = _read(request)
    if parameters is None:
        return json_error("SerializationException", "The request's body is not a JSON object")
    if problem := _problem(_model("stepfunctions").operation_model(operation), parameters):
        return json_error("ValidationException", problem)
    try:
        return json_answer(workflows.call(operation, parameters), _plain)
    except WorkflowError as error:
        return json_error(error.code, str(error))


def is_item_operation(request: Request) -> bool:
    return request.target in DynamoDB.OPERATIONS


def answer_items(dynamodb: DynamoDB, request: Request) -> Answer:
    """Answer a request for DynamoDB's items."""
    parameters = _read(request)
    if parameters is None:
        return json_error("com.amazon.coral.service#SerializationException", "The request's body is not a JSON object")
    try:
        return json_answer(dynamodb.call(request.target, parameters), _plain)
    except DynamoDBError as error:
        prefix = (
            "com.amazon.coral.validate#" if error.code == "ValidationException" else "com.amazonaws.dynamodb.v20120810#"
        )
        return json_error(f"{prefix}{error.code}", error.message, error.details, default=_plain)


def _read(request: Request) -> dict[str, Any] | None:
    try:
        parameters = json.loads(request.body or b"{}")
    except ValueError:
        return None
    return parameters if isinstance(parameters, dict) else None


def _problem(operation: OperationModel, parameters: dict[str, Any]) -> str:
    """Return what is missing or of a wrong type, as AWS's own check would; "" where nothing is."""
    shape = operation.input_shape
    report = ParamValidator().validate(parameters, shape)
    unknown = sorted(set(parameters) - set(shape.members))
    return str(report.generate_report()) if report.has_errors() else f"unknown fields: {unknown}" if unknown else ""


def _plain(value: Any) -> Any:
    """Return what JSON cannot say by itself: moments as seconds since 1970, binary as base64."""
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    raise TypeError(f"{type(value).__name__} has no place in an answer")
