"""State machines: can the engine run them, do they fit cfn-lint's schema of ASL, and do they keep our own rules."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from console.checks import Problem
from console.checks.linting import lint
from paceline import errors
from paceline.errors import PacelineError
from sandbox.engine import validate

# https://docs.aws.amazon.com/step-functions/latest/dg/concepts-error-handling.html, and Lambda's own.
AWS_ERRORS = {
    "States.ALL", "States.DataLimitExceeded", "States.ExceedToleratedFailureThreshold", "States.HeartbeatTimeout",
    "States.Http.Socket", "States.IntrinsicFailure", "States.ItemReaderFailed", "States.NoChoiceMatched",
    "States.ParameterPathFailure", "States.Permissions", "States.QueryEvaluationError", "States.ResultPathMatchFailure",
    "States.ResultWriterFailed", "States.Runtime", "States.TaskFailed", "States.Timeout",
    "Lambda.AWSLambdaException", "Lambda.ClientExecutionTimeoutException", "Lambda.ResourceNotFoundException",
    "Lambda.SdkClientException", "Lambda.ServiceException", "Lambda.TooManyRequestsException", "Lambda.Unknown",
    "Runtime.ExitError", "Sandbox.Timedout",
}  # fmt: skip
# What an optimised integration reports is the service's own list: `S3.NoSuchKeyException`, `EventBridge.…`.
AWS_PREFIXES = ("DynamoDB.", "EventBridge.", "S3.")
SUBSTITUTION = re.compile(r"\$\{(\w+)\}")


def our_errors() -> set[str]:
    """Return the names of the errors that our functions raise."""
    return {
        name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, PacelineError)
    }


def check_definition(path: Path, name: str) -> Iterator[Problem]:
    """Yield what is wrong with one state machine. name: what the file is called in the answer."""
    try:
        definition = json.loads(path.read_text())
    except ValueError as error:
        yield Problem(name, "", f"not JSON: {error}")
        return
    found = [_engine_problem(name, text) for text in validate(definition)]
    yield from found
    places = {problem.place for problem in found}  # the schema says the same of these in other words
    yield from (problem for problem in _check_schema(definition, name) if problem.place not in places)
    for place, state in walk(definition):
        yield from _check_state(state, place, name)


def _engine_problem(name: str, text: str) -> Problem:
    place, _, what = text.partition(": ")
    return Problem(name, place, what) if text.startswith("/") else Problem(name, "", text)


def _check_schema(definition: Any, name: str) -> Iterator[Problem]:
    """Let cfn-lint judge the definition: its schema of ASL is that of rule E3601, which wants a template around it."""
    properties = {"RoleArn": "arn:aws:iam::123456789012:role/check", "Definition": definition}
    resource = {"Type": "AWS::StepFunctions::StateMachine", "Properties": properties}
    for match in lint(json.dumps({"Resources": {"Machine": resource}})):
        if match.rule.id == "E3601":
            yield Problem(name, "/" + "/".join(map(str, list(match.path or [])[4:])), match.message)


def walk(machine: Any, where: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every state of a definition with its place, those of inner machines too."""
    states = machine.get("States") if isinstance(machine, dict) else None
    for name, state in states.items() if isinstance(states, dict) else ():
        if not isinstance(state, dict):
            continue
        place = f"{where}/States/{name}"
        yield place, state
        branches = state.get("Branches")
        for number, branch in enumerate(branches if isinstance(branches, list) else ()):
            yield from walk(branch, f"{place}/Branches[{number}]")
        for field in ("ItemProcessor", "Iterator"):
            yield from walk(state.get(field), f"{place}/{field}")


def _check_state(state: dict[str, Any], place: str, name: str) -> Iterator[Problem]:
    if state.get("Type") == "Task" and not {"TimeoutSeconds", "TimeoutSecondsPath"} & set(state):
        yield Problem(name, place, "a Task without TimeoutSeconds waits for 99,999,999 seconds")
    for field in ("Retry", "Catch"):
        rules = state.get(field)
        for number, rule in enumerate(rules if isinstance(rules, list) else ()):
            for error in rule.get("ErrorEquals", []) if isinstance(rule, dict) else ():
                if not _is_known(error):
                    yield Problem(name, f"{place}/{field}[{number}]", f"nothing raises an error {error!r}")


def _is_known(error: Any) -> bool:
    return error in AWS_ERRORS or error in our_errors() or str(error).startswith(AWS_PREFIXES)


def substitutions(path: Path) -> set[str]:
    """Return the names of a definition's substitutions."""
    return set(SUBSTITUTION.findall(path.read_text()))
