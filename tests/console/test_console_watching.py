"""A page that shows counts never waits long for them, and one that shows what is over asks seldom."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Event
from typing import Any

import pytest

from console.reach import CannotReach
from console.web import watching
from console.web.watching import OVER_SECONDS, Watched
from console.workflow.counts import Counts
from tests.builders.campaign_answers import NOW
from tests.builders.console import a_console, a_system
from tests.fakes.step_functions import FakeStepFunctions, WrittenHistory

ARN = "arn:root"
DEFINITION = {"StartAt": "Plan", "States": {"Plan": {"Type": "Task", "Resource": "r", "End": True}}}


@dataclass
class Slow(FakeStepFunctions):
    """Answers for histories once it may."""

    may: Event = field(default_factory=Event)

    def get_execution_history(self, **given: Any) -> dict[str, Any]:
        assert self.may.wait(10)
        return super().get_execution_history(**given)


class Clock:
    seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def a_watch(client: FakeStepFunctions) -> tuple[Watched, WrittenHistory, Clock]:
    """Return what watches an execution that plans, its history, and a clock."""
    history = client.histories[ARN] = WrittenHistory()
    history.add("ExecutionStarted", 0)
    history.enter("Plan")
    site = a_console(system=a_system(client=lambda *_, **__: client)).site
    clock = Clock()
    return Watched(site, ARN, clock), history, clock


def counts_of(watched: Watched) -> Counts | None:
    found = watched.look(NOW)
    return found[1] if found else None


def planned(watched: Watched) -> int:
    counts = counts_of(watched)
    assert counts
    return counts.states["Plan"].running


def test_counts_are_of_now_and_dated_by_the_systems_clock() -> None:
    watched, history, _ = a_watch(FakeStepFunctions(DEFINITION))

    before = planned(watched)
    history.exit("Plan")
    counts = counts_of(watched)

    assert before == 1
    assert counts
    assert counts.states["Plan"].running == 0
    assert counts.as_of == NOW


def test_a_page_does_not_wait_for_counts_that_take_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "PATIENCE_SECONDS", 0.01)
    client = Slow(DEFINITION)
    watched, _, _ = a_watch(client)

    early = [counts_of(watched) for _ in range(3)]
    client.may.set()
    monkeypatch.setattr(watching, "PATIENCE_SECONDS", 10)

    assert early == [None] * 3
    assert planned(watched) == 1
    assert client.asked["get_execution_history"] == 1


def test_what_may_not_be_read_is_told_and_tried_again() -> None:
    client = FakeStepFunctions(DEFINITION, refusals=1, refusal_code="AccessDeniedException")
    watched, _, _ = a_watch(client)

    with pytest.raises(CannotReach, match="You may not do"):
        watched.look(NOW)

    assert planned(watched) == 1


def test_an_execution_that_is_over_is_asked_for_seldom() -> None:
    client = FakeStepFunctions(DEFINITION)
    watched, history, clock = a_watch(client)
    history.exit("Plan")
    history.add("ExecutionSucceeded")

    for _ in range(5):
        counts_of(watched)
    before = client.asked["get_execution_history"]
    clock.seconds += OVER_SECONDS
    counts_of(watched)

    assert (before, client.asked["get_execution_history"]) == (1, 2)
