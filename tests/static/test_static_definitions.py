"""The definitions as files: what every state machine must have, whatever it does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paceline import errors
from paceline.contracts.models import STATES
from sandbox.deployment import REGION, ROOT
from sandbox.engine import validate
from sandbox.template import translate

FILES = sorted((ROOT / "statemachines").glob("*.asl.json"))
# Names that AWS, and in the sandbox's case Lambda's runtime, give to errors that are not ours.
# Source: Step Functions developer guide, "Handling errors"; Lambda's Invoke API.
AWS_ERRORS = {
    "States.ALL",
    "States.DataLimitExceeded",
    "States.ExceedToleratedFailureThreshold",
    "States.HeartbeatTimeout",
    "States.ItemReaderFailed",
    "States.Permissions",
    "States.ResultWriterFailed",
    "States.Runtime",
    "States.TaskFailed",
    "States.Timeout",
    "Lambda.AWSLambdaException",
    "Lambda.ClientExecutionTimeoutException",
    "Lambda.SdkClientException",
    "Lambda.ServiceException",
    "Lambda.TooManyRequestsException",
    "Lambda.Unknown",
    "Runtime.ExitError",  # the function's process is gone: out of memory, or its machine died
    "Sandbox.Timedout",  # a function's own time-out; Lambda's sandbox, not this repository's
}
# What a retry may be for. A retry of States.ALL or States.Timeout would repeat what nobody understood.
# WebhookFailed: a customer's server, which may take hours.
RETRIED = {"TransactionConflict", "TableThrottled", "ServiceUnavailable", "WebhookFailed"} | {
    name for name in AWS_ERRORS if not name.startswith("States.")
}


def text_of(path: Path) -> str:
    return path.read_text()


def states(machine: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every state of a definition, those inside Maps and Parallels too."""
    for name, state in machine["States"].items():
        yield name, state
        inner = [state[key] for key in ("ItemProcessor", "Iterator") if key in state] + state.get("Branches", [])
        for one in inner:
            yield from states(one)


ALL_STATES = [
    pytest.param(state, id=f"{path.name.split('.')[0]}: {name}")
    for path in FILES
    for name, state in states(json.loads(path.read_text()))
]
TASKS = [param for param in ALL_STATES if param.values[0]["Type"] == "Task"]
HANDLERS = [param for param in ALL_STATES if {"Retry", "Catch"} & param.values[0].keys()]  # type: ignore[attr-defined]


def test_there_is_a_definition() -> None:
    assert "campaign.asl.json" in [path.name for path in FILES]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_definition_has_no_fault(path: Path) -> None:
    assert validate(json.loads(path.read_text())) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_definition_says_what_it_is(path: Path) -> None:
    assert json.loads(path.read_text())["Comment"]


@pytest.mark.parametrize("state", TASKS)
def test_every_task_has_a_time_out(state: dict[str, Any]) -> None:
    assert {"TimeoutSeconds", "TimeoutSecondsPath"} & state.keys()


@pytest.mark.parametrize("state", TASKS)
def test_every_task_takes_and_gives_chosen_fields_only(state: dict[str, Any]) -> None:
    """A payload of `$` would carry on whatever a state happened to hold."""
    assert state["Parameters"]["Payload"] != "$"
    assert "Payload.$" not in state["Parameters"]
    assert "ResultSelector" in state or state.get("ResultPath", "") is None


@pytest.mark.parametrize("state", HANDLERS)
def test_every_retry_is_bounded_and_jittered(state: dict[str, Any]) -> None:
    for retry in state.get("Retry", []):
        assert retry["MaxDelaySeconds"] >= retry["IntervalSeconds"] > 0
        assert retry["JitterStrategy"] == "FULL"
        assert 0 < retry["MaxAttempts"] <= 10


@pytest.mark.parametrize("state", TASKS)
def test_every_task_retries_conflicts_throttling_and_lambdas_own_errors_and_nothing_else(state: dict[str, Any]) -> None:
    retried = {name for retry in state["Retry"] for name in retry["ErrorEquals"]}

    assert {"TransactionConflict", "TableThrottled", "ServiceUnavailable", "Lambda.TooManyRequestsException"} <= retried
    assert retried <= RETRIED


@pytest.mark.parametrize("state", HANDLERS)
def test_every_error_that_is_matched_is_one_of_ours_or_of_awss(state: dict[str, Any]) -> None:
    ours = {name for name, value in vars(errors).items() if isinstance(value, type)}
    handlers = [*state.get("Retry", []), *state.get("Catch", [])]

    matched = {name for handler in handlers for name in handler["ErrorEquals"]}

    assert matched <= ours | AWS_ERRORS


@pytest.mark.parametrize("state", HANDLERS)
def test_no_error_is_both_retried_and_a_way_back_to_admission(state: dict[str, Any]) -> None:
    retried = {name for retry in state.get("Retry", []) for name in retry["ErrorEquals"]}

    assert not retried & {"RateLimited", "ProviderThrottled"}


def test_only_notifying_waits_for_a_customers_server_and_no_more_than_15_hours() -> None:
    waiting = {
        name: retry
        for path in FILES
        for name, state in states(json.loads(path.read_text()))
        for retry in state.get("Retry", [])
        if "WebhookFailed" in retry["ErrorEquals"]
    }

    [retry] = waiting.values()
    longest = [retry["IntervalSeconds"] * retry["BackoffRate"] ** number for number in range(retry["MaxAttempts"])]

    assert set(waiting) == {"Notify Customer"}
    assert sum(min(seconds, retry["MaxDelaySeconds"]) for seconds in longest) <= 15 * 3600 + 600


def test_our_error_names_are_unique_leaves() -> None:
    """ErrorEquals sees a bare class name: a name that stands for a group would match nothing."""
    ours = [value for value in vars(errors).values() if isinstance(value, type)]
    leaves = [cls for cls in ours if cls not in {base for other in ours for base in other.__mro__[1:]}]
    matched = {
        name
        for param in HANDLERS
        for handler in [*param.values[0].get("Retry", []), *param.values[0].get("Catch", [])]  # type: ignore[attr-defined]
        for name in handler["ErrorEquals"]
    }

    assert matched - AWS_ERRORS <= {cls.__name__ for cls in leaves}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_distributed_map_says_what_it_tolerates_and_where_its_results_go(path: Path) -> None:
    for name, state in states(json.loads(path.read_text())):
        if state["Type"] == "Map" and state["ItemProcessor"].get("ProcessorConfig", {}).get("Mode") == "DISTRIBUTED":
            assert {"ToleratedFailurePercentage", "ToleratedFailureCount"} & state.keys(), name
            assert "ResultWriter" in state, name
            assert {"MaxConcurrency", "MaxConcurrencyPath"} & state.keys(), name


def test_every_function_that_a_state_calls_has_a_contract_and_the_other_way_round() -> None:
    names = {name for path in FILES for name, state in states(json.loads(path.read_text())) if state["Type"] == "Task"}
    # The ways out of a failure call the same functions as their namesakes.
    failure = {name for name in names if "Failure" in name}

    assert names - failure == STATES.keys()


# -- with the template ---------------------------------------------------------------------------------------------


def template() -> dict[str, Any]:
    return translate(ROOT / "template.yaml", REGION)["Resources"]  # type: ignore[no-any-return]


def sam() -> dict[str, Any]:
    from samtranslator.yaml_helper import yaml_parse

    return yaml_parse((ROOT / "template.yaml").read_text())  # type: ignore[no-any-return]


def machines() -> dict[str, dict[str, Any]]:
    """Return the template's state machines by their definition's file name."""
    found = [r["Properties"] for r in sam()["Resources"].values() if r["Type"] == "AWS::Serverless::StateMachine"]
    return {Path(properties["DefinitionUri"]).name: properties for properties in found}


def test_every_definition_is_deployed_and_every_deployed_one_is_there() -> None:
    assert machines().keys() == {path.name for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_substitutions_match_the_template_both_ways(path: Path) -> None:
    used = set(re.findall(r"\$\{(\w+)\}", path.read_text()))

    assert used == machines()[path.name]["DefinitionSubstitutions"].keys()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_task_waits_longer_than_its_function_lives(path: Path) -> None:
    """A sender that outlives its task would send after its round was closed and its lease given back."""
    resources, substitutions = template(), machines()[path.name]["DefinitionSubstitutions"]
    for name, state in states(json.loads(path.read_text())):
        if state["Type"] != "Task" or "TimeoutSeconds" not in state:
            continue
        substitution = state["Parameters"]["FunctionName"].strip("${}")
        logical = substitutions[substitution]["Fn::GetAtt"]
        function = logical[0] if isinstance(logical, list) else logical.split(".")[0]
        assert state["TimeoutSeconds"] > resources[function]["Properties"]["Timeout"], name
