"""Executions as a whole: names, stopping, redriving, limits, determinism."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox.engine import Timing
from sandbox.engine.errors import (
    ExecutionAlreadyExists,
    ExecutionDoesNotExist,
    ExecutionNotRedrivable,
    InvalidExecutionInput,
    InvalidName,
)
from tests.engine.builders import ROLE_ARN, Bench, distributed, machine, output, task, types


class Down(Exception): ...


class Switch:
    """A function that fails for some items while it is off."""

    def __init__(self, *broken: Any) -> None:
        self.broken = broken
        self.is_on = False
        self.done: list[Any] = []

    def __call__(self, event: Any) -> Any:
        if event in self.broken and not self.is_on:
            raise Down(str(event))
        self.done.append(event)
        return event


REST = machine(Rest={"Type": "Wait", "Seconds": 100})


def test_the_same_name_and_input_while_running_is_the_same_execution() -> None:
    bench = Bench()
    arn = bench.engine.create_state_machine("campaign", REST, ROLE_ARN)

    first = bench.engine.start_execution(arn, "{}", "monday")

    assert bench.engine.start_execution(arn, "{}", "monday") == first
    with pytest.raises(ExecutionAlreadyExists):
        bench.engine.start_execution(arn, '{"other": 1}', "monday")
    bench.run_for(200)
    with pytest.raises(ExecutionAlreadyExists):
        bench.engine.start_execution(arn, "{}", "monday")


def test_names_and_inputs_that_aws_refuses_are_refused() -> None:
    bench = Bench()
    arn = bench.engine.create_state_machine("campaign", REST, ROLE_ARN)

    for name in ("two words", "a/b", "a:b", "x" * 81):
        with pytest.raises(InvalidName):
            bench.engine.start_execution(arn, "{}", name)
    with pytest.raises(InvalidExecutionInput):
        bench.engine.start_execution(arn, "{")
    with pytest.raises(ExecutionDoesNotExist):
        bench.engine.execution(f"{arn}-no")


def test_a_wait_ends_at_its_timestamp_to_the_microsecond_and_as_late_as_the_service_is() -> None:
    bench = Bench(timing=Timing(wait_lateness=lambda: 0.25))
    definition = machine(Slot={"Type": "Wait", "TimestampPath": "$.send_at"})

    bench.run(definition, {"send_at": "2025-01-01T12:00:05.123456Z"})

    assert bench.seconds() == 5.373456


def test_stopping_ends_an_execution_and_all_that_runs_below_it() -> None:
    bench = Bench()
    inner = machine(Each={"Type": "Map", "ItemProcessor": REST})
    execution = bench.start(machine(Leads=distributed(inner)), [[1, 2], [3]])
    bench.run_for(5)

    bench.engine.stop_execution(execution.arn, "Operator", "wrong file")
    status_at_once = execution.status
    bench.run_for(1)

    assert (status_at_once, execution.error, execution.cause) == ("ABORTED", "Operator", "wrong file")
    assert types(execution)[-1] == "ExecutionAborted"
    children = [other for other in bench.engine.executions() if other is not execution]
    assert [child.status for child in children] == ["ABORTED", "ABORTED"]
    assert bench.engine.list_map_runs(execution.arn)[0]["stopDate"] is not None


def test_a_redrive_goes_on_from_the_state_that_failed() -> None:
    bench = Bench()
    switch = bench.aws.functions["work"] = Switch("second")
    definition = machine(First=task(payload="first"), Second=task(payload="second"))
    definition["States"]["First"]["Parameters"]["Payload"] = '"first"'
    definition["States"]["Second"]["Parameters"]["Payload"] = '"second"'
    execution = bench.run(definition)

    switch.is_on = True
    bench.engine.redrive_execution(execution.arn)
    bench.scheduler.run(until=execution.done)

    assert output(execution) == {"result": "second"}
    assert switch.done == ["first", "second"]
    assert types(execution).count("ExecutionRedriven") == 1
    with pytest.raises(ExecutionNotRedrivable):
        bench.engine.redrive_execution(execution.arn)


def test_a_redrive_of_a_map_run_runs_only_the_children_and_iterations_that_did_not_succeed() -> None:
    bench = Bench()
    switch = bench.aws.functions["work"] = Switch(3)
    inner = machine(Each={"Type": "Map", "ItemProcessor": machine(Work=task()), "MaxConcurrency": 1})
    definition = machine(Leads=distributed(inner, MaxConcurrency=1))
    execution = bench.run(definition, [[1], [2, 3, 4], [5]])
    assert execution.redrive_status == "REDRIVABLE"
    first_status, first_done = execution.status, list(switch.done)

    switch.is_on = True
    bench.engine.redrive_execution(execution.arn)
    bench.scheduler.run(until=execution.done)

    assert (first_status, first_done) == ("FAILED", [1, 2])
    assert execution.redrive_status == "NOT_REDRIVABLE"
    assert switch.done == [1, 2, 3, 4, 5]
    assert output(execution) == [[{"result": 1}], [{"result": n} for n in (2, 3, 4)], [{"result": 5}]]
    redriven = next(
        other for other in bench.engine.executions() if other.input == "[2, 3, 4]" or other.input == "[2,3,4]"
    )
    assert types(redriven).count("MapIterationStarted") == 4  # 2 and 3, then 3 and 4
    (run,) = bench.engine.list_map_runs(execution.arn)
    described = bench.engine.describe_map_run(run["mapRunArn"])
    assert (described["status"], described["redriveCount"]) == ("SUCCEEDED", 1)


def test_a_history_that_is_full_fails_the_execution_with_its_last_event() -> None:
    bench = Bench()
    definition = machine(A={"Type": "Pass", "Next": "B"}, B={"Type": "Choice", "Choices": [], "Default": "A"})
    end = {"Variable": "$.never", "IsPresent": True, "Next": "End"}
    definition["States"]["B"]["Choices"] = [end]
    definition["States"]["End"] = {"Type": "Succeed"}

    execution = bench.run(definition)

    assert (execution.status, execution.error) == ("FAILED", "States.Runtime")
    assert "25000" in (execution.cause or "")
    assert len(execution.log) == 25_000
    assert types(execution)[-1] == "ExecutionFailed"


def test_a_result_over_the_limit_fails_the_task() -> None:
    bench = Bench()
    bench.aws.functions["work"] = lambda event: "x" * 262_144

    execution = bench.run(machine(Work=task()))

    assert execution.error == "States.DataLimitExceeded"
    assert types(execution)[-2:] == ["TaskFailed", "ExecutionFailed"]


def test_a_state_s_output_over_the_limit_is_caught_by_its_name_only() -> None:
    def status(names: list[str]) -> str:
        bench = Bench()
        grow = machine(Grow={"Type": "Pass", "Parameters": {"a.$": "$", "b.$": "$"}})
        catch = [{"ErrorEquals": names, "ResultPath": None, "Next": "Caught"}]
        both = {"Type": "Parallel", "Branches": [grow], "Catch": catch, "End": True}
        return bench.run(machine(Both=both, Caught={"Type": "Pass", "Result": 0}), "x" * 150_000).status

    assert status(["States.ALL"]) == "FAILED"
    assert status(["States.DataLimitExceeded"]) == "SUCCEEDED"


def test_one_map_s_iterations_are_not_taken_for_another_s() -> None:
    bench = Bench()
    first = {"Type": "Map", "ItemProcessor": machine(One={"Type": "Pass", "Result": 1})}
    second = {"Type": "Map", "ItemProcessor": machine(Two={"Type": "Pass", "Result": 2})}

    assert output(bench.run(machine(First=first, Second=second), [0, 0])) == [2, 2]


def test_the_same_seed_gives_the_same_histories() -> None:
    def histories(seed: int) -> str:
        bench = Bench(seed=seed)
        bench.aws.functions["work"] = Switch(1)
        retry = [{"ErrorEquals": ["Down"], "MaxAttempts": 2, "MaxDelaySeconds": 9, "JitterStrategy": "FULL"}]
        bench.run(machine(Leads=distributed(machine(Work=task(Retry=retry)), ToleratedFailureCount=9)), [0, 1, 2])
        return json.dumps([[other.arn, other.history()] for other in bench.engine.executions()], default=str)

    assert histories(1) == histories(1)
    assert histories(1) != histories(2)


def test_time_passes_between_states_and_every_state_is_counted() -> None:
    bench = Bench(timing=Timing(transition=lambda: 0.02))

    bench.run(machine(A={"Type": "Pass"}, B={"Type": "Pass"}, C={"Type": "Succeed"}))

    assert (bench.engine.transitions, round(bench.seconds(), 6)) == (3, 0.06)


def test_the_functions_are_called_in_the_role_of_the_machine() -> None:
    bench = Bench()
    bench.aws.functions["work"] = lambda event: event

    bench.run(machine(Leads=distributed(machine(Work=task()))), [1])

    assert bench.aws.roles == {ROLE_ARN}
