"""Parallel, inline Map and the flow of data through states."""

from __future__ import annotations

from typing import Any

from tests.engine.builders import Bench, machine, output, task, types


class Broken(Exception): ...


def test_branches_run_side_by_side_and_keep_their_order() -> None:
    bench = Bench()
    branches = [machine(**{f"Rest {n}": {"Type": "Wait", "Seconds": n}}) for n in (9, 5, 7)]

    execution = bench.run(machine(All={"Type": "Parallel", "Branches": branches}), "same")

    assert output(execution) == ["same", "same", "same"]
    assert bench.seconds() == 9


def test_a_failed_branch_ends_the_others_where_they_are() -> None:
    bench = Bench()
    branches = [
        machine(Long={"Type": "Wait", "Seconds": 90}),
        machine(Short={"Type": "Wait", "Seconds": 3}, Stop={"Type": "Fail", "Error": "Stopped", "Cause": "why"}),
    ]
    catch = [{"ErrorEquals": ["Stopped"], "Next": "After"}]
    definition = machine(
        All={"Type": "Parallel", "Branches": branches, "Catch": catch, "End": True}, After={"Type": "Pass"}
    )

    execution = bench.run(definition)

    assert output(execution) == {"Error": "Stopped", "Cause": "why"}
    assert bench.seconds() == 3
    assert types(execution)[-6:-3] == ["WaitStateAborted", "ParallelStateFailed", "ParallelStateExited"]


def test_a_task_that_fails_in_a_branch_has_not_been_aborted() -> None:
    bench = Bench()
    branches = [machine(Work=task(function="missing")), machine(Rest={"Type": "Wait", "Seconds": 9})]

    execution = bench.run(machine(Both={"Type": "Parallel", "Branches": branches}))

    assert types(execution)[-4:] == ["TaskFailed", "WaitStateAborted", "ParallelStateFailed", "ExecutionFailed"]


def test_no_more_iterations_run_at_once_than_allowed() -> None:
    bench = Bench()
    each = machine(Rest={"Type": "Wait", "Seconds": 10})

    bench.run(machine(Each={"Type": "Map", "ItemProcessor": each, "MaxConcurrency": 3}), list(range(7)))

    assert bench.seconds() == 30


def test_an_inline_map_runs_forty_at_once_where_nothing_is_said() -> None:
    bench = Bench()
    each = machine(Rest={"Type": "Wait", "Seconds": 10})

    bench.run(machine(Each={"Type": "Map", "ItemProcessor": each}), list(range(41)))

    assert bench.seconds() == 20


def test_a_failed_iteration_aborts_those_that_run() -> None:
    bench = Bench()

    def work(event: int) -> None:
        bench.scheduler.sleep(event)
        raise Broken(str(event))

    bench.aws.functions["work"] = work

    execution = bench.run(machine(Each={"Type": "Map", "ItemProcessor": machine(Work=task())}), [2, 5])

    assert (execution.error, bench.seconds()) == ("Broken", 2)
    assert types(execution)[-5:] == [
        "MapIterationFailed", "TaskStateAborted", "MapIterationAborted", "MapStateFailed", "ExecutionFailed",
    ]  # fmt: skip


def test_input_and_result_go_the_way_of_the_paths() -> None:
    bench = Bench()
    seen: list[Any] = []

    def work(event: Any) -> dict[str, Any]:
        seen.append(event)
        return {"n": 2, "noise": True}

    bench.aws.functions["work"] = work
    definition = machine(
        Work=task(
            InputPath="$.batch",
            payload={"lead.$": "$.lead", "run.$": "$$.Execution.Name"},
            ResultSelector={"n.$": "$.Payload.n"},
            ResultPath="$.batch.sent",
            OutputPath="$.batch",
        )
    )

    execution = bench.run(definition, {"batch": {"lead": "x"}, "other": 1})

    assert seen == [{"lead": "x", "run": execution.name}]
    assert output(execution) == {"lead": "x", "sent": {"n": 2}}


def test_a_choice_without_a_match_and_without_a_default_fails() -> None:
    bench = Bench()
    choice = {"Type": "Choice", "Choices": [{"Variable": "$.n", "NumericEquals": 1, "Next": "One"}]}

    execution = bench.run(machine(Which=choice, One={"Type": "Succeed"}), {"n": 2})

    assert execution.error == "States.Runtime"


def test_events_name_the_one_before_them() -> None:
    bench = Bench()

    history = bench.run(machine(A={"Type": "Pass"}, B={"Type": "Succeed"})).history()

    assert [(event["id"], event["previousEventId"]) for event in history] == [
        (1, 0),
        (2, 0),
        (3, 2),
        (4, 3),
        (5, 4),
        (6, 5),
    ]
    assert history[1]["stateEnteredEventDetails"] == {"name": "A", "input": "{}", "inputDetails": {"truncated": False}}
    assert history[0]["timestamp"].tzinfo is not None
