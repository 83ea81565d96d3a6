"""One write of one item: read from a request, evaluated against what is there, applied. Alone or in a transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.dynamodb import storage
from sandbox.dynamodb.conditions import project
from sandbox.dynamodb.errors import condition_failed, invalid
from sandbox.dynamodb.expressions import Compiled, Expressions
from sandbox.dynamodb.keys import ItemKey, check_item, check_size, key_from_wire, key_of, key_to_item
from sandbox.dynamodb.parameters import check_parameters
from sandbox.dynamodb.storage import StoredItem
from sandbox.dynamodb.values import Item, Value, item_from_wire, item_to_wire

WRITE_UNIT_BYTES = 1024


@dataclass(slots=True)
class Write:
    """A Put, Update, Delete or ConditionCheck. `evaluate` fills in what was there (`old`) and what will be (`new`)."""

    action: str
    table: Any
    key: ItemKey
    values: Mapping[str, Value]
    condition: Compiled | None = None
    update: Compiled | None = None
    item: StoredItem | None = None
    old_on_failure: bool = False
    old: StoredItem | None = None
    new: StoredItem | None = None

    @property
    def identity(self) -> tuple[str, Value, Value | None]:
        """What tells one item from every other."""
        return (self.table.name, *self.key)

    @property
    def units(self) -> int:
        """Write units, outside a transaction: by the larger of the two images."""
        sizes = [item.bytes for item in (self.old, self.new) if item is not None]
        return max(1, -(-max(sizes, default=0) // WRITE_UNIT_BYTES))

    def evaluate(self) -> None:
        """Check the condition and work out the new item; changes nothing.

        Raises: ConditionalCheckFailedException, ValidationException.
        """
        self.old = storage.get(self.table, *self.key)
        content = {} if self.old is None else self.old.content
        test = None if self.condition is None else self.condition.test
        if test is not None and not test(content, self.values):
            raise condition_failed(item_to_wire(content) if self.old_on_failure else None)
        if self.action == "Put":
            self.new = self.item
        elif self.action == "Update":
            self.new = StoredItem(self.table, self._updated(content or key_to_item(self.table, self.key)))
            check_size(self.new.bytes, "Item size to update has exceeded the maximum allowed size")
        elif self.action == "ConditionCheck":
            self.new = self.old

    def apply(self) -> None:
        """Store what `evaluate` worked out."""
        if self.action == "ConditionCheck":
            return
        storage.put(self.table, *self.key, self.new)
        if self.table.stream_shard is not None and (self.old or self.new):
            self.table.stream_shard.add(self.old, self.new)

    def returned(self, return_values: str) -> dict[str, Any] | None:
        """Return the Attributes of the answer, on the wire, for a ReturnValues; None where there are none."""
        source = self.old if return_values.endswith("OLD") else self.new
        if return_values == "NONE" or source is None:
            return None
        content = source.content
        if return_values.startswith("UPDATED"):
            content = project(content, self.update.paths if self.update is not None else [])
        return item_to_wire(content) or None

    def _updated(self, content: Item) -> Item:
        if self.update is None or self.update.apply is None:
            return dict(content)
        new = self.update.apply(content, self.values)
        check_item(self.table, new)
        return new


def read_write(action: str, part: str, table: Any, parameters: Mapping[str, Any]) -> Write:
    """Read a write from a request's parameters (or from an action's), without looking at any item.

    part: what the parameters belong to, as in `parameters.ACCEPTED`.
    Raises: ValidationException, NotSupportedBySandbox.
    """
    check_parameters(part, parameters)
    expressions = Expressions(parameters)
    condition, update = expressions.condition("ConditionExpression"), expressions.update()
    expressions.check_all_used()
    item = None
    if action == "Put":
        item = StoredItem(table, item_from_wire(parameters["Item"]))
        check_size(item.bytes)
    key = key_of(table, item.content) if item is not None else key_from_wire(table, parameters["Key"])
    if update is not None:
        _check_no_key_is_updated(table, update)
    old_on_failure = parameters.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
    return Write(action, table, key, expressions.values, condition, update, item, old_on_failure)


def _check_no_key_is_updated(table: Any, update: Compiled) -> None:
    for path in update.paths:
        if path.parts[0] in table.table_key_attrs:
            raise invalid(
                f"One or more parameter values were invalid: Cannot update attribute {path.parts[0]}. "
                "This attribute is part of the key"
            )
