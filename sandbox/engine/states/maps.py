"""What inline and Distributed Maps share: their items and their numbers that may come by path."""

from __future__ import annotations

from typing import Any

from sandbox.engine.compiler import compile_program
from sandbox.engine.documents import Document, as_shown
from sandbox.engine.errors import StateRuntimeError
from sandbox.engine.executions import Branch
from sandbox.engine.states.base import State, optional_path
from sandbox.engine.templates import compile_expression, compile_template

Kinds = tuple[type[int] | type[float], ...]


class Number:
    """A number field of a state, constant or by path."""

    def __init__(self, fields: dict[str, Any], name: str) -> None:
        self.name = name
        self.constant: int | float | None = fields.get(name)
        self.path: str | None = fields.get(f"{name}Path")
        self.find = compile_expression(f"{name}Path", self.path) if self.path is not None else None

    def value(self, branch: Branch, data: Any, kinds: Kinds = (int,)) -> int | float | None:
        """Return the number, or None where the field is absent. Raises: StateRuntimeError, where it is no number."""
        if self.find is None:
            return self.constant
        value: Any = self.find(data, branch)
        if isinstance(value, bool) or not isinstance(value, kinds):
            problem = f"which is not a valid {'integer' if kinds == (int,) else 'number'}: {self.path}"
            raise StateRuntimeError(f'The {self.name}Path field refers to value "{as_shown(value)}" {problem}')
        return value


class MapState(State):
    """A Map: Parameters is the old name of ItemSelector, Iterator of ItemProcessor."""

    type = "Map"
    can_retry = True
    failure_event = "MapStateFailed"

    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        super().__init__(name, fields)
        selector = fields.get("ItemSelector", fields.get("Parameters"))
        self.parameters = None
        self.selector = compile_template(selector) if selector is not None else None
        self.items_path = optional_path(fields, "ItemsPath")
        self.max_concurrency = Number(fields, "MaxConcurrency")
        self.program = compile_program(item_processor(fields))

    def items(self, branch: Branch, effective: Document) -> list[Any]:
        """Return the array to map over. Raises: StateRuntimeError."""
        value = effective.value if self.items_path is None else self.items_path.find(effective.value, branch)
        if not isinstance(value, list):
            text = self.items_path.text if self.items_path is not None else "$"
            raise StateRuntimeError(f'Reference path "{text}" must point to array.')
        return value

    def concurrency(self, branch: Branch, effective: Document) -> int:
        """Return the concurrency asked for, 0 for as much as there is. Raises: StateRuntimeError."""
        value = self.max_concurrency.value(branch, effective.value)
        if value is not None and value < 0:
            raise StateRuntimeError("MaxConcurrency cannot be negative.")
        return int(value or 0)

    def selected(self, branch: Branch, effective: Document, item: Any) -> Document:
        """Return what one iteration gets as its input. The branch's context has its Map.Item."""
        return Document(item if self.selector is None else self.selector(effective.value, branch))


def item_processor(fields: dict[str, Any]) -> dict[str, Any]:
    """Return a Map's ItemProcessor, or Iterator as it used to be called."""
    processor: dict[str, Any] = fields["ItemProcessor"] if "ItemProcessor" in fields else fields["Iterator"]
    return processor


def map_item(index: int, value: Any) -> dict[str, Any]:
    """Return an iteration's part of the context object."""
    return {"Index": index, "Value": value}
