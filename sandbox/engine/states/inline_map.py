"""Map, inline: iterations inside the execution, in its history."""

from __future__ import annotations

from typing import Any

from sandbox.engine.documents import Document
from sandbox.engine.errors import StateFailed
from sandbox.engine.executions import Branch, Checkpoint
from sandbox.engine.pool import Pool
from sandbox.engine.states.maps import MapState, map_item

MAXIMUM_CONCURRENCY = 40
"""AWS runs no more iterations of an inline Map at once."""


class InlineMapState(MapState):
    def run(self, branch: Branch, data: Document, checkpoint: Checkpoint) -> tuple[Document, str | None]:
        effective = self.effective_input(branch, data)
        items = self.items(branch, effective)
        limit = self.concurrency(branch, effective) or MAXIMUM_CONCURRENCY
        branch.event("MapStateStarted", {"length": len(items)})
        iterations = _Iterations(self, branch, effective, items, checkpoint)
        pool = Pool(branch.runtime.scheduler, iterations.run_one, lambda: min(limit, MAXIMUM_CONCURRENCY))
        try:
            pool.run(range(len(items)))
        except StateFailed:
            branch.previous = iterations.abort()
            raise
        branch.previous = iterations.last_event
        branch.event("MapStateSucceeded")
        return self.output(branch, data, Document(iterations.outputs)), self.next


class _Iterations:
    """The iterations of one attempt at a Map."""

    def __init__(
        self, state: InlineMapState, branch: Branch, effective: Document, items: list[Any], checkpoint: Checkpoint
    ) -> None:
        self.state = state
        self.branch = branch
        self.effective = effective
        self.items = items
        self.checkpoint = checkpoint
        self.outputs: list[Any] = [None] * len(items)
        self.running: dict[int, Branch] = {}
        self.last_event = branch.previous
        self._resume_from = branch.previous

    def run_one(self, index: int) -> None:
        earlier = self.checkpoint.child(index)
        if earlier.output is not None:  # it was done before a redrive
            self.outputs[index] = earlier.output.value
            return
        line = self.branch.fork(map_item(index, self.items[index]))
        line.previous = self._resume_from
        details = {"name": self.state.name, "index": index}
        line.event("MapIterationStarted", details)
        self.running[index] = line
        try:
            data = self.state.selected(line, self.effective, self.items[index])
            self.outputs[index] = self.state.program.run(line, data, earlier).value
        except StateFailed:
            del self.running[index]
            self._resume_from = self.last_event = line.previous
            line.event("MapIterationFailed", details)
            raise
        del self.running[index]
        # the next iteration follows this one's last state, as recorded on AWS
        self._resume_from = line.previous
        self.last_event = line.event("MapIterationSucceeded", details)

    def abort(self) -> int:
        """Record that the iterations still running end here; return the event that the Map's failure follows."""
        for index, line in self.running.items():
            line.abort()
            line.event("MapIterationAborted", {"name": self.state.name, "index": index})
        return self.last_event
