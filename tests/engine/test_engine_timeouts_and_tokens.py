"""Time limits of tasks and machines, callbacks and heartbeats."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox.engine.errors import InvalidOutput, InvalidToken, TaskDoesNotExist, TaskTimedOut
from tests.engine.builders import LAMBDA_WITH_TOKEN, Bench, machine, output, task, types


def hold(**fields: Any) -> dict[str, Any]:
    """Return a task that gives its token to the function `hold` and waits."""
    parameters = {"FunctionName": "hold", "Payload": {"token.$": "$$.Task.Token"}}
    return {"Type": "Task", "Resource": LAMBDA_WITH_TOKEN, "Parameters": parameters, **fields}


def holding(bench: Bench, **fields: Any) -> tuple[Any, str]:
    """Start a hold and let it begin to wait. Returns the execution and the token."""
    bench.aws.functions["hold"] = lambda event: "noted"
    execution = bench.start(machine(Hold=hold(**fields)))
    bench.run_for(1)
    return execution, bench.aws.calls[0][1]["token"]


def test_a_task_that_takes_too_long_times_out_while_its_function_goes_on() -> None:
    bench = Bench()
    finished = []

    def slow(event: Any) -> None:
        bench.scheduler.sleep(60)
        finished.append(bench.seconds())

    bench.aws.functions["work"] = slow

    execution = bench.run(machine(Work=task(TimeoutSeconds=5)))
    ended = bench.seconds()
    bench.run_for(100)

    assert (execution.status, execution.error, ended) == ("FAILED", "States.Timeout", 5)
    assert finished == [60]
    assert types(execution)[-2:] == ["TaskTimedOut", "ExecutionFailed"]


def test_the_timeout_may_come_from_the_input() -> None:
    bench = Bench()
    bench.aws.functions["work"] = lambda event: bench.scheduler.sleep(60)
    definition = machine(Work=task(TimeoutSecondsPath="$.limit"))
    del definition["States"]["Work"]["TimeoutSeconds"]

    execution = bench.run(definition, {"limit": 7})

    assert (execution.error, bench.seconds()) == ("States.Timeout", 7)


def test_a_machine_that_takes_too_long_times_out() -> None:
    bench = Bench()
    definition = {**machine(Rest={"Type": "Wait", "Seconds": 100}), "TimeoutSeconds": 30}

    execution = bench.run(definition)

    assert (execution.status, bench.seconds()) == ("TIMED_OUT", 30)
    assert types(execution)[-1] == "ExecutionTimedOut"


def test_a_callback_gives_the_task_its_output() -> None:
    bench = Bench()
    execution, token = holding(bench, TimeoutSeconds=600)

    bench.run_for(100)
    bench.engine.send_task_success(token, json.dumps({"released": True}))
    bench.scheduler.run(until=execution.done)

    assert output(execution) == {"released": True}
    assert types(execution)[2:6] == ["TaskScheduled", "TaskStarted", "TaskSubmitted", "TaskSucceeded"]


def test_a_callback_can_make_the_task_fail() -> None:
    bench = Bench()
    execution, token = holding(bench)

    bench.engine.send_task_failure(token, "Refused", "no credits")
    bench.scheduler.run(until=execution.done)

    assert (execution.error, execution.cause) == ("Refused", "no credits")


def test_a_callback_may_come_before_the_function_has_answered() -> None:
    bench = Bench()

    def eager(event: Any) -> None:
        bench.engine.send_task_success(event["token"], '"early"')
        bench.scheduler.sleep(2)

    bench.aws.functions["hold"] = eager

    execution = bench.run(machine(Hold=hold(TimeoutSeconds=60)))

    assert output(execution) == "early"


def test_without_a_callback_the_task_times_out_and_its_token_is_dead() -> None:
    bench = Bench()
    execution, token = holding(bench, TimeoutSeconds=50)

    bench.scheduler.run(until=execution.done)

    assert (execution.error, bench.seconds()) == ("States.Timeout", 50)
    with pytest.raises(TaskTimedOut):
        bench.engine.send_task_success(token, "{}")


def test_a_token_is_good_once() -> None:
    bench = Bench()
    _, token = holding(bench)

    bench.engine.send_task_success(token, "{}")

    with pytest.raises(TaskTimedOut):
        bench.engine.send_task_failure(token, "Late", "")


def test_tokens_that_nobody_gave_out_are_refused() -> None:
    bench = Bench()

    with pytest.raises(TaskDoesNotExist):
        bench.engine.send_task_success("0" * 128, "{}")
    with pytest.raises(InvalidToken):
        bench.engine.send_task_heartbeat("made up")
    with pytest.raises(InvalidOutput):
        bench.engine.send_task_success("0" * 128, "{")


def test_a_heartbeat_counts_while_the_function_still_runs() -> None:
    bench = Bench()

    def slow(event: Any) -> None:
        bench.scheduler.sleep(6)
        bench.engine.send_task_heartbeat(event["token"])
        bench.scheduler.sleep(6)

    bench.aws.functions["hold"] = slow

    execution = bench.run(machine(Hold=hold(HeartbeatSeconds=10, TimeoutSeconds=600)))

    assert (execution.error, bench.seconds()) == ("States.HeartbeatTimeout", 16)


def test_heartbeats_keep_a_task_alive_until_they_stay_away() -> None:
    bench = Bench()
    execution, token = holding(bench, HeartbeatSeconds=10, TimeoutSeconds=600)

    for _ in range(5):
        bench.run_for(8)
        bench.engine.send_task_heartbeat(token)
    bench.scheduler.run(until=execution.done)

    assert execution.error == "States.HeartbeatTimeout"
    assert bench.seconds() == 1 + 5 * 8 + 10
