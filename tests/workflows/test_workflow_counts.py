"""The counts of the drawn workflow agree with what the engine itself knows, at any moment of a campaign."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterator
from dataclasses import replace

import boto3
import pytest

from console.workflow.allowance import UNLIMITED
from console.workflow.counting import Counter
from console.workflow.counts import Counts
from paceline.moments import from_us
from sandbox.carrier import Profile
from sandbox.engine import Execution
from sandbox.engine.executions import RUNNING, Checkpoint
from sandbox.latency import Latencies
from tests.builders.campaigns import Office, an_office

LEADS = 160


def in_states(office: Office) -> Tally[str]:
    """Return how many are in each state, by the engine's own record of how far each line has come."""
    running = (execution for execution in office.sandbox.engine.executions() if execution.status == RUNNING)
    return Tally(name for execution in running for name in _states(execution.checkpoint))


def _states(line: Checkpoint | None) -> Iterator[str]:
    if line is None or line.output is not None or line.state is None:
        return
    yield line.state
    for inner in line.children.values():
        yield from _states(inner)


def counted(counter: Counter, counts: Counts) -> dict[str, int]:
    """Return the same from counts: without the Maps, which count what runs in them."""
    maps = {node.path for node in counter.graph.nodes if node.is_map}
    return {
        path.rpartition("/")[2]: count.running
        for path, count in counts.states.items()
        if count.running and path not in maps
    }


def without_maps(found: Tally[str]) -> dict[str, int]:
    maps = ("Send Streams", "Send Batches", "Send Groups", "Send Items", "Reconcile Batches")
    return {name: count for name, count in found.items() if name not in maps}


def a_counter(office: Office, execution: Execution) -> Counter:
    def now() -> object:
        return from_us(office.sandbox.scheduler.microseconds)

    return Counter(boto3.client("stepfunctions"), execution.arn, rates=UNLIMITED, at_once=1, now=now)  # type: ignore[arg-type]


@pytest.mark.parametrize("throttled", [0.0, 0.15], ids=["a kind carrier", "a carrier that throttles"])
def test_counts_agree_with_the_engine_at_every_moment(throttled: float) -> None:
    realistic = Latencies.realistic(1)
    # On its way between two states a line is in none, which the engine's record does not tell: so there is no way.
    latencies = replace(realistic, workflow=replace(realistic.workflow, transition=lambda: 0.0))
    profile = Profile(throttled=throttled)
    with an_office(profile=profile, latencies=latencies, route={"parts_per_minute": 120}) as office:
        execution = office.start(LEADS)
        counter, compared, most = a_counter(office, execution), 0, Tally[str]()
        while execution.status == RUNNING:
            office.passes(seconds=0.7 if compared < 100 else 60)
            counts = counter.look()
            assert counted(counter, counts) == without_maps(in_states(office))
            assert not counts.is_behind
            assert not counts.is_sample
            most |= in_states(office)
            compared += 1

        end = counter.look()

    assert compared > 100
    assert {"Send Message", "Wait For Slot", "Wait For Turn", "Wait For Next Look"} <= set(most)
    assert (end.status, sum(count.running for count in end.states.values())) == ("SUCCEEDED", 0)


def test_who_looks_first_at_the_end_sees_the_same_as_who_looked_on() -> None:
    with an_office() as office:
        execution = office.start(LEADS)
        early = a_counter(office, execution)
        while execution.status == RUNNING:
            office.passes(seconds=20)
            early.look()

        looked_on, late = early.look(), a_counter(office, execution).look()

    batches = late.states["Send Streams/Send Batches"]
    assert late.states == looked_on.states
    assert (batches.succeeded, batches.total, batches.failed) == (batches.total, batches.succeeded, 0)
    assert late.states["Campaign Finished"].succeeded == 1


def test_maps_count_what_runs_in_them() -> None:
    with an_office(route={"parts_per_minute": 60}) as office:
        execution = office.start(LEADS)
        office.passes(seconds=30)

        counts = a_counter(office, execution).look()

        runs = office.sandbox.engine.list_map_runs(execution.arn)
        streams = office.sandbox.engine.map_run(runs[0]["mapRunArn"]).children
        inside = in_states(office)
        batches = counts.states["Send Streams/Send Batches"]
        items = counts.states["Send Streams/Send Batches/Send Groups/Send Items"]
    assert counts.states["Send Streams"].total == len(streams)
    assert counts.children_running == counts.children_counted == batches.running > 0
    assert items.running == inside["Wait For Slot"] + inside["Send Message"] > 0
