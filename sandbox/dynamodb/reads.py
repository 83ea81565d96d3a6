"""Reading single items: what to read, and what of it to return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.dynamodb import storage
from sandbox.dynamodb.conditions import project
from sandbox.dynamodb.expressions import Compiled, Expressions
from sandbox.dynamodb.keys import ItemKey, key_from_wire
from sandbox.dynamodb.storage import StoredItem
from sandbox.dynamodb.values import Item, item_to_wire

READ_UNIT_BYTES = 4096


@dataclass(slots=True)
class Read:
    """One item to read. `item` is set by `look`."""

    table: Any
    key: ItemKey
    projection: Compiled | None
    consistent: bool
    item: StoredItem | None = None

    def look(self) -> dict[str, Any] | None:
        """Return the item as it is now, on the wire; None when there is none."""
        self.item = storage.get(self.table, *self.key)
        return None if self.item is None else item_to_wire(projected(self.item.content, self.projection))

    @property
    def units(self) -> float:
        """Read units, outside a transaction."""
        return read_units(0 if self.item is None else self.item.bytes, self.consistent)


def read_of(table: Any, parameters: Mapping[str, Any]) -> Read:
    """Read a GetItem's parameters (or a Get's). Raises: ValidationException."""
    expressions = Expressions(parameters)
    projection = expressions.projection()
    expressions.check_all_used()
    return Read(table, key_from_wire(table, parameters["Key"]), projection, bool(parameters.get("ConsistentRead")))


def projected(content: Item, projection: Compiled | None) -> Item:
    return content if projection is None else project(content, projection.paths)


def read_units(size: int, consistent: bool) -> float:
    """Return what reading `size` bytes costs: a unit for 4 KB, half of it when eventually consistent is enough."""
    units = max(1, -(-size // READ_UNIT_BYTES))
    return float(units) if consistent else units / 2
