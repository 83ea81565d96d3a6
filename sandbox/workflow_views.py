"""State machines, executions and histories as the Step Functions API shows them."""

from __future__ import annotations

from typing import Any

from sandbox.engine import Execution
from sandbox.engine.engine import StateMachine
from sandbox.engine.errors import InvalidToken
from sandbox.engine.executions import UNSUCCESSFUL
from sandbox.engine.history import History
from sandbox.pages import last_before, size_of, token_after

# What GetExecutionHistory leaves out of an event with includeExecutionData=false.
_DATA = frozenset({"input", "output", "inputDetails", "outputDetails", "parameters", "resourceParameters"})


def machine_in_list(machine: StateMachine) -> dict[str, Any]:
    return {
        "stateMachineArn": machine.arn,
        "name": machine.name,
        "type": machine.type,
        "creationDate": machine.creation_date,
    }


def machine_described(machine: StateMachine, settings: dict[str, Any]) -> dict[str, Any]:
    """settings: the logging and tracing configuration it was created with; the sandbox only keeps them."""
    return {
        **machine_in_list(machine),
        "status": machine.status,
        "definition": machine.definition,
        "roleArn": machine.role_arn,
        "loggingConfiguration": {"level": "OFF", "includeExecutionData": False},
        "tracingConfiguration": {"enabled": False},
        **settings,
    }


def execution_in_list(execution: Execution) -> dict[str, Any]:
    shown = {
        "executionArn": execution.arn,
        "stateMachineArn": execution.state_machine_arn,
        "stateMachineVersionArn": execution.version_arn,
        "stateMachineAliasArn": execution.alias_arn,
        "name": execution.name,
        "status": execution.status,
        "startDate": execution.start_date,
        "stopDate": execution.stop_date,
        "mapRunArn": execution.map_run_arn,
        "itemCount": execution.item_count if execution.map_run_arn else None,
        "redriveCount": execution.redrive_count,
        "redriveDate": execution.redrive_date,
    }
    return _present(shown)


def execution_described(execution: Execution, *, with_data: bool = True) -> dict[str, Any]:
    shown: dict[str, Any] = {name: v for name, v in execution_in_list(execution).items() if name != "itemCount"}
    if with_data:
        shown |= {"input": execution.input, "output": execution.output}
    shown["inputDetails"] = {"included": with_data}
    if execution.output is not None:
        shown["outputDetails"] = {"included": with_data}
    return _present(
        shown
        | {
            "error": execution.error,
            "cause": execution.cause,
            "redriveStatus": execution.redrive_status,
            "redriveStatusReason": _why_not_redrivable(execution),
        }
    )


def history_page(log: History, parameters: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return a page of a history and, where more follow, {"nextToken": …}; only the page's events are made.

    A history is asked for again and again while it grows, and an event's id is its place: a page costs what it shows.
    Raises: InvalidToken, ValidationException.
    """
    size, length, token = size_of(parameters), len(log), parameters.get("nextToken")
    is_reverse = parameters.get("reverseOrder")
    shown_last = length + 1 if is_reverse else 0
    if token is not None:
        key = last_before(token)
        if not key.isascii() or not key.isdigit() or not 1 <= int(key) <= length:
            raise InvalidToken(f"Invalid Token: '{token}'")
        shown_last = int(key)
    if is_reverse:
        first = max(1, shown_last - size)
        events, is_end = log.events(first, shown_last - 1)[::-1], first == 1
    else:
        last = min(length, shown_last + size)
        events, is_end = log.events(shown_last + 1, last), last == length
    return events, {} if is_end else token_after(str(events[-1]["id"]))


def event_without_data(event: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {key: v for key, v in value.items() if key not in _DATA} if isinstance(value, dict) else value
        for name, value in event.items()
    }


def _why_not_redrivable(execution: Execution) -> str | None:
    if execution.status in UNSUCCESSFUL:
        return None
    return f"Execution is {execution.status} and cannot be redriven"


def _present(shown: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in shown.items() if value is not None}
