"""Where one execution is, from its history: every line of control in it, and the state each is in.

A line is the execution's main line, an iteration of an inline Map or a branch of a Parallel. An event belongs to the
line of the event that it follows (`previousEventId`); that is how a Task's failure, which names no state, is told.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from console.workflow.definition import joined

Event = dict[str, Any]
_ENDS = {
    "ExecutionSucceeded": "SUCCEEDED", "ExecutionFailed": "FAILED", "ExecutionTimedOut": "TIMED_OUT",
    "ExecutionAborted": "ABORTED",
}  # fmt: skip
_ITERATION_ENDS = ("MapIterationSucceeded", "MapIterationFailed", "MapIterationAborted")
_FAILURES = ("Failed", "TimedOut", "StartFailed", "ScheduleFailed", "SubmitFailed")
_TRIES_AGAIN = ("Scheduled", "Started")


@dataclass(slots=True)
class Tally:
    """Visits of one state in one execution; for an inline Map, its iterations. retrying is part of running."""

    running: int = 0
    succeeded: int = 0
    failed: int = 0
    retrying: int = 0


@dataclass(eq=False, slots=True)
class _Line:
    parent: _Line | None
    inside: str
    """The path of the Map or Parallel that it runs in."""
    iterates: bool = False
    state: str | None = None
    path: str = ""
    has_failed: bool = False
    is_over: bool = False
    inner: list[_Line] = field(default_factory=list)


class Lines:
    """The lines of one execution. Feed it the history in order, as far as it is known: `read`.

    prefix: the path of the Distributed Map whose child the execution is, or "".
    tallies: by state path. known: the id of the last event read, or 0.
    """

    def __init__(self, prefix: str = "", inline_maps: frozenset[str] = frozenset()) -> None:
        self.tallies: dict[str, Tally] = {}
        self.status = "RUNNING"
        self.known = 0
        self._main = _Line(None, prefix)
        self._lines: list[_Line] = [self._main]
        self._inline_maps = inline_maps
        self._map_runs: list[tuple[str, str]] = []

    def read(self, events: Iterable[Event]) -> None:
        """Take the events that follow the last one known, in order."""
        for event in events:
            assert event["id"] == self.known + 1, "an event is missing"
            self._lines.append(self._take(event))
            self.known += 1

    @property
    def place(self) -> str:
        """The path of the state in which the main line is; "" between two states."""
        return self._main.path if self._main.state is not None else ""

    def take_map_runs(self) -> list[tuple[str, str]]:
        """Return the Map Runs that began, or began again, since this was last asked: the ARN and the Map's path."""
        taken, self._map_runs = self._map_runs, []
        return taken

    def _take(self, event: Event) -> _Line:
        kind: str = event["type"]
        line = self._lines[event.get("previousEventId", 0)]
        if kind.endswith("StateEntered"):
            return self._enter(line, event["stateEnteredEventDetails"]["name"])
        if kind.endswith("StateExited"):
            return self._exit(line, event["stateExitedEventDetails"]["name"])
        if kind == "MapIterationStarted":
            return self._begin_iteration(line, event["mapIterationStartedEventDetails"]["name"])
        if kind in _ITERATION_ENDS:
            return self._end_iteration(line, is_good=kind == "MapIterationSucceeded")
        if kind in _ENDS:
            return self._end_execution(_ENDS[kind])
        if kind == "ExecutionRedriven":
            return self._begin_again()
        self._note(line, kind, event)
        return line

    def _tally(self, path: str) -> Tally:
        return self.tallies.setdefault(path, Tally())

    # -- states -------------------------------------------------------------------------------------------------------

    def _enter(self, line: _Line, name: str) -> _Line:
        if line.state == name and not line.is_over:  # after a redrive
            return line
        if line.state is not None and not line.is_over:  # the Parallel's line stays in it
            line = self._new_line(line, iterates=False)
        line.state, line.path, line.has_failed = name, joined(line.inside, name), False
        if line.path not in self._inline_maps:
            self._tally(line.path).running += 1
        return line

    def _exit(self, line: _Line, name: str) -> _Line:
        line = _up_to(line, name)
        self._leave(line, is_good=not line.has_failed)
        return line

    def _leave(self, line: _Line, *, is_good: bool | None) -> None:
        """Let a line leave its state, and end what runs inside. is_good: None is neither done nor failed."""
        for inner in line.inner:
            self._end(inner, is_good=None)
        line.inner = []
        if line.state is None:
            return
        if line.path not in self._inline_maps:
            self._count(line.path, is_good)
        self._set_failed(line, False)
        line.state = None

    def _count(self, path: str, is_good: bool | None) -> None:
        tally = self._tally(path)
        tally.running -= 1
        tally.succeeded += is_good is True
        tally.failed += is_good is False

    def _note(self, line: _Line, kind: str, event: Event) -> None:
        """Take an event inside a state: a failure, another try, a Map Run."""
        if kind in ("MapRunStarted", "MapRunRedriven"):
            arn = event[f"{kind[0].lower()}{kind[1:]}EventDetails"]["mapRunArn"]
            self._map_runs.append((arn, line.path))
        if kind.endswith(_FAILURES):
            self._set_failed(line, True)
        elif kind.endswith(_TRIES_AGAIN):
            self._set_failed(line, False)

    def _set_failed(self, line: _Line, has_failed: bool) -> None:
        if line.state is not None and line.path not in self._inline_maps and line.has_failed != has_failed:
            self._tally(line.path).retrying += 1 if has_failed else -1
        line.has_failed = has_failed

    # -- lines --------------------------------------------------------------------------------------------------------

    def _new_line(self, parent: _Line, *, iterates: bool) -> _Line:
        line = _Line(parent, parent.path, iterates)
        parent.inner.append(line)
        return line

    def _begin_iteration(self, line: _Line, name: str) -> _Line:
        line = self._new_line(_up_to(line, name), iterates=True)
        self._tally(line.inside).running += 1
        return line

    def _end_iteration(self, line: _Line, *, is_good: bool) -> _Line:
        while (line.is_over or not line.iterates) and line.parent is not None:
            line = line.parent
        self._end(line, is_good=is_good)
        if line.parent is not None and line in line.parent.inner:
            line.parent.inner.remove(line)
        return line

    def _end(self, line: _Line, *, is_good: bool | None) -> None:
        if line.is_over:
            return
        self._leave(line, is_good=False if line.has_failed else None)
        line.is_over = True
        if line.iterates:
            self._count(line.inside, is_good)

    def _end_execution(self, status: str) -> _Line:
        self.status = status
        state, path = self._main.state, self._main.path
        self._leave(self._main, is_good=None if status in ("SUCCEEDED", "ABORTED") else False)
        self._main.state, self._main.path, self._main.is_over = state, path, True
        return self._main

    def _begin_again(self) -> _Line:
        """A redrive goes on in the state in which the execution ended, without entering it anew."""
        self.status, self._main.is_over = "RUNNING", False
        if self._main.state is not None and self._main.path not in self._inline_maps:
            self._tally(self._main.path).running += 1
            self._tally(self._main.path).failed -= self._tally(self._main.path).failed > 0
        return self._main


def _up_to(line: _Line, name: str) -> _Line:
    """Return the line, of this one and those it is in, that is in a state of that name."""
    while line.state != name and line.parent is not None:
        line = line.parent
    return line
