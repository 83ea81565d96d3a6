"""Every boto3 call made by a function passes here: is it allowed, how long does it take, who answers it.

DynamoDB's items and Step Functions are answered in process, before anything is signed or sent; the rest goes on to
moto. A call outside any function (a test, the operator's command) has no role and takes no time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sandbox.dynamodb import DynamoDB, DynamoDBError
from sandbox.functions import Functions, Invocation
from sandbox.permissions import NotAllowed, Permissions
from sandbox.scheduler import Scheduler
from sandbox.workflows import WorkflowError, Workflows

_PREFIX = {"sfn": "states", "eventbridge": "events", "secrets-manager": "secretsmanager"}
_TRANSACT = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem"}


@dataclass(frozen=True)
class _Http:
    """The part of an HTTP answer that botocore looks at."""

    status_code: int


@dataclass
class Calls:
    """The hooks on a botocore session."""

    scheduler: Scheduler
    functions: Functions
    dynamodb: DynamoDB
    workflows: Workflows
    permissions: Permissions
    latency: Callable[[], float]
    account: str
    region: str

    def install(self, events: Any) -> None:
        """Register on a session's events; every client made from it afterwards is covered."""
        events.register("provide-client-params", self._keep_parameters)
        events.register("before-call", self._answer)

    def _keep_parameters(self, params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        context["paceline_parameters"] = params

    def _answer(self, model: Any, context: dict[str, Any], **_: Any) -> tuple[_Http, dict[str, Any]] | None:
        service, operation = model.service_model.service_id.hyphenize(), model.name
        parameters = context.get("paceline_parameters", {})
        invocation = self.functions.running()
        try:
            if invocation is not None:
                self._check_allowed(invocation, service, operation, parameters)
            if service == "dynamodb" and operation in DynamoDB.OPERATIONS:
                return _ok(self.dynamodb.call(operation, parameters))
            if invocation is not None:
                self.scheduler.sleep(self.latency())
            if service == "sfn" and operation in Workflows.OPERATIONS:
                return _ok(self.workflows.call(operation, parameters))
        except DynamoDBError as error:
            return _error(error.code, error.message, **error.details)
        except WorkflowError as error:
            return _error(error.code, str(error))
        except NotAllowed as error:
            return _error("AccessDeniedException", str(error))
        return None

    def _check_allowed(self, invocation: Invocation, service: str, operation: str, parameters: dict[str, Any]) -> None:
        function = invocation.function
        for action, resource in self._actions(service, operation, parameters):
            self.permissions.check(function.role_arn, f"function {function.name}", action, resource)

    def _actions(self, service: str, operation: str, parameters: dict[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield the IAM actions that a call needs, each with its resource."""
        if service == "dynamodb":
            yield from self._table_actions(operation, parameters)
        elif service == "s3":
            bucket, key = parameters["Bucket"], parameters.get("Key")
            yield f"s3:{operation}", f"arn:aws:s3:::{bucket}" + (f"/{key}" if key is not None else "")
        else:
            yield f"{_PREFIX.get(service, service)}:{operation}", self._resource(service, parameters)

    def _table_actions(self, operation: str, parameters: dict[str, Any]) -> Iterator[tuple[str, str]]:
        if operation == "TransactWriteItems":
            for item in parameters["TransactItems"]:
                for kind, action in item.items():
                    yield f"dynamodb:{_TRANSACT[kind]}", self._table_arn(action["TableName"])
        elif operation in ("BatchGetItem", "BatchWriteItem"):
            for table in parameters["RequestItems"]:
                yield f"dynamodb:{operation}", self._table_arn(table)
        else:
            yield f"dynamodb:{operation}", self._table_arn(parameters["TableName"])

    def _table_arn(self, table: str) -> str:
        return f"arn:aws:dynamodb:{self.region}:{self.account}:table/{table}"

    def _resource(self, service: str, parameters: dict[str, Any]) -> str:
        if service == "sfn":
            return str(parameters.get("stateMachineArn") or parameters.get("executionArn") or "*")
        if service == "eventbridge":
            bus = parameters["Entries"][0].get("EventBusName", "default")
            return f"arn:aws:events:{self.region}:{self.account}:event-bus/{bus}"
        if service == "secrets-manager":  # a secret's ARN ends with six characters of AWS's choice
            return f"arn:aws:secretsmanager:{self.region}:{self.account}:secret:{parameters['SecretId']}-a1b2c3"
        return "*"


def _ok(answer: dict[str, Any]) -> tuple[_Http, dict[str, Any]]:
    return _Http(200), {**answer, "ResponseMetadata": {"HTTPStatusCode": 200, "RetryAttempts": 0}}


def _error(code: str, message: str, **details: Any) -> tuple[_Http, dict[str, Any]]:
    metadata = {"HTTPStatusCode": 400, "RetryAttempts": 0}
    return _Http(400), {"Error": {"Code": code, "Message": message}, "ResponseMetadata": metadata, **details}
