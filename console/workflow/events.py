"""An execution's history as people read it: each event with the state it is of, how long that took and what failed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Event = dict[str, Any]
_FAILURES = ("Failed", "TimedOut", "Aborted")
# Of a try of a Task, what its end is measured from: the time in a queue counts.
_TRY_ENDS = ("Succeeded", "Failed", "TimedOut", "StartFailed", "SubmitFailed")
_MOST_STEPS = 1000  # back from an event; AWS lets a history have 25,000
_MOST_KNOWN = 50_000


@dataclass(frozen=True, slots=True)
class Row:
    """An event. state: "" where it is of none, None where that is not known here. seconds: since what it ends began.

    asked: the event with what the Task was asked that failed here. map_run: its ARN, where the event is of one.
    """

    id: int
    type: str
    at: datetime
    state: str | None
    follows: int
    seconds: float | None
    input: str
    output: str
    error: str
    cause: str
    index: int | None
    asked: int | None
    map_run: str

    @property
    def is_failure(self) -> bool:
        return self.type.endswith(_FAILURES)


@dataclass(frozen=True, slots=True)
class _Mark:
    type: str
    at: datetime
    follows: int
    state: str | None
    index: int | None
    map_run: str


class Known:
    """What is known of one execution's events, from every page that was read: which state each is of."""

    def __init__(self) -> None:
        self._marks: dict[int, _Mark] = {}

    def add(self, events: Iterable[Event]) -> None:
        """Take events, in any order."""
        if len(self._marks) > _MOST_KNOWN:
            self._marks.clear()
        self._marks |= {event["id"]: _mark(event) for event in events}

    def row(self, event: Event) -> Row:
        """Return an event that was added as a row."""
        number, details, mark = event["id"], _details(event), self._marks[event["id"]]
        began = self._began(number)
        return Row(
            id=number,
            type=mark.type,
            at=mark.at,
            state=self.state_of(number),
            follows=mark.follows,
            seconds=(mark.at - self._marks[began].at).total_seconds() if began else None,
            input=details.get("input") or details.get("parameters") or "",
            output=details.get("output") or "",
            error=details.get("error") or "",
            cause=details.get("cause") or "",
            index=mark.index,
            asked=began if _is_try(mark.type) and "error" in details else None,
            map_run=mark.map_run or (self._marks[began].map_run if began else ""),
        )

    def state_of(self, number: int) -> str | None:
        """Return the state that an event is of: its own word, or that of the event it follows; "" is none."""
        if (mark := self._marks.get(number)) and mark.type.startswith("Execution"):
            return ""
        return next((mark.state for _, mark in self._back(number) if mark.state is not None), None)

    def _back(self, number: int) -> Iterator[tuple[int, _Mark]]:
        """Yield an event and those it follows, as far as they are known."""
        for _ in range(_MOST_STEPS):
            if (mark := self._marks.get(number)) is None:
                return
            yield number, mark
            number = mark.follows

    def _began(self, number: int) -> int | None:
        """Return the event with which that began which this one ends; None: it ends nothing, or that is not known."""
        end = self._marks[number]
        for at, mark in self._back(end.follows):
            if _begins(mark, end):
                return at
            if _is_try(end.type) and mark.type.endswith("StateEntered"):
                return None
        return None


def _begins(mark: _Mark, end: _Mark) -> bool:
    if end.type.endswith("StateExited"):
        return mark.type.endswith("StateEntered") and mark.state == end.state
    if end.type.startswith("MapIteration") and end.type != "MapIterationStarted":
        return mark.type == "MapIterationStarted" and mark.state == end.state
    if end.type.startswith("MapRun") and not end.map_run:
        return bool(mark.map_run)
    return _is_try(end.type) and end.type.endswith(_TRY_ENDS) and mark.type.endswith("Scheduled")


def _is_try(kind: str) -> bool:
    return kind.startswith(("Task", "LambdaFunction")) and "State" not in kind


def _mark(event: Event) -> _Mark:
    kind, details = event["type"], _details(event)
    is_named = kind.endswith(("StateEntered", "StateExited")) or kind.startswith("MapIteration")
    return _Mark(
        kind,
        event["timestamp"],
        event.get("previousEventId", 0),
        details["name"] if is_named else None,
        details.get("index") if is_named else None,
        details.get("mapRunArn", ""),
    )


def _details(event: Event) -> dict[str, Any]:
    return next((value for name, value in event.items() if name.endswith("EventDetails") and value), {})
