"""The checks of one state by itself: its fields, paths, templates, numbers, Retry and Catch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sandbox.engine import fields
from sandbox.engine.choice import compile_rule
from sandbox.engine.field_checks import (
    check_fields,
    check_path,
    check_template,
    check_whole,
    is_whole,
)
from sandbox.engine.map_checks import check_map
from sandbox.engine.states.task_integrations import integration_for
from sandbox.engine.states.wait import MAXIMUM_SECONDS
from sandbox.engine.templates import compile_expression
from sandbox.engine.timestamps import parse_timestamp

Check = Callable[[dict[str, Any], str], Iterator[str]]


def check_state(state: dict[str, Any], where: str) -> Iterator[str]:
    """Yield the problems of a state, without those of machines inside it."""
    state_type = state.get("Type")
    if state_type not in fields.STATES:
        yield f"{where}/Type: there is no state type {state_type!r}"
        return
    yield from check_fields(state, where, fields.STATES[state_type])
    yield from _check_flow(state, where)
    for name in ("InputPath", "OutputPath"):
        yield from check_path(state, name, where)
    yield from check_path(state, "ResultPath", where, is_reference=True)
    for name in ("Parameters", "ResultSelector"):
        yield from check_template(state, name, where)
    yield from _check_retry(state, where)
    yield from _check_catch(state, where)
    if state_type in _BY_TYPE:
        yield from _BY_TYPE[state_type](state, where)


def _check_flow(state: dict[str, Any], where: str) -> Iterator[str]:
    if state["Type"] in ("Choice", "Succeed", "Fail"):
        return
    if ("Next" in state) == (state.get("End") is True):
        yield f"{where}: exactly one of Next and End is needed"


def _check_error_equals(entry: Any, where: str, is_last: bool) -> Iterator[str]:
    names = entry.get("ErrorEquals") if isinstance(entry, dict) else None
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        yield f"{where}/ErrorEquals: a list of error names is needed"
    elif "States.ALL" in names and (len(names) > 1 or not is_last):
        yield f"{where}/ErrorEquals: States.ALL must stand alone, and last"


def _check_retry(state: dict[str, Any], where: str) -> Iterator[str]:
    retriers = state.get("Retry", [])
    for number, retrier in enumerate(retriers):
        here = f"{where}/Retry[{number}]"
        yield from _check_error_equals(retrier, here, number == len(retriers) - 1)
        yield from check_fields(retrier, here, fields.RETRIER)
        yield from check_whole(retrier, "IntervalSeconds", here, 1, MAXIMUM_SECONDS)
        yield from check_whole(retrier, "MaxAttempts", here, 0, MAXIMUM_SECONDS)
        yield from check_whole(retrier, "MaxDelaySeconds", here, 1, 31_622_400)
        rate = retrier.get("BackoffRate", 1.0)
        if isinstance(rate, bool) or not isinstance(rate, (int, float)) or rate < 1:
            yield f"{here}/BackoffRate: must be a number from 1.0"
        if retrier.get("JitterStrategy", "NONE") not in ("NONE", "FULL"):
            yield f"{here}/JitterStrategy: must be NONE or FULL"
        if retrier.get("MaxDelaySeconds", MAXIMUM_SECONDS) <= retrier.get("IntervalSeconds", 1):
            yield f"{here}/MaxDelaySeconds: must be greater than IntervalSeconds"


def _check_catch(state: dict[str, Any], where: str) -> Iterator[str]:
    catchers = state.get("Catch", [])
    for number, catcher in enumerate(catchers):
        here = f"{where}/Catch[{number}]"
        yield from _check_error_equals(catcher, here, number == len(catchers) - 1)
        yield from check_fields(catcher, here, fields.CATCHER)
        yield from check_path(catcher, "ResultPath", here, is_reference=True)
        if "Next" not in catcher:
            yield f"{here}/Next: is missing"


def _check_task(state: dict[str, Any], where: str) -> Iterator[str]:
    try:
        integration_for(state.get("Resource", ""))
    except ValueError as error:
        yield f"{where}/Resource: {error}"
    for name in ("TimeoutSeconds", "HeartbeatSeconds"):
        yield from check_whole(state, name, where, 1, MAXIMUM_SECONDS, path_too=True)
    timeout, heartbeat = state.get("TimeoutSeconds"), state.get("HeartbeatSeconds")
    if timeout is not None and heartbeat is not None and is_whole(timeout) and is_whole(heartbeat, timeout):
        yield f"{where}/HeartbeatSeconds: must be less than TimeoutSeconds"


def _check_choice(state: dict[str, Any], where: str) -> Iterator[str]:
    rules = state.get("Choices")
    if not isinstance(rules, list) or not rules:
        yield f"{where}/Choices: at least one rule is needed"
        return
    for number, rule in enumerate(rules):
        here = f"{where}/Choices[{number}]"
        if not isinstance(rule, dict) or "Next" not in rule:
            yield f"{here}/Next: is missing"
            continue
        for name in fields.UNSUPPORTED.keys() & rule.keys():
            yield f"{here}/{name}: {fields.UNSUPPORTED[name]} is not supported by the sandbox"
        try:
            compile_rule(rule)
        except (ValueError, TypeError) as error:
            yield f"{here}: {error}"


def _check_wait(state: dict[str, Any], where: str) -> Iterator[str]:
    names = [name for name in ("Seconds", "SecondsPath", "Timestamp", "TimestampPath") if name in state]
    if len(names) != 1:
        yield f"{where}: exactly one of Seconds, SecondsPath, Timestamp and TimestampPath is needed"
    yield from check_whole(state, "Seconds", where, 0, MAXIMUM_SECONDS)
    for name in ("SecondsPath", "TimestampPath"):
        yield from check_path(state, name, where)
    if "Timestamp" in state and parse_timestamp(state["Timestamp"]) is None:
        yield f"{where}/Timestamp: must be an ISO 8601 date-time with an offset"


def _check_fail(state: dict[str, Any], where: str) -> Iterator[str]:
    for name in ("Error", "Cause"):
        path = f"{name}Path"
        if name in state and path in state:
            yield f"{where}: only one of {name} and {path} is possible"
        if not isinstance(state.get(name, ""), str):
            yield f"{where}/{name}: must be a string"
        if path in state:
            try:
                compile_expression(path, state[path])
            except (ValueError, AttributeError) as error:
                yield f"{where}/{path}: {error}"


_BY_TYPE: dict[str, Check] = {
    "Task": _check_task, "Choice": _check_choice, "Wait": _check_wait, "Fail": _check_fail, "Map": check_map,
}  # fmt: skip
