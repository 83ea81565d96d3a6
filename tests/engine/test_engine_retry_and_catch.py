"""Retry, Catch and jitter."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from sandbox.engine import TaskFailed
from tests.engine.builders import Bench, machine, output, task, types

CONFLICT = {"ErrorEquals": ["TransactionConflict"], "IntervalSeconds": 2, "MaxAttempts": 4, "BackoffRate": 3.0}


class TransactionConflict(Exception): ...


class Throttled(Exception): ...


def failing(times: int, error: type[Exception] = TransactionConflict) -> Any:
    """Return a function that fails so many times, then answers with the number of the attempt."""
    attempts = []

    def function(event: Any) -> int:
        attempts.append(event)
        if len(attempts) <= times:
            raise error("again")
        return len(attempts)

    return function


def test_an_exception_is_named_by_its_bare_class_and_retried_with_backoff() -> None:
    bench = Bench()
    bench.aws.functions["work"] = failing(3)

    execution = bench.run(machine(Work=task(Retry=[CONFLICT])))

    assert output(execution) == {"result": 4}
    assert [time - bench.aws.call_times[0] for time in bench.aws.call_times] == [0, 2, 8, 26]


def test_a_retry_waits_no_longer_than_the_maximum_delay() -> None:
    bench = Bench()
    bench.aws.functions["work"] = failing(3)

    bench.run(machine(Work=task(Retry=[{**CONFLICT, "MaxDelaySeconds": 5}])))

    assert [time - bench.aws.call_times[0] for time in bench.aws.call_times] == [0, 2, 7, 12]


def test_full_jitter_waits_anything_up_to_the_interval_and_the_seed_decides() -> None:
    def delays(seed: int) -> list[float]:
        bench = Bench(seed=seed)
        bench.aws.functions["work"] = failing(3)
        bench.run(machine(Work=task(Retry=[{**CONFLICT, "JitterStrategy": "FULL"}])))
        times = bench.aws.call_times
        return [later - earlier for earlier, later in pairwise(times)]

    first, again, other = delays(1), delays(1), delays(2)

    assert all(0 <= delay <= most for delay, most in zip(first, (2, 6, 18), strict=True))
    assert first == again
    assert first != other


def test_each_retrier_counts_its_own_attempts() -> None:
    bench = Bench()
    errors = iter([TransactionConflict, Throttled, TransactionConflict, Throttled])

    def work(event: Any) -> str:
        for error in errors:
            raise error("again")
        return "done"

    bench.aws.functions["work"] = work
    twice = {"IntervalSeconds": 1, "MaxAttempts": 2}
    retry = [{"ErrorEquals": ["TransactionConflict"], **twice}, {"ErrorEquals": ["Throttled"], **twice}]

    execution = bench.run(machine(Work=task(Retry=retry)))

    assert output(execution) == {"result": "done"}


def test_every_attempt_is_a_transition() -> None:
    bench = Bench()
    bench.aws.functions["work"] = failing(3)

    bench.run(machine(Work=task(Retry=[CONFLICT]), Done={"Type": "Succeed"}))

    assert bench.engine.transitions == 5  # Work four times, Done once


def test_when_attempts_are_used_up_the_catcher_gets_the_error_beside_the_input() -> None:
    bench = Bench()
    bench.aws.functions["work"] = failing(9)
    catch = [{"ErrorEquals": ["TransactionConflict"], "ResultPath": "$.problem", "Next": "Give Up"}]
    definition = machine(
        Work=task(Retry=[{**CONFLICT, "MaxAttempts": 1}], Catch=catch, End=True), **{"Give Up": {"Type": "Pass"}}
    )

    caught = output(bench.run(definition, {"batch": 7}))

    assert caught["batch"] == 7
    assert caught["problem"]["Error"] == "TransactionConflict"
    assert json.loads(caught["problem"]["Cause"])["errorMessage"] == "again"


@pytest.mark.parametrize(
    ("error", "names", "is_caught"),
    [
        pytest.param("Throttled", ["States.ALL"], True, id="all"),
        pytest.param("Throttled", ["States.TaskFailed"], True, id="task failed"),
        pytest.param("Throttled", ["States.Timeout"], False, id="another name"),
        # a timeout is no failed task
        pytest.param("States.Timeout", ["States.TaskFailed"], False, id="timeout is not task failed"),
        # a heartbeat that stays away is a timeout too, but not the other way round
        pytest.param("States.HeartbeatTimeout", ["States.Timeout"], True, id="heartbeat is a timeout"),
        pytest.param("States.Timeout", ["States.HeartbeatTimeout"], False, id="timeout is no heartbeat"),
    ],
)
def test_reserved_names_match_what_aws_says(error: str, names: list[str], is_caught: bool) -> None:
    bench = Bench()

    def work(event: Any) -> None:
        raise TaskFailed(error, "because")

    bench.aws.functions["work"] = work
    catch = [{"ErrorEquals": names, "Next": "Caught"}]

    execution = bench.run(machine(Work=task(Catch=catch, End=True), Caught={"Type": "Pass"}))

    assert (execution.status == "SUCCEEDED") is is_caught


def test_a_path_that_leads_nowhere_is_not_caught() -> None:
    bench = Bench()
    catch = [{"ErrorEquals": ["States.ALL"], "Next": "Caught"}]
    definition = machine(Work=task(payload={"x.$": "$.missing"}, Catch=catch, End=True), Caught={"Type": "Pass"})

    execution = bench.run(definition)

    assert (execution.status, execution.error) == ("FAILED", "States.Runtime")
    assert "'$.missing'" in (execution.cause or "")
    assert bench.aws.calls == []


def test_the_context_object_counts_retries() -> None:
    bench = Bench()
    bench.aws.functions["work"] = failing(2)

    bench.run(machine(Work=task(payload={"attempt.$": "$$.State.RetryCount"}, Retry=[CONFLICT])))

    assert [event["attempt"] for _, event in bench.aws.calls] == [0, 1, 2]


def test_a_map_that_is_retried_runs_all_its_iterations_again_and_fails_only_at_the_end() -> None:
    bench = Bench()
    bench.aws.functions["work"] = failing(1)
    inner = machine(Work=task())
    retry = [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1, "MaxAttempts": 1}]

    execution = bench.run(
        machine(Each={"Type": "Map", "ItemProcessor": inner, "MaxConcurrency": 1, "Retry": retry}), [1, 2]
    )

    assert execution.status == "SUCCEEDED"
    assert "MapStateFailed" not in types(execution)
    assert types(execution).count("MapStateStarted") == 2
