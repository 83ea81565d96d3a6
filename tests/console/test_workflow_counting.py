"""Counts of a workflow from a client that pages and throttles."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from console.workflow.allowance import UNLIMITED, Rate, Rates
from console.workflow.counting import Counter
from console.workflow.counts import Counts
from tests.fakes.step_functions import FakeStepFunctions, WrittenHistory, WrittenMapRun

ROOT, STREAM = "arn:root", "arn:stream"
ITEMS = {
    "StartAt": "Wait For Slot",
    "States": {
        "Wait For Slot": {"Type": "Wait", "Seconds": 1, "Next": "Send Message"},
        "Send Message": {"Type": "Task", "Resource": "r", "End": True},
    },
}
BATCH = {
    "ProcessorConfig": {"Mode": "DISTRIBUTED"},
    "StartAt": "Admit Batch",
    "States": {
        "Admit Batch": {"Type": "Task", "Resource": "r", "Next": "Send Items"},
        "Send Items": {"Type": "Map", "ItemProcessor": ITEMS, "End": True},
    },
}
STREAMS = {
    "ProcessorConfig": {"Mode": "DISTRIBUTED"},
    "StartAt": "Send Batches",
    "States": {"Send Batches": {"Type": "Map", "ItemProcessor": BATCH, "End": True}},
}
DEFINITION = {
    "StartAt": "Plan",
    "States": {
        "Plan": {"Type": "Task", "Resource": "r", "Next": "Send Streams"},
        "Send Streams": {"Type": "Map", "ItemProcessor": STREAMS, "Next": "Report"},
        "Report": {"Type": "Task", "Resource": "r", "End": True},
    },
}
BATCHES = "Send Streams/Send Batches"
IN_ITEMS = f"{BATCHES}/Send Items"


@dataclass
class Desk:
    """A campaign of one stream and its counter, with a clock that a test moves."""

    client: FakeStepFunctions = field(default_factory=lambda: FakeStepFunctions(DEFINITION))
    rates: Rates = field(default_factory=lambda: UNLIMITED)
    most_children: int = 200
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.root = self.client.histories[ROOT] = WrittenHistory()
        self.root.add("ExecutionStarted", 0)
        self.root.enter("Plan")
        self._counter: Counter | None = None

    def streams(self) -> WrittenHistory:
        """Go on to where one stream sends; return the stream's history."""
        self.root.exit("Plan")
        self.root.run_map("Send Streams", "run:streams")
        self.client.map_runs["run:streams"] = WrittenMapRun({STREAM: "RUNNING"})
        stream = self.client.histories[STREAM] = WrittenHistory()
        stream.add("ExecutionStarted", 0)
        stream.run_map("Send Batches", "run:batches")
        self.client.map_runs["run:batches"] = WrittenMapRun()
        return stream

    def batch(self, name: str) -> WrittenHistory:
        """Start a batch; return its history, in which it is being admitted."""
        self.client.map_runs["run:batches"].children[name] = "RUNNING"
        history = self.client.histories[name] = WrittenHistory()
        history.add("ExecutionStarted", 0)
        history.enter("Admit Batch")
        return history

    def look(self) -> Counts:
        if self._counter is None:
            self._counter = Counter(
                self.client,
                ROOT,
                rates=self.rates,
                most_children=self.most_children,
                at_once=1,
                now=lambda: datetime(2026, 9, 2, tzinfo=UTC) + timedelta(seconds=self.seconds),
                monotonic=lambda: self.seconds,
            )
        return self._counter.look()


def send_items(history: WrittenHistory, items: int) -> list[int]:
    """Let a batch go on to its Map; return the event of each iteration's wait."""
    history.exit("Admit Batch")
    history.enter("Send Items", kind="Map")
    started = history.add("MapStateStarted", length=items)
    return [
        history.enter("Wait For Slot", history.iterate("Send Items", index, started), "Wait") for index in range(items)
    ]


def running(counts: Counts) -> dict[str, int]:
    return {path: count.running for path, count in counts.states.items() if count.running}


# -- one execution ----------------------------------------------------------------------------------------------------


def test_what_is_new_in_the_history_is_counted_and_nothing_twice() -> None:
    desk = Desk()
    first = desk.look()
    desk.root.exit("Plan")
    desk.root.enter("Report")

    second = desk.look()
    third = desk.look()

    assert running(first) == {"Plan": 1}
    assert running(second) == running(third) == {"Report": 1}
    assert third.states["Plan"].succeeded == 1


def test_a_history_of_many_pages_is_read_to_what_is_known() -> None:
    desk = Desk(FakeStepFunctions(DEFINITION, most=7))
    for _ in range(40):
        desk.root.add("LambdaFunctionFailed")
        desk.root.add("LambdaFunctionScheduled")
    desk.look()
    before = desk.client.asked["get_execution_history"]
    desk.root.exit("Plan")

    counts = desk.look()

    assert counts.states["Plan"].succeeded == 1
    assert desk.client.asked["get_execution_history"] - before == 1


def test_a_state_that_failed_and_waits_for_its_next_try_is_retrying() -> None:
    desk = Desk()
    desk.root.add("LambdaFunctionScheduled")
    desk.root.add("LambdaFunctionFailed")
    waiting = desk.look()
    desk.root.add("LambdaFunctionScheduled")
    trying = desk.look()
    desk.root.add("LambdaFunctionFailed")
    desk.root.exit("Plan")

    caught = desk.look()

    assert (waiting.states["Plan"].running, waiting.states["Plan"].retrying) == (1, 1)
    assert (trying.states["Plan"].running, trying.states["Plan"].retrying) == (1, 0)
    plan = caught.states["Plan"]
    assert (plan.running, plan.succeeded, plan.failed, plan.retrying) == (0, 0, 1, 0)


def test_an_execution_that_fails_leaves_nothing_running_and_a_redrive_goes_on_in_its_state() -> None:
    desk = Desk()
    desk.root.add("LambdaFunctionFailed")
    desk.root.add("ExecutionFailed")
    failed = desk.look()
    desk.root.add("ExecutionRedriven")
    desk.root.add("LambdaFunctionScheduled")
    redriven = desk.look()
    desk.root.exit("Plan")
    done = desk.look()

    assert (failed.status, running(failed), failed.states["Plan"].failed) == ("FAILED", {}, 1)
    assert (redriven.status, running(redriven), redriven.states["Plan"].failed) == ("RUNNING", {"Plan": 1}, 0)
    assert (done.states["Plan"].running, done.states["Plan"].succeeded) == (0, 1)


def test_a_redrive_that_enters_its_state_anew_is_in_it_once() -> None:
    desk = Desk()
    desk.root.add("ExecutionFailed")
    desk.root.add("ExecutionRedriven")
    desk.root.enter("Plan")  # as the sandbox does; AWS goes on without
    again = desk.look()
    desk.root.exit("Plan")

    assert running(again) == {"Plan": 1}
    assert running(desk.look()) == {}


# -- children ---------------------------------------------------------------------------------------------------------


def test_a_distributed_map_has_its_children_as_aws_counts_them() -> None:
    desk = Desk()
    desk.streams()
    desk.client.map_runs["run:batches"].children = {"a": "SUCCEEDED", "b": "FAILED", "c": "TIMED_OUT"}
    desk.client.map_runs["run:batches"].pending = 4

    count = desk.look().states[BATCHES]

    assert (count.running, count.succeeded, count.failed, count.pending, count.total) == (0, 1, 2, 4, 7)


def test_states_inside_children_have_what_is_in_them_now() -> None:
    desk = Desk()
    desk.streams()
    desk.batch("a")
    waits = send_items(desk.batch("b"), 3)
    b = desk.client.histories["b"]
    b.enter("Send Message", b.exit("Wait For Slot", waits[1], "Wait"))
    b.add("LambdaFunctionFailed")

    counts = desk.look()

    inside = {f"{IN_ITEMS}/Wait For Slot": 2, f"{IN_ITEMS}/Send Message": 1, IN_ITEMS: 3}
    assert running(counts) == {"Send Streams": 1, BATCHES: 2, f"{BATCHES}/Admit Batch": 1, **inside}
    assert counts.states[f"{IN_ITEMS}/Send Message"].retrying == 1
    assert counts.states[f"{IN_ITEMS}/Send Message"].succeeded is None


def test_an_iteration_that_begins_after_another_ended_belongs_to_the_same_map() -> None:
    desk = Desk()
    desk.streams()
    a = desk.batch("a")
    (wait,) = send_items(a, 1)
    last = a.exit("Send Message", a.enter("Send Message", a.exit("Wait For Slot", wait, "Wait")))
    a.iterate("Send Items", 0, last, "Succeeded")
    a.enter("Wait For Slot", a.iterate("Send Items", 1, last), "Wait")

    counts = desk.look()

    assert counts.states[IN_ITEMS].running == 1
    assert counts.states[f"{IN_ITEMS}/Wait For Slot"].running == 1


def test_a_map_that_fails_leaves_nothing_of_its_iterations() -> None:
    desk = Desk()
    desk.streams()
    a = desk.batch("a")
    first, second = send_items(a, 2)
    failed = a.add("LambdaFunctionFailed", a.enter("Send Message", a.exit("Wait For Slot", first, "Wait")))
    a.iterate("Send Items", 0, failed, "Failed")
    a.iterate("Send Items", 1, a.add("WaitStateAborted", second), "Aborted")
    a.add("MapStateFailed", failed)
    a.exit("Send Items", kind="Map")
    a.enter("Admit Batch")

    counts = desk.look()

    assert running(counts) == {"Send Streams": 1, BATCHES: 1, f"{BATCHES}/Admit Batch": 1}


def test_a_child_that_was_stopped_has_nothing_in_it_though_it_is_still_listed() -> None:
    desk = Desk()
    desk.streams()
    a = desk.batch("a")
    send_items(a, 3)
    a.add("ExecutionAborted")

    counts = desk.look()

    assert running(counts) == {"Send Streams": 1, BATCHES: 1}


def test_a_map_run_that_is_over_has_nothing_in_its_children() -> None:
    desk = Desk()
    desk.streams()
    desk.batch("a")
    desk.look()
    desk.client.map_runs["run:batches"] = WrittenMapRun({"a": "ABORTED"}, status="ABORTED")

    counts = desk.look()

    assert (running(counts), counts.children_running) == ({"Send Streams": 1}, 0)


def test_a_child_that_ended_is_not_read_again_and_counts_nowhere_inside() -> None:
    desk = Desk()
    desk.streams()
    desk.batch("a")
    desk.look()
    desk.client.map_runs["run:batches"].children["a"] = "SUCCEEDED"
    before = desk.client.asked["get_execution_history"]

    counts = desk.look()

    assert f"{BATCHES}/Admit Batch" not in running(counts)
    assert counts.states[BATCHES].succeeded == 1
    assert desk.client.asked["get_execution_history"] == before


def test_who_waits_for_a_map_run_is_not_asked_while_that_runs() -> None:
    desk = Desk()
    stream = desk.streams()
    desk.look()
    quiet = desk.look()
    desk.client.map_runs["run:batches"].status = "SUCCEEDED"
    stream.exit("Send Batches", kind="Map")
    stream.add("ExecutionSucceeded")
    desk.client.map_runs["run:streams"] = WrittenMapRun({STREAM: "SUCCEEDED"}, status="SUCCEEDED")
    desk.root.exit("Send Streams", kind="Map")
    desk.root.enter("Report")

    after = desk.look()

    assert quiet.calls == 2  # the two Map Runs
    assert running(after) == {"Report": 1}


def test_what_should_not_have_changed_is_asked_all_the_same_now_and_then() -> None:
    desk = Desk()
    desk.streams()
    desk.look()
    desk.root.add("ExecutionAborted")  # and AWS is late with its Map Run's end
    soon = desk.look()
    desk.seconds += 11

    later = desk.look()

    assert (soon.status, later.status) == ("RUNNING", "ABORTED")


def test_a_map_run_that_is_redriven_is_followed_anew() -> None:
    desk = Desk()
    stream = desk.streams()
    desk.client.map_runs["run:batches"] = WrittenMapRun({"a": "SUCCEEDED", "b": "FAILED"}, status="FAILED")
    stream.add("MapRunFailed")
    stream.add("ExecutionFailed")
    desk.client.map_runs["run:streams"] = WrittenMapRun({STREAM: "FAILED"}, status="FAILED")
    desk.root.add("MapRunFailed")
    desk.root.add("ExecutionFailed")
    failed = desk.look()
    desk.root.add("ExecutionRedriven")
    desk.root.add("MapRunRedriven", mapRunArn="run:streams")
    stream.add("ExecutionRedriven")
    stream.add("MapRunRedriven", mapRunArn="run:batches")
    desk.client.map_runs["run:streams"] = WrittenMapRun({STREAM: "RUNNING"})
    desk.client.map_runs["run:batches"] = WrittenMapRun({"a": "SUCCEEDED"})
    desk.batch("b")

    redriven = desk.look()

    assert (failed.status, failed.states[BATCHES].failed) == ("FAILED", 1)
    assert running(redriven) == {"Send Streams": 1, BATCHES: 1, f"{BATCHES}/Admit Batch": 1}
    assert (redriven.status, redriven.states[BATCHES].failed) == ("RUNNING", 0)


def test_children_are_listed_again_only_when_their_number_changed() -> None:
    desk = Desk()
    desk.streams()
    desk.batch("a")
    desk.look()
    before = desk.client.asked["list_executions"]
    desk.look()
    same = desk.client.asked["list_executions"]
    desk.batch("b")

    counts = desk.look()

    assert (same - before, desk.client.asked["list_executions"] - same) == (0, 1)
    assert counts.states[f"{BATCHES}/Admit Batch"].running == 2


def test_a_campaign_that_is_over_costs_one_call_a_look() -> None:
    desk = Desk()
    stream = desk.streams()
    desk.client.map_runs["run:batches"] = WrittenMapRun({f"b{n}": "SUCCEEDED" for n in range(600)}, status="SUCCEEDED")
    desk.client.map_runs["run:streams"] = WrittenMapRun({STREAM: "SUCCEEDED"}, status="SUCCEEDED")
    stream.exit("Send Batches", kind="Map")
    stream.add("ExecutionSucceeded")
    desk.root.exit("Send Streams", kind="Map")
    desk.root.add("ExecutionSucceeded")

    first, second = desk.look(), desk.look()

    assert first.states[BATCHES].succeeded == 600
    assert (first.calls, second.calls) == (5, 1)
    assert running(second) == {}


# -- limits -----------------------------------------------------------------------------------------------------------


def test_more_children_than_a_look_reads_are_a_sample_until_all_have_had_their_turn() -> None:
    desk = Desk(most_children=2)
    desk.streams()
    for name in "abc":
        desk.batch(name)

    first, second = desk.look(), desk.look()

    assert (first.children_running, first.children_counted, first.is_sample, first.is_behind) == (3, 2, True, True)
    assert (second.children_counted, second.is_sample) == (3, False)
    assert second.states[f"{BATCHES}/Admit Batch"].running == 3


def test_when_aws_throttles_the_last_counts_stay_and_it_is_asked_less_and_less() -> None:
    desk = Desk()
    first = desk.look()
    desk.root.exit("Plan")
    desk.client.refusals = 1000
    asked = []
    for _ in range(60):
        desk.seconds += 1
        refused = desk.look()
        asked.append(refused.calls)
    desk.client.refusals = 0
    desk.seconds += 31

    again = desk.look()

    assert running(refused) == running(first) == {"Plan": 1}
    assert (refused.is_behind, refused.as_of) == (True, first.as_of)
    assert sum(asked) < 12
    assert (again.is_behind, again.states["Plan"].succeeded) == (False, 1)


def test_a_refusal_in_the_middle_of_a_history_loses_nothing() -> None:
    desk = Desk(FakeStepFunctions(DEFINITION, most=2))
    desk.look()
    desk.root.exit("Plan")
    desk.root.enter("Report")
    desk.root.exit("Report")
    desk.root.add("ExecutionSucceeded")
    answer = desk.client.get_execution_history

    def refuse_second_page(**given: Any) -> dict[str, Any]:
        desk.client.refusals = int("nextToken" in given)
        return answer(**given)

    desk.client.get_execution_history = refuse_second_page  # type: ignore[method-assign]
    refused = desk.look()
    desk.client.get_execution_history = answer  # type: ignore[method-assign]
    desk.seconds += 2
    after = desk.look()

    assert running(refused) == {"Plan": 1}
    assert (after.status, after.states["Report"].succeeded) == ("SUCCEEDED", 1)


def test_our_own_rate_is_kept_and_the_children_take_turns() -> None:
    desk = Desk(rates={"get_execution_history": Rate(4, 1)})
    desk.streams()
    for name in "abc":
        desk.batch(name)

    first = desk.look()  # the campaign, the stream, two children
    desk.seconds += 2
    second = desk.look()  # the third child, and the first again

    assert (first.children_counted, first.is_behind) == (2, True)
    assert (second.children_counted, second.is_behind) == (3, True)
    assert second.as_of == first.as_of
    assert desk.client.asked["get_execution_history"] == 6


def test_a_refusal_for_another_reason_is_told() -> None:
    desk = Desk()
    desk.client.refusals, desk.client.refusal_code = 1, "AccessDeniedException"

    with pytest.raises(ClientError, match="AccessDenied"):
        desk.look()
