"""Task: call a function, or one of the integrations in task_integrations.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sandbox.engine.documents import Document, as_shown
from sandbox.engine.errors import StateRuntimeError
from sandbox.engine.executions import Branch, Checkpoint
from sandbox.engine.states.base import State
from sandbox.engine.states.task_integrations import Limits, integration_for
from sandbox.engine.states.wait import MAXIMUM_SECONDS
from sandbox.engine.templates import compile_expression

Seconds = Callable[[Document, Branch], int | None]


class TaskState(State):
    type = "Task"
    can_retry = True

    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        super().__init__(name, fields)
        self.integration = integration_for(fields["Resource"])
        self.timeout = _seconds(fields, "TimeoutSeconds")
        self.heartbeat = _seconds(fields, "HeartbeatSeconds")

    def run(self, branch: Branch, data: Document, checkpoint: Checkpoint) -> tuple[Document, str | None]:
        effective = self.effective_input(branch, data)
        limits = Limits(self.timeout(effective, branch), self.heartbeat(effective, branch))
        result = self.integration.run(branch, lambda: self.payload(branch, data), limits)
        return self.output(branch, data, result), self.next


def _seconds(fields: dict[str, Any], name: str) -> Seconds:
    """Return how to find a limit in seconds: constant, by path, or None where there is none."""
    path = f"{name}Path"
    if path not in fields:
        constant = fields.get(name)
        return lambda data, branch: constant
    find = compile_expression(path, fields[path])

    def seconds(data: Document, branch: Branch) -> int:
        value = find(data.value, branch)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= MAXIMUM_SECONDS:
            raise StateRuntimeError(
                f'The {path} field refers to value "{as_shown(value)}" which is not a valid integer: {fields[path]}'
            )
        return value

    return seconds
