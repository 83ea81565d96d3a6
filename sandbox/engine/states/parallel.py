"""Parallel: branches side by side, each with the same input."""

from __future__ import annotations

from typing import Any

from sandbox.engine.compiler import compile_program
from sandbox.engine.documents import Document
from sandbox.engine.errors import StateFailed
from sandbox.engine.executions import Branch, Checkpoint
from sandbox.engine.pool import Pool
from sandbox.engine.states.base import State


class ParallelState(State):
    type = "Parallel"
    can_retry = True
    failure_event = "ParallelStateFailed"

    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        super().__init__(name, fields)
        self.branches = [compile_program(branch) for branch in fields["Branches"]]

    def run(self, branch: Branch, data: Document, checkpoint: Checkpoint) -> tuple[Document, str | None]:
        payload = self.payload(branch, data)
        branch.event("ParallelStateStarted")
        lines = _Lines(self, branch, payload, checkpoint)
        pool = Pool(branch.runtime.scheduler, lines.run_one, lambda: len(self.branches))
        try:
            pool.run(range(len(self.branches)))
        except StateFailed:
            branch.previous = lines.last_event
            lines.abort()
            raise
        branch.previous = lines.last_event
        branch.event("ParallelStateSucceeded")
        return self.output(branch, data, Document(lines.outputs)), self.next


class _Lines:
    """The branches of one attempt at a Parallel."""

    def __init__(self, state: ParallelState, branch: Branch, payload: Document, checkpoint: Checkpoint) -> None:
        self.state = state
        self.branch = branch
        self.payload = payload
        self.checkpoint = checkpoint
        self.outputs: list[Any] = [None] * len(state.branches)
        self.running: dict[int, Branch] = {}
        self.last_event = branch.previous

    def run_one(self, index: int) -> None:
        line = self.running[index] = self.branch.fork()
        try:
            program = self.state.branches[index]
            self.outputs[index] = program.run(line, self.payload, self.checkpoint.child(index)).value
        except StateFailed:
            del self.running[index]
            self.last_event = line.previous
            raise
        del self.running[index]
        self.last_event = line.previous

    def abort(self) -> None:
        """Record that the branches still running end here."""
        for line in self.running.values():
            line.abort()
