"""The event history of one execution: compact while it grows, packed once the execution is over."""

from __future__ import annotations

import json
import zlib
from typing import Any

from paceline.moments import from_us
from sandbox.scheduler import Scheduler

MAXIMUM_EVENTS = 25_000
"""AWS's limit; the execution fails with its last event."""

_WITHOUT_DETAILS = {
    "LambdaFunctionStarted", "MapStateSucceeded", "MapStateFailed", "MapStateAborted", "MapRunSucceeded",
    "MapRunAborted", "ParallelStateStarted", "ParallelStateSucceeded", "ParallelStateFailed",
    "ParallelStateAborted", "WaitStateAborted", "TaskStateAborted",
}  # fmt: skip
_WITH_DATA = ("input", "output")


class HistoryFull(Exception):
    """One more event would leave no room for the one that ends the execution."""


class HistoryClosed(Exception):
    """The execution is over: what still runs in it must end without a trace."""


class History:
    """Events in order; an event's id is its position, from 1."""

    __slots__ = ("_events", "_packed", "_scheduler", "closed")

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._events: list[tuple[int, str, int, dict[str, Any] | None]] = []
        self._packed: bytes | None = None
        self.closed = False

    def add(
        self, event_type: str, previous: int, details: dict[str, Any] | None = None, *, is_last: bool = False
    ) -> int:
        """Append an event and return its id. Raises: HistoryClosed, HistoryFull."""
        events = self._events
        if self.closed:
            raise HistoryClosed
        if len(events) >= MAXIMUM_EVENTS - 1 and not is_last:
            raise HistoryFull
        events.append((self._scheduler.microseconds, event_type, previous, details))
        return len(events)

    def close(self) -> None:
        """Pack the events: most executions are never looked at again."""
        self.closed = True
        self._packed = zlib.compress(json.dumps(self._events, separators=(",", ":")).encode(), 1)
        self._events = []

    def reopen(self) -> None:
        """Unpack the events, to append those of a redrive."""
        self._events = [tuple(event) for event in self._unpacked()]
        self._packed = None
        self.closed = False

    def _unpacked(self) -> list[Any]:
        return self._events if self._packed is None else json.loads(zlib.decompress(self._packed))

    def __len__(self) -> int:
        return len(self._unpacked())

    def events(self, first: int = 1, last: int | None = None) -> list[dict[str, Any]]:
        """Return the events from id `first` to id `last` (None: the end) as boto3's get_execution_history does."""
        chosen = self._unpacked()[first - 1 : last]
        return [_shown(number, *event) for number, event in enumerate(chosen, start=first)]


def details_key(event_type: str) -> str:
    """Return the key that holds an event's details: PassStateEntered -> stateEnteredEventDetails."""
    for suffix in ("StateEntered", "StateExited"):
        if event_type.endswith(suffix):
            return f"s{suffix[1:]}EventDetails"
    return f"{event_type[0].lower()}{event_type[1:]}EventDetails"


def _shown(
    number: int, microseconds: int, event_type: str, previous: int, details: dict[str, Any] | None
) -> dict[str, Any]:
    event: dict[str, Any] = {
        "timestamp": from_us(microseconds), "type": event_type, "id": number, "previousEventId": previous,
    }  # fmt: skip
    if event_type not in _WITHOUT_DETAILS:
        shown = dict(details or {})
        for key in _WITH_DATA:
            if key in shown:
                shown[f"{key}Details"] = {"truncated": False}
        event[details_key(event_type)] = shown
    return event
