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
        outputs: list[Any] = [None] * len(self.branches)
        running: dict[int, Branch] = {}

        def work(index: int) -> None:
            line = running[index] = branch.fork()
            try:
                outputs[index] = self.branches[index].run(line, payload, checkpoint.child(index)).value
            finally:
                last[0] = line.previous
            del running[index]

        last = [branch.previous]
        pool = Pool(branch.runtime.scheduler, work, lambda: len(self.branches))
        try:
            pool.run(range(len(self.branches)))
        except StateFailed:
            branch.previous = last[0]
            for line in running.values():
                line.abort()
            raise
        branch.previous = last[0]
        branch.event("ParallelStateSucceeded")
        return self.output(branch, data, Document(outputs)), self.next
