"""The check of definitions: what is wrong is named, with its place."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.engine import InvalidDefinition, validate
from tests.engine.builders import LAMBDA, ROLE_ARN, Bench, distributed, machine, task

SOUND = machine(
    Plan=task(Catch=[{"ErrorEquals": ["States.ALL"], "Next": "Failed"}]),
    Batches=distributed(
        machine(Send=task(Retry=[{"ErrorEquals": ["Busy"], "MaxDelaySeconds": 9, "JitterStrategy": "FULL"}])),
        MaxConcurrencyPath="$.limit",
        ToleratedFailurePercentage=5,
    ),
    **{
        "Any Left?": {
            "Type": "Choice",
            "Choices": [{"Variable": "$.n", "IsNull": True, "Next": "Done"}],
            "Default": "Rest",
        },
        "Rest": {"Type": "Wait", "Seconds": 5, "Next": "Plan"},
        "Done": {"Type": "Succeed"},
        "Failed": {"Type": "Fail", "Error": "Broken"},
    },
)


def with_change(path: str, value: Any) -> dict[str, Any]:
    """Return the sound definition with one place set to a value (None: taken away)."""
    definition = copy.deepcopy(SOUND)
    *parents, last = path.split("/")
    place: Any = definition
    for name in parents:
        place = place[int(name) if isinstance(place, list) else name]
    if value is None:
        del place[last]
    else:
        place[int(last) if isinstance(place, list) else last] = value
    return definition


def test_a_sound_definition_has_no_problems() -> None:
    assert validate(SOUND) == []


def test_a_task_without_a_timeout_is_no_problem_here() -> None:
    assert validate(with_change("States/Plan/TimeoutSeconds", None)) == []


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("StartAt", "Nowhere", "/StartAt: there is no state 'Nowhere'"),
        ("States/Plan/Next", "Nowhere", "/States/Plan/Next: there is no state 'Nowhere'"),
        ("States/Plan/Next", None, "/States/Plan: exactly one of Next and End is needed"),
        ("States/Any Left?/Default", "Plan", "/States/Rest: cannot be reached"),
        ("States/Plan/Retries", [], "/States/Plan/Retries: there is no such field here"),
        ("States/Plan/Resource", f"{LAMBDA}.sync", "is not supported by the sandbox"),
        ("States/Plan/InputPath", "$.[", "/States/Plan/InputPath: Invalid path"),
        ("States/Plan/ResultPath", "$.a[*]", "is not a Reference Path"),
        ("States/Plan/Parameters", {"x.$": "States.No()"}, "no such function"),
        ("States/Plan/Parameters", {"x.$": 5}, "The value for the field 'x.$' must be a path"),
        ("States/Plan/TimeoutSeconds", 0, "/States/Plan/TimeoutSeconds: must be a whole number from 1"),
        ("States/Plan/Catch/0/Next", "Nowhere", "/States/Plan/Catch[0]/Next: there is no state 'Nowhere'"),
        ("States/Rest/Seconds", None, "/States/Rest: exactly one of Seconds"),
        ("States/Any Left?/Choices", [], "at least one rule is needed"),
        ("States/Any Left?/Choices/0/IsNull", None, "exactly one comparison operator"),
        ("States/Rest/Type", "Sleep", "/States/Rest/Type: there is no state type 'Sleep'"),
        ("States/Plan/Assign", {}, "variables (Assign) is not supported by the sandbox"),
        ("QueryLanguage", "JSONata", "/QueryLanguage: JSONata is not supported"),
        ("States/Batches/ItemProcessor/ProcessorConfig/ExecutionType", "EXPRESS", "EXPRESS is not supported"),
        ("States/Batches/ItemProcessor/StartAt", "No", "/States/Batches/ItemProcessor/StartAt: there is no state 'No'"),
        ("States/Batches/ToleratedFailurePercentage", 101, "must be a number from 0 to 100"),
        ("States/Batches/ItemReader", {"Resource": "x"}, "/States/Batches/ItemReader/Resource: 'x' is not supported"),
        ("States/Batches/ItemProcessor/States/Send/Retry/0/JitterStrategy", "SOME", "must be NONE or FULL"),
        ("TimeoutSeconds", "5", "/TimeoutSeconds: must be a number"),
        ("TimeoutSeconds", 1.5, "/TimeoutSeconds: must be a whole number"),
        ("States/Plan/Retry", {}, "/States/Plan/Retry: must be a list of objects"),
        ("States/Plan/Next", ["Batches"], "/States/Plan/Next: must be a string"),
    ],
)
def test_what_is_wrong_is_named(path: str, value: Any, problem: str) -> None:
    problems = validate(with_change(path, value))

    assert any(problem in found for found in problems), problems


def places(value: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of all places below a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in items:
        yield f"{path}{name}"
        yield from places(item, f"{path}{name}/")


@pytest.mark.parametrize("junk", [5, -1.5, "x", "$.[", [], [1], {}, {"a": 1}, True], ids=repr)
def test_junk_in_any_place_is_no_crash(junk: Any) -> None:
    for path in places(SOUND):
        problems = validate(with_change(path, junk))

        assert all(isinstance(problem, str) for problem in problems)


def test_a_loop_without_an_end_is_a_problem() -> None:
    assert "/States: no state ends it" in validate(machine(A={"Type": "Pass", "Next": "A"}))


def test_a_name_is_used_once_in_the_whole_definition() -> None:
    definition = machine(Send=distributed(machine(Send={"Type": "Pass"})))

    assert validate(definition) == ["the state name 'Send' is used twice"]


def test_the_engine_refuses_what_is_not_sound_and_what_it_cannot_run() -> None:
    bench = Bench()

    with pytest.raises(InvalidDefinition, match="Nowhere"):
        bench.engine.create_state_machine("campaign", with_change("StartAt", "Nowhere"), ROLE_ARN)
    with pytest.raises(InvalidDefinition, match="EXPRESS"):
        bench.engine.create_state_machine("campaign", SOUND, ROLE_ARN, "EXPRESS")
    with pytest.raises(InvalidDefinition, match="not JSON"):
        bench.engine.create_state_machine("campaign", "{", ROLE_ARN)
