"""Wait: until a moment, or for a number of whole seconds."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from paceline.moments import MICROSECONDS, to_us
from sandbox.engine.documents import Document, as_shown
from sandbox.engine.errors import StateRuntimeError
from sandbox.engine.executions import Branch, Checkpoint
from sandbox.engine.states.base import State
from sandbox.engine.templates import compile_expression
from sandbox.engine.timestamps import parse_timestamp

MAXIMUM_SECONDS = 99_999_999
"""AWS's limit for Seconds, and for a task's and an execution's timeout."""


class WaitState(State):
    type = "Wait"

    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        super().__init__(name, fields)
        self.field = next(key for key in ("Seconds", "SecondsPath", "Timestamp", "TimestampPath") if key in fields)
        self.value = fields[self.field]
        self.moment = parse_timestamp(self.value) if self.field == "Timestamp" else None
        self.find = compile_expression(self.field, self.value) if self.field.endswith("Path") else None

    def run(self, branch: Branch, data: Document, checkpoint: Checkpoint) -> tuple[Document, str | None]:
        runtime, effective = branch.runtime, self.effective_input(branch, data)
        if (
            until := self._until(branch, effective)
        ) > runtime.scheduler.microseconds:  # else there is nothing to wait for
            runtime.scheduler.sleep_until(until + round(runtime.timing.wait_lateness() * MICROSECONDS))
        return self.filtered(branch, effective), self.next

    def _until(self, branch: Branch, effective: Document) -> int:
        """Return the moment at which to go on, in microseconds since 1970."""
        now = branch.runtime.scheduler.microseconds
        value = self.value if self.find is None else self.find(effective.value, branch)
        if self.field.startswith("Seconds"):
            return now + self._seconds(value) * MICROSECONDS
        moment = self.moment or self._timestamp(value)
        return max(now, to_us(moment))

    def _seconds(self, value: Any) -> int:
        shown = f"{self.value} == {as_shown(value)}"
        if isinstance(value, bool) or not isinstance(value, int):
            raise StateRuntimeError(f"The SecondsPath parameter cannot be parsed as a long value: {shown}")
        if value < 0:
            raise StateRuntimeError(f"The SecondsPath parameter references a negative value: {shown}")
        if value > MAXIMUM_SECONDS:
            raise StateRuntimeError(f"The SecondsPath parameter is greater than {MAXIMUM_SECONDS}: {shown}")
        return value

    def _timestamp(self, value: Any) -> datetime:
        if (moment := parse_timestamp(value)) is None:
            raise StateRuntimeError(
                "The TimestampPath parameter does not reference a valid ISO-8601 extended offset date-time format "
                f"string: {self.value} == {as_shown(value)}"
            )
        return moment
