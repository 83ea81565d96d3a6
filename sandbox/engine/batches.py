"""ItemBatcher: several items for one child execution."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sandbox.engine.documents import MAXIMUM_PAYLOAD_BYTES, Document, to_text
from sandbox.engine.errors import StateFailed
from sandbox.engine.executions import Branch
from sandbox.engine.states.maps import Number
from sandbox.engine.templates import compile_template


class ItemBatcher:
    """The compiled ItemBatcher field."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.max_items = Number(fields, "MaxItemsPerBatch")
        self.max_bytes = Number(fields, "MaxInputBytesPerBatch")
        self.batch_input = compile_template(fields["BatchInput"]) if "BatchInput" in fields else None

    def batches(self, branch: Branch, data: Any, items: list[Document]) -> Iterator[tuple[str, int]]:
        """Yield (input of a child, number of its items). Raises: StateFailed, StateRuntimeError."""
        shared = {} if self.batch_input is None else {"BatchInput": self.batch_input(data, branch)}
        around = to_text({"Items": [], **shared})
        most_items = int(self.max_items.value(branch, data) or len(items) or 1)
        most_bytes = int(self.max_bytes.value(branch, data) or MAXIMUM_PAYLOAD_BYTES)
        prefix, suffix = '{"Items":[', "]" + around[len('{"Items":[]') :]
        batch: list[str] = []
        size = len(around.encode())
        for item in items:
            more = len(item.text.encode()) + (1 if batch else 0)
            if batch and (len(batch) >= most_items or size + more > most_bytes):
                yield prefix + ",".join(batch) + suffix, len(batch)
                batch, size, more = [], len(around.encode()), len(item.text.encode())
            if size + more > most_bytes:
                raise StateFailed("States.ItemReaderFailed", "An item is larger than MaxInputBytesPerBatch allows.")
            batch.append(item.text)
            size += more
        if batch:
            yield prefix + ",".join(batch) + suffix, len(batch)
