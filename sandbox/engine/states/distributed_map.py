"""Map, distributed: each item or batch is an execution of its own, under a Map Run."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator
from typing import Any

from sandbox.engine import lifecycle
from sandbox.engine.batches import ItemBatcher
from sandbox.engine.documents import Document, is_too_large
from sandbox.engine.errors import StateFailed, StateRuntimeError
from sandbox.engine.executions import ABORTED, FAILED, RUNNING, SUCCEEDED, Branch, Checkpoint, Execution
from sandbox.engine.map_runs import THRESHOLD_CAUSE, THRESHOLD_ERROR, MapRun, Tolerance
from sandbox.engine.pool import Pool
from sandbox.engine.readers import ItemReader
from sandbox.engine.result_writer import ResultWriter
from sandbox.engine.states.base import data_limit_exceeded
from sandbox.engine.states.maps import MapState, Number, map_item


class DistributedMapState(MapState):
    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        super().__init__(name, fields)
        self.label: str | None = fields.get("Label")
        self.reader = ItemReader(fields["ItemReader"]) if "ItemReader" in fields else None
        self.batcher = ItemBatcher(fields["ItemBatcher"]) if "ItemBatcher" in fields else None
        self.writer = ResultWriter(fields["ResultWriter"]) if "ResultWriter" in fields else None
        self.tolerated_count = Number(fields, "ToleratedFailureCount")
        self.tolerated_percentage = Number(fields, "ToleratedFailurePercentage")

    def run(self, branch: Branch, data: Document, checkpoint: Checkpoint) -> tuple[Document, str | None]:
        effective = self.effective_input(branch, data)
        items = None if self.reader is not None else self.items(branch, effective)
        if checkpoint.map_run is None:
            branch.event("MapStateStarted", {"length": len(items) if items is not None else 0})
            map_run = checkpoint.map_run = self._start(branch, effective)
            branch.event("MapRunStarted", {"mapRunArn": map_run.arn})
        else:
            map_run = checkpoint.map_run
            map_run.begin_again(branch.runtime.scheduler.now())
            branch.event("MapRunRedriven", {"mapRunArn": map_run.arn, "redriveCount": map_run.redrive_count})
        result = self._result(branch, effective, items, map_run)
        return self.output(branch, data, result), self.next

    def _result(self, branch: Branch, effective: Document, items: list[Any] | None, map_run: MapRun) -> Document:
        """Run the children and gather their results, with the events that end the Map Run."""
        status = ABORTED
        try:
            if not map_run.item_counts:
                self._prepare(branch, effective, items, map_run)
            result = self._run_children(branch, effective, map_run)
            status = SUCCEEDED
        except StateFailed as failure:
            status = FAILED
            named = (("error", failure.error), ("cause", failure.cause))
            branch.event("MapRunFailed", {name: text for name, text in named if text is not None})
            raise
        finally:
            map_run.status, map_run.stop_date = status, branch.runtime.scheduler.now()
        last = branch.event("MapRunSucceeded")
        branch.event("MapStateSucceeded")
        branch.previous = last
        return result

    def _start(self, branch: Branch, effective: Document) -> MapRun:
        """Raises: StateRuntimeError, where a number is not what it must be."""
        runtime, execution = branch.runtime, branch.execution
        concurrency = self.concurrency(branch, effective)
        tolerance = self._tolerance(branch, effective)
        label = self._label(execution)
        machine = execution.state_machine_name.partition("/")[0]
        arn = runtime.arn("mapRun", f"{machine}/{label}:{runtime.new_uuid()}")
        map_run = MapRun(arn, execution.arn, runtime.scheduler.now(), concurrency, tolerance)
        runtime.map_runs[arn] = map_run
        return map_run

    def _label(self, execution: Execution) -> str:
        """Return the Label, or one that stays the same for this state as AWS's made-up ones do."""
        if self.label is not None:
            return self.label
        digest = hashlib.sha256(f"{execution.state_machine_arn}/{self.name}".encode()).digest()
        return str(uuid.UUID(bytes=digest[:16], version=4))

    def _tolerance(self, branch: Branch, effective: Document) -> Tolerance:
        count = self.tolerated_count.value(branch, effective.value)
        if count is not None and count < 0:
            raise StateRuntimeError("ToleratedFailureCount cannot be negative.")
        percentage = self.tolerated_percentage.value(branch, effective.value, (int, float))
        if percentage is not None and not 0 <= percentage <= 100:
            raise StateRuntimeError("ToleratedFailurePercentage must be between 0 and 100.")
        return Tolerance(None if count is None else int(count), percentage)

    # -- children -----------------------------------------------------------------------------------------------

    def _prepare(self, branch: Branch, effective: Document, items: list[Any] | None, map_run: MapRun) -> None:
        """Read the items and make the inputs of the children. Raises: StateFailed, StateRuntimeError."""
        if items is None and self.reader is not None:
            items = self.reader.read(branch, effective.value)
        for text, count in self._inputs(branch, effective, items or []):
            if is_too_large(text):
                raise data_limit_exceeded(self.name, only_by_name=False)
            map_run.child_inputs.append(text)
            map_run.item_counts.append(count)

    def _inputs(self, branch: Branch, effective: Document, items: list[Any]) -> Iterator[tuple[str, int]]:
        line = branch.fork()
        selected = []
        for index, item in enumerate(items):
            line.map_item = map_item(index, item)
            selected.append(self.selected(line, effective, item))
        if self.batcher is not None:
            return self.batcher.batches(branch, effective.value, selected)
        return ((document.text, 1) for document in selected)

    def _run_children(self, branch: Branch, effective: Document, map_run: MapRun) -> Document:
        """Raises: StateFailed States.ExceedToleratedFailureThreshold, States.ResultWriterFailed."""
        runtime = branch.runtime
        pool: Pool[int] = Pool(
            runtime.scheduler,
            lambda index: self._run_child(branch, map_run, index),
            lambda: map_run.limit,
            runtime.timing.child_start_spacing,
        )
        map_run.wake = pool.wake
        try:
            pool.run(i for i in range(len(map_run.child_inputs)) if not _is_done(map_run.children.get(i)))
        except StateFailed:
            _stop_children(runtime, map_run)
            if self.writer is not None:
                self.writer.write(branch, effective.value, map_run)
            raise
        if self.writer is not None:
            return Document(self.writer.write(branch, effective.value, map_run))
        return _outputs(map_run)

    def _run_child(self, branch: Branch, map_run: MapRun, index: int) -> None:
        runtime, child = branch.runtime, map_run.children.get(index)
        if child is None:
            label = map_run.arn.split("/")[1].partition(":")[0]
            child = lifecycle.new_child(runtime, branch.execution, self.program, label, map_run.child_inputs[index])
            child.map_run_arn, child.item_count = map_run.arn, map_run.item_counts[index]
            map_run.children[index] = child
            lifecycle.start(runtime, child)
        else:
            lifecycle.redrive(runtime, child)
        try:
            child.done.wait()
        finally:
            if child.status == RUNNING:
                lifecycle.stop(runtime, child, ABORTED)
        if child.status != SUCCEEDED and map_run.count_failure(child.item_count):
            raise StateFailed(THRESHOLD_ERROR, THRESHOLD_CAUSE)


def _is_done(child: Execution | None) -> bool:
    return child is not None and child.status == SUCCEEDED


def _stop_children(runtime: Any, map_run: MapRun) -> None:
    for child in map_run.children.values():
        if child.status == RUNNING:
            lifecycle.stop(runtime, child, ABORTED)


def _outputs(map_run: MapRun) -> Document:
    """Return the outputs in the order of the items; a child that failed within the tolerance leaves none."""
    children = (map_run.children[index] for index in range(len(map_run.child_inputs)))
    texts = [child.output for child in children if child.output is not None]
    return Document.parse("[" + ",".join(texts) + "]")
