"""What a Task's Resource stands for. Each integration records its events and returns its result."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from paceline.moments import MICROSECONDS
from sandbox.engine.documents import Document, is_too_large, to_text
from sandbox.engine.errors import STATES_HEARTBEAT_TIMEOUT, STATES_TIMEOUT, StateFailed, StateRuntimeError
from sandbox.engine.executions import Branch
from sandbox.engine.integrations import TaskFailed
from sandbox.engine.states.base import data_limit_exceeded
from sandbox.engine.tokens import Callback

FUNCTION_ARN = re.compile(r"arn:aws[\w-]*:lambda:[\w-]+:\d{12}:function:[\w-]+(?::[\w$-]+)?")
OPTIMIZED = {
    "arn:aws:states:::lambda:invoke",
    "arn:aws:states:::lambda:invoke.waitForTaskToken",
    "arn:aws:states:::events:putEvents",
}


@dataclass(frozen=True)
class Limits:
    """Seconds, or None where there is no limit."""

    timeout: int | None
    heartbeat: int | None

    def details(self) -> dict[str, Any]:
        named = (("timeoutInSeconds", self.timeout), ("heartbeatInSeconds", self.heartbeat))
        return {name: seconds for name, seconds in named if seconds is not None}


class Integration:
    def run(self, branch: Branch, payload: Callable[[], Document], limits: Limits) -> Document:
        """Raises: StateFailed, StateRuntimeError."""
        raise NotImplementedError


def integration_for(resource: str) -> Integration:
    """Return the integration of a Resource. Raises: ValueError, naming what is not supported."""
    if FUNCTION_ARN.fullmatch(resource):
        return FunctionByArn(resource)
    if resource not in OPTIMIZED:
        raise ValueError(f"the resource {resource!r} is not supported by the sandbox")
    service, action = resource.removeprefix("arn:aws:states:::").split(":")
    return PutEvents(service, action) if service == "events" else InvokeFunction(service, action)


def _call(branch: Branch, call: Callable[[], Any], limits: Limits) -> Any:
    """Make a call that goes on, as on AWS, when this side stops waiting. Raises: StateFailed."""
    task = branch.runtime.scheduler.spawn(call)
    try:
        return task.wait(limits.timeout)
    except TaskFailed as failure:
        raise StateFailed(failure.error, failure.cause) from None
    except TimeoutError:
        if task.done:  # the call's own error, not ours
            raise
        raise StateFailed(STATES_TIMEOUT) from None


def _failure_details(failure: StateFailed) -> dict[str, Any]:
    named = (("error", failure.error), ("cause", failure.cause))
    return {name: text for name, text in named if text is not None}


def _suffix(failure: StateFailed) -> str:
    return "TimedOut" if failure.error in (STATES_TIMEOUT, STATES_HEARTBEAT_TIMEOUT) and not failure.cause else "Failed"


class FunctionByArn(Integration):
    """The Resource is a function's ARN: input in, output out."""

    def __init__(self, function_arn: str) -> None:
        self.function_arn = function_arn

    def run(self, branch: Branch, payload: Callable[[], Document], limits: Limits) -> Document:
        data = payload()
        details = {"resource": self.function_arn, "input": data.text, **limits.details()}
        branch.event("LambdaFunctionScheduled", details)
        branch.event("LambdaFunctionStarted")
        try:
            output = self._invoke(branch, data.text, limits)
        except StateFailed as failure:
            branch.event(f"LambdaFunction{_suffix(failure)}", _failure_details(failure))
            raise
        branch.event("LambdaFunctionSucceeded", {"output": output})
        return Document.parse(output)

    def _invoke(self, branch: Branch, payload: str, limits: Limits) -> str:
        invoke, role_arn = branch.runtime.integrations.invoke_function, branch.execution.role_arn
        output: str = _call(branch, lambda: invoke(self.function_arn, payload, role_arn=role_arn), limits)
        if is_too_large(output):
            raise data_limit_exceeded(self.function_arn, only_by_name=False)
        return output


class Optimized(Integration):
    """`arn:aws:states:::service:action[.waitForTaskToken]`, with Parameters."""

    def __init__(self, service: str, action: str) -> None:
        self.resource = {"resourceType": service, "resource": action}
        self.name = f"arn:aws:states:::{service}:{action}"
        self.waits = action.endswith(".waitForTaskToken")

    def request(self, branch: Branch, parameters: Any) -> Callable[[], Any]:
        """Return the call to make. Its result is JSON. Raises: StateRuntimeError, StateFailed."""
        raise NotImplementedError

    def run(self, branch: Branch, payload: Callable[[], Document], limits: Limits) -> Document:
        callback = branch.runtime.tokens.open() if self.waits else None
        branch.task_token = callback.token if callback else None
        try:
            return self._run(branch, payload(), limits, callback)
        finally:
            branch.task_token = None
            if callback is not None:
                branch.runtime.tokens.close(callback)

    def _run(self, branch: Branch, data: Document, limits: Limits, callback: Callback | None) -> Document:
        scheduled = {"region": branch.runtime.region, "parameters": data.text, **self.resource, **limits.details()}
        branch.event("TaskScheduled", scheduled)
        branch.event("TaskStarted", self.resource)
        started = branch.runtime.scheduler.microseconds
        try:
            result = self._result(_call(branch, self.request(branch, data.value), limits))
            if callback is not None:
                branch.event("TaskSubmitted", {**self.resource, "output": result.text})
                result = self._result(Document.parse(_wait(branch, callback, limits, started)).value)
        except StateFailed as failure:
            branch.event(f"Task{_suffix(failure)}", {**self.resource, **_failure_details(failure)})
            raise
        branch.event("TaskSucceeded", {**self.resource, "output": result.text})
        return result

    def _result(self, value: Any) -> Document:
        result = Document(value)
        if is_too_large(result.text):
            raise data_limit_exceeded(self.name, only_by_name=False)
        return result


def _wait(branch: Branch, callback: Callback, limits: Limits, started: int) -> str:
    """Wait for the callback. Raises: StateFailed (the callback's, States.Timeout, States.HeartbeatTimeout)."""
    scheduler = branch.runtime.scheduler
    while True:
        until = started + limits.timeout * MICROSECONDS if limits.timeout is not None else None
        error = STATES_TIMEOUT
        if limits.heartbeat is not None:
            silent = callback.last_heartbeat + limits.heartbeat * MICROSECONDS
            if until is None or silent < until:
                until, error = silent, STATES_HEARTBEAT_TIMEOUT
        if until is not None and scheduler.microseconds >= until and not callback.future.done:
            raise StateFailed(error)
        try:
            left = None if until is None else (until - scheduler.microseconds) / MICROSECONDS
            output: str = callback.future.wait(left)
            return output
        except TimeoutError:
            continue  # perhaps a heartbeat has moved the limit


class InvokeFunction(Optimized):
    def request(self, branch: Branch, parameters: Any) -> Callable[[], Any]:
        if not isinstance(parameters, dict) or not isinstance(parameters.get("FunctionName"), str):
            raise StateRuntimeError("The Parameters of lambda:invoke need a FunctionName")
        name, payload = parameters["FunctionName"], _function_payload(parameters.get("Payload"))
        if "Qualifier" in parameters:
            name = f"{name}:{parameters['Qualifier']}"
        runtime, role_arn = branch.runtime, branch.execution.role_arn

        def call() -> dict[str, Any]:
            output = runtime.integrations.invoke_function(name, payload, role_arn=role_arn)
            return {
                "ExecutedVersion": "$LATEST",
                "Payload": json.loads(output) if output else None,
                "SdkHttpMetadata": {"HttpStatusCode": 200},
                "SdkResponseMetadata": {"RequestId": runtime.new_uuid()},
                "StatusCode": 200,
            }

        return call


def _function_payload(payload: Any) -> str:
    """Return the request body: a string is JSON text already, and nothing is an empty object (recorded on AWS)."""
    if payload is None:
        return "{}"
    if not isinstance(payload, str):
        return to_text(payload)
    try:
        json.loads(payload)
    except ValueError as error:
        cause = f"Could not parse request body into json: {error}"
        raise StateFailed("Lambda.InvalidRequestContentException", cause) from error
    return payload


class PutEvents(Optimized):
    def request(self, branch: Branch, parameters: Any) -> Callable[[], Any]:
        given = parameters.get("Entries") if isinstance(parameters, dict) else None
        if not isinstance(given, list) or not all(isinstance(entry, dict) for entry in given):
            raise StateRuntimeError("The Parameters of events:putEvents need Entries")
        entries = [_entry(entry) for entry in given]
        runtime, role_arn = branch.runtime, branch.execution.role_arn

        def call() -> dict[str, Any]:
            response = runtime.integrations.put_events(entries, role_arn=role_arn)
            if response.get("FailedEntryCount"):
                raise TaskFailed("EventBridge.FailedEntry", to_text(response))
            return {
                **{name: response[name] for name in ("Entries", "FailedEntryCount")},
                "SdkHttpMetadata": {"HttpStatusCode": 200},
                "SdkResponseMetadata": {"RequestId": runtime.new_uuid()},
            }

        return call


def _entry(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry with its Detail as text: in a state machine it may be an object."""
    detail = entry.get("Detail")
    return entry if detail is None or isinstance(detail, str) else {**entry, "Detail": to_text(detail)}
