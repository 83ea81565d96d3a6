"""Query: the items of one hash key, in order, page by page; on a table or on an index.

An index is searched through the whole table: right, but slow when the table is large (about 0.3 µs an item).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox.dynamodb import storage
from sandbox.dynamodb.conditions import check_bounds, project
from sandbox.dynamodb.expressions import Compiled, Expressions
from sandbox.dynamodb.reads import projected, read_units
from sandbox.dynamodb.storage import StoredItem
from sandbox.dynamodb.trees import Between, Comparison, Condition, Path, Predicate, ValueName
from sandbox.dynamodb.values import Item, Value, item_to_wire, order_of

PAGE_BYTES = 1024 * 1024  # AWS ends a page here


@dataclass
class Query:
    """A Query that has been read and checked; `run` looks at the items."""

    table: Any
    index: Any
    hash_name: str
    range_name: str | None
    hash_value: Value
    range_condition: Condition | None
    expressions: Expressions
    filter: Compiled | None
    projection: Compiled | None
    parameters: Mapping[str, Any]
    start: Item | None
    scanned: list[StoredItem] = field(default_factory=list)

    @property
    def units(self) -> float:
        size = sum(item.bytes for item in self.scanned)
        return read_units(size, bool(self.parameters.get("ConsistentRead")))

    def run(self) -> dict[str, Any]:
        """Return one page, as the parsed answer."""
        more = self._take_page(self._in_order())
        contents = [self._seen(item) for item in self.scanned]
        if self.filter is not None and self.filter.test is not None:
            test, values = self.filter.test, self.expressions.values
            contents = [content for content in contents if test(content, values)]
        answer: dict[str, Any] = {"Count": len(contents), "ScannedCount": len(self.scanned)}
        if self.parameters.get("Select") != "COUNT":
            answer["Items"] = [item_to_wire(projected(content, self.projection)) for content in contents]
        if more:
            answer["LastEvaluatedKey"] = item_to_wire(self._position(self.scanned[-1].content))
        return answer

    # -- pages --------------------------------------------------------------------------------------------------

    def _take_page(self, items: Iterator[StoredItem]) -> bool:
        """Fill `scanned`; True when there may be more (DynamoDB does not look beyond Limit)."""
        limit, size = self.parameters.get("Limit"), 0
        for item in items:
            size += item.bytes
            if self.scanned and size > PAGE_BYTES:
                return True
            self.scanned.append(item)
            if len(self.scanned) == limit:
                return True
        return False

    def _position(self, content: Item) -> Item:
        return {name: content[name] for name in self.position_names()}

    def position_names(self) -> list[str]:
        """Return the attributes that say where a page ended: the keys of the table and of the index."""
        names = [*self.table.table_key_attrs, self.hash_name]
        return list(dict.fromkeys(names if self.range_name is None else [*names, self.range_name]))

    def _seen(self, item: StoredItem) -> Item:
        """Return what the index projects of an item."""
        kind = (
            self.index.projection.get("ProjectionType") if self.index is not None and self.index.projection else "ALL"
        )
        if kind == "ALL":
            return item.content
        extra = self.index.projection.get("NonKeyAttributes", []) if kind == "INCLUDE" else []
        return project(item.content, [Path((name,)) for name in dict.fromkeys([*self.position_names(), *extra])])

    # -- order --------------------------------------------------------------------------------------------------

    def _in_order(self) -> Iterator[StoredItem]:
        if self.index is not None:
            return self._indexed()
        if self.range_name is None:
            return self._single()
        return self._partition()

    def _single(self) -> Iterator[StoredItem]:
        item = storage.get(self.table, self.hash_value, None)
        return iter([] if item is None or self.start is not None else [item])

    def _partition(self) -> Iterator[StoredItem]:
        found = storage.partition(self.table, self.hash_value)
        if found is None:
            return
        keys = found.ordered
        low, high = _bounds(keys, self.range_condition, self.expressions.values)
        forward = self.parameters.get("ScanIndexForward", True)
        if self.start is not None:
            last = order_of(self.start[str(self.range_name)])
            if forward:
                low = max(low, bisect_right(keys, last, key=_order))
            else:
                high = min(high, bisect_left(keys, last, key=_order))
        for position in range(low, high) if forward else range(high - 1, low - 1, -1):
            yield storage.item_at(self.table, found, keys[position])

    def _indexed(self) -> Iterator[StoredItem]:
        rows = [(self._index_order(item.content), item) for item in storage.every_item(self.table) if self._is_in(item)]
        rows.sort(key=lambda row: row[0], reverse=not self.parameters.get("ScanIndexForward", True))
        keys = [storage.Key(item.content[self.range_name]) for _, item in rows] if self.range_name else []
        if self.range_condition is not None:
            keys.sort(key=_order)
            low, high = _bounds(keys, self.range_condition, self.expressions.values)
            inside = {key.order for key in keys[low:high]}
            rows = [row for row in rows if order_of(row[1].content[str(self.range_name)]) in inside]
        if self.start is not None:
            last = self._index_order(self.start)
            forward = self.parameters.get("ScanIndexForward", True)
            rows = [row for row in rows if (row[0] > last if forward else row[0] < last)]
        return (item for _, item in rows)

    def _is_in(self, item: StoredItem) -> bool:
        content = item.content
        return content.get(self.hash_name) == self.hash_value and (
            self.range_name is None or self.range_name in content
        )

    def _index_order(self, content: Item) -> tuple[Any, ...]:
        names = ([self.range_name] if self.range_name else []) + self.table.table_key_attrs
        return tuple(order_of(content[name]) for name in names)


def _order(key: storage.Key) -> Any:
    return key.order


def _bounds(keys: list[storage.Key], condition: Condition | None, values: Mapping[str, Value]) -> tuple[int, int]:
    """Return the slice of sorted keys for which the range condition holds."""
    if condition is None:
        return 0, len(keys)
    if isinstance(condition, Between):
        low, high = (values[bound.name] for bound in (condition.low, condition.high) if isinstance(bound, ValueName))
        check_bounds(low, high)
        return bisect_left(keys, order_of(low), key=_order), bisect_right(keys, order_of(high), key=_order)
    if isinstance(condition, Predicate):
        assert isinstance(condition.argument, ValueName)
        prefix = values[condition.argument.name][1]
        first = bisect_left(keys, prefix, key=_order)
        return first, bisect_left(keys, True, lo=first, key=lambda key: not key.order.startswith(prefix))
    assert isinstance(condition, Comparison)
    assert isinstance(condition.right, ValueName)
    bound = order_of(values[condition.right.name])
    left, right = bisect_left(keys, bound, key=_order), bisect_right(keys, bound, key=_order)
    return {"=": (left, right), "<": (0, left), "<=": (0, right), ">": (right, len(keys)), ">=": (left, len(keys))}[
        condition.operator
    ]
