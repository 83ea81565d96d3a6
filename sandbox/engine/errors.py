"""What can go wrong: inside a state machine (data that Retry and Catch match) and in a call of the API."""

from __future__ import annotations

STATES_ALL = "States.ALL"
STATES_TASK_FAILED = "States.TaskFailed"
STATES_TIMEOUT = "States.Timeout"
STATES_HEARTBEAT_TIMEOUT = "States.HeartbeatTimeout"
STATES_RUNTIME = "States.Runtime"
STATES_DATA_LIMIT_EXCEEDED = "States.DataLimitExceeded"


class StateFailed(Exception):
    """A state failed with an error that Retry and Catch may match.

    error, cause: None where a Fail state names none. only_by_name: States.ALL does not match it.
    """

    def __init__(self, error: str | None, cause: str | None = None, *, only_by_name: bool = False) -> None:
        super().__init__(error, cause)
        self.error = error
        self.cause = cause
        self.only_by_name = only_by_name

    def matches(self, error_equals: list[str]) -> bool:
        """Say whether one of a retrier's or catcher's names means this error."""
        if self.error in error_equals:
            return True
        if STATES_ALL in error_equals:
            return not self.only_by_name
        if STATES_TASK_FAILED in error_equals:
            return self.error not in (STATES_TIMEOUT, STATES_HEARTBEAT_TIMEOUT) and not self.only_by_name
        return STATES_TIMEOUT in error_equals and self.error == STATES_HEARTBEAT_TIMEOUT


class ExecutionFailed(Exception):
    """The whole execution fails at once: no Retry or Catch sees it (States.Runtime, a full history)."""

    def __init__(self, error: str, cause: str) -> None:
        super().__init__(error, cause)
        self.error = error
        self.cause = cause


class StateRuntimeError(Exception):
    """A state cannot be executed as written (a path without a value, a wrong type).

    Becomes States.Runtime, with the state's name and event id put before the message.
    """


class ApiError(Exception):
    """A call was refused; the class's name is AWS's error code."""


class InvalidDefinition(ApiError):
    """The definition cannot be run. `problems` names each thing that is wrong."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("Invalid State Machine Definition: " + "; ".join(problems))
        self.problems = problems


class StateMachineAlreadyExists(ApiError): ...


class StateMachineDoesNotExist(ApiError): ...


class ExecutionDoesNotExist(ApiError): ...


class ExecutionAlreadyExists(ApiError): ...


class ExecutionNotRedrivable(ApiError): ...


class InvalidExecutionInput(ApiError): ...


class InvalidName(ApiError): ...


class InvalidToken(ApiError): ...


class InvalidOutput(ApiError): ...


class TaskDoesNotExist(ApiError): ...


class TaskTimedOut(ApiError): ...


class ResourceNotFound(ApiError): ...


class ValidationException(ApiError): ...
