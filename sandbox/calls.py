"""Every boto3 call made by a function passes here: is it allowed, how long does it take, who answers it.

DynamoDB's items, S3's objects and Step Functions are answered in process, before anything is signed or sent; the rest
goes on to moto. A call outside any function (a test, the operator's command) has no role and takes no time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from botocore.client import BaseClient
from botocore.exceptions import ClientError, ReadTimeoutError

from sandbox.dynamodb import DynamoDB, DynamoDBError
from sandbox.end_user_messaging import EndUserMessaging, MessagingError
from sandbox.faults import Fault, Faults
from sandbox.functions import Functions, Invocation
from sandbox.objects import Objects
from sandbox.permissions import NotAllowed, Permissions
from sandbox.scheduler import Scheduler
from sandbox.workflows import WorkflowError, Workflows

_PREFIX = {
    "stepfunctions": "states",
    "pinpoint-sms-voice-v2": "sms-voice",
}  # IAM's name of a service, where it is not boto3's
_ACTION = {("lambda", "Invoke"): "InvokeFunction"}  # and of an operation
_METADATA = {"ResponseMetadata": {"HTTPStatusCode": 200, "RetryAttempts": 0}}
_TRANSACT = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem"}


# How long a client waits for an answer that does not come: `paceline.bootstrap` gives it this long.
LOST_SECONDS = 8.0


@dataclass
class Calls:
    """Stands in for every client's call from `install` to `uninstall`.

    watchers: told of each call, by its service and its name.
    """

    scheduler: Scheduler
    functions: Functions
    dynamodb: DynamoDB
    workflows: Workflows
    messaging: EndUserMessaging
    objects: Objects
    permissions: Permissions
    latency: Callable[[], float]
    account: str
    region: str
    faults: Faults
    watchers: list[Callable[[str, str], None]] = field(default_factory=list)

    def install(self) -> None:
        """Take over botocore's one method behind all operations.

        Its `before-call` event would do, and costs a third of a run: it comes after the endpoint was resolved and the
        request built, which nobody reads here.
        """
        calls, original = self, BaseClient._make_api_call
        self._original = original

        def make_api_call(client: Any, operation: str, parameters: dict[str, Any]) -> Any:
            service = client.meta.service_model.service_name

            def act() -> Any:
                for watcher in calls.watchers:
                    watcher(service, operation)
                answer = calls._answer(client, service, operation, parameters)
                if answer is not None:
                    return answer
                # Its own parameters: botocore puts a stream in a body's place; asked again, it would read its end.
                return calls._ask_moto(client, operation, dict(parameters), original)

            return calls._meet(client, service, operation, act)

        BaseClient._make_api_call = make_api_call

    def uninstall(self) -> None:
        BaseClient._make_api_call = self._original

    def _meet(self, client: Any, service: str, operation: str, act: Callable[[], Any]) -> Any:
        """Make the call as the run's faults let it; a call outside any function has none."""
        if (invocation := self.functions.running()) is None:
            return act()

        def refuse(fault: Fault) -> Any:
            if fault is Fault.LOST:
                self.scheduler.sleep(LOST_SECONDS)
                raise ReadTimeoutError(endpoint_url=f"https://{service}.{self.region}.amazonaws.com")
            code, status = _refusal(service, fault)
            raise _error(client, operation, code, "refused by the run's faults", status)

        return self.faults.meet(
            invocation.function.folder,
            f"{_PREFIX.get(service, service)}:{operation}",
            act,
            kill=self.functions.kill_running,
            orphan=self.functions.orphan_running,
            refuse=refuse,
            is_idempotent=operation == "TransactWriteItems",  # by the token that botocore gives each
            asks_again=(client.meta.config.retries or {}).get("total_max_attempts") != 1,
        )

    def _answer(self, client: Any, service: str, operation: str, parameters: dict[str, Any]) -> dict[str, Any] | None:
        """Return the operation's answer, or None where moto has it. Raises: ClientError, as the client would."""
        invocation = self.functions.running()
        try:
            if invocation is not None:
                self.scheduler.check_open()
                self._check_allowed(invocation, service, operation, parameters)
            if service == "dynamodb" and operation in DynamoDB.OPERATIONS:
                return self.dynamodb.call(operation, parameters) | _METADATA
            if invocation is not None:
                self.scheduler.sleep(self.latency())
            if service == "s3" and (answer := self.objects.call(operation, parameters)) is not None:
                return answer | _METADATA
            if service == "lambda" and operation == "Invoke" and invocation is not None:
                return self._invoke(parameters) | _METADATA
            if service == "stepfunctions" and operation in Workflows.OPERATIONS:
                return self.workflows.call(operation, parameters) | _METADATA
            if service == "pinpoint-sms-voice-v2" and operation in EndUserMessaging.OPERATIONS:
                return self.messaging.call(operation, parameters) | _METADATA
        except MessagingError as error:
            raise _error(client, operation, error.code, error.message, **error.details) from None
        except DynamoDBError as error:
            raise _error(client, operation, error.code, error.message, **error.details) from None
        except WorkflowError as error:
            raise _error(client, operation, error.code, str(error)) from None
        except NotAllowed as error:
            raise _error(client, operation, "AccessDeniedException", str(error)) from None
        return None

    def _ask_moto(self, client: Any, operation: str, parameters: dict[str, Any], call: Callable[..., Any]) -> Any:
        """Make a call to moto. Raises: ClientError; of S3, that an object is not there only to a role that may list."""
        try:
            return call(client, operation, parameters)
        except ClientError as error:
            invocation = self.functions.running()
            if invocation is None or error.response["Error"]["Code"] != "NoSuchKey":
                raise
            if not self.permissions.may_list(invocation.function.role_arn, parameters["Bucket"]):
                raise _error(client, operation, "AccessDenied", "Access Denied", 403) from None
            raise

    def _invoke(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Hand an event to another function. Raises: NotImplementedError, where the caller would wait for it."""
        if parameters.get("InvocationType") != "Event":
            raise NotImplementedError("the sandbox's functions invoke each other as events only")
        self.functions.invoke_event(parameters["FunctionName"], parameters.get("Payload", "{}"))
        return {"StatusCode": 202}

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
            action = _ACTION.get((service, operation), operation)
            yield f"{_PREFIX.get(service, service)}:{action}", self._resource(service, parameters)

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
        if service == "stepfunctions":
            machine = ":".join(str(parameters.get("stateMachineArn", "")).split(":")[:7])  # IAM: without the alias
            return machine or str(parameters.get("executionArn") or "*")
        if service == "lambda":
            return self.functions.get(parameters["FunctionName"]).arn
        if service == "events":
            bus = parameters["Entries"][0].get("EventBusName", "default")
            return f"arn:aws:events:{self.region}:{self.account}:event-bus/{bus}"
        if service == "pinpoint-sms-voice-v2":
            sender = parameters["OriginationIdentity"]
            kind = "pool" if sender.startswith("pool-") else "phone-number"
            return f"arn:aws:sms-voice:{self.region}:{self.account}:{kind}/{sender}"
        if service == "secretsmanager":  # a secret's ARN ends with six characters of AWS's choice
            return f"arn:aws:secretsmanager:{self.region}:{self.account}:secret:{parameters['SecretId']}-a1b2c3"
        return "*"


def _refusal(service: str, fault: Fault) -> tuple[str, int]:
    """Return the code and the HTTP status with which a service refuses a call, its client's own tries all spent."""
    if fault is Fault.THROTTLED:
        code = {"dynamodb": "ProvisionedThroughputExceededException", "s3": "SlowDown"}.get(service)
        return code or "ThrottlingException", 503 if service == "s3" else 400
    code = {"dynamodb": "InternalServerError", "s3": "InternalError"}.get(service)
    return code or "InternalFailure", 500


def _error(client: Any, operation: str, code: str, message: str, status: int = 400, **details: Any) -> Exception:
    """Return the error that the client raises for a refusal: its own class for the code, where it has one."""
    metadata = {"HTTPStatusCode": status, "RetryAttempts": 0}
    response = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": metadata, **details}
    error: Exception = client.exceptions.from_code(code)(response, operation)
    return error
