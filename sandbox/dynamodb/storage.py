"""Items inside moto's own tables, in a form that is quick for us and right for moto.

A table of moto's keeps `items[hash key][range key] = Item`. We put in
* `Key`, a smaller DynamoType, as dictionary keys;
* `Partition`, a dict that remembers the order of its range keys, so that a Query need not sort;
* `StoredItem`, an Item with our compact content, packed while it is stored. Whenever moto asks for its `attrs`, it
  makes DynamoTypes of the content and gives that up; whenever we ask for the content, it goes the other way. With one
  form at a time, no two can differ.
What moto itself put there (a plain dict, a plain Item) is taken over where we first meet it.
"""

from __future__ import annotations

import base64
from bisect import bisect_left, insort
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Any

from moto.dynamodb.models.dynamo_type import DynamoType, LimitedSizeDict
from moto.dynamodb.models.dynamo_type import Item as MotoItem

from sandbox.dynamodb.numbers import canonical_number
from sandbox.dynamodb.packing import pack, unpack
from sandbox.dynamodb.values import Item, Value, make_set, order_of, size_of


def to_moto(value: Value) -> DynamoType:
    """Return a stored value as moto's type (binary as base64 text, as moto keeps it)."""
    made: DynamoType = DynamoType.__new__(DynamoType)
    kind, content = value
    made.type = kind
    if kind == "M":
        made.value = {name: to_moto(inner) for name, inner in content.items()}
    elif kind == "L":
        made.value = [to_moto(inner) for inner in content]
    elif kind == "B":
        made.value = base64.b64encode(content).decode()
    elif kind == "BS":
        made.value = [base64.b64encode(member).decode() for member in content]
    else:
        made.value = list(content) if kind in ("SS", "NS") else content
    return made


def from_moto(value: DynamoType) -> Value:
    """Return a value of moto's as a stored one."""
    kind, content = value.type, value.value
    if kind == "M":
        return ("M", {name: from_moto(inner) for name, inner in content.items()})
    if kind == "L":
        return ("L", tuple(from_moto(inner) for inner in content))
    if kind == "N":
        return ("N", canonical_number(content))
    if kind == "NS":
        return make_set("NS", {canonical_number(member) for member in content})
    if kind == "B":
        return ("B", _to_bytes(content))
    if kind == "BS":
        return make_set("BS", {_to_bytes(member) for member in content})
    return make_set("SS", set(content)) if kind == "SS" else (kind, content)


def _to_bytes(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else base64.b64decode(content)


class Key(DynamoType):
    """A key value as a dictionary key; equal to moto's DynamoType of the same value."""

    __slots__ = ("order", "type", "value")

    def __init__(self, value: Value) -> None:
        kind, content = value
        self.type = kind
        self.value = base64.b64encode(content).decode() if kind == "B" else content
        self.order = order_of(value)

    def __hash__(self) -> int:
        # As DynamoType's hash, or moto would not find what we stored.
        return hash((self.type, self.order if self.type == "N" else self.value))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DynamoType) or self.type != other.type:
            return False
        if self.value == other.value:
            return True
        return self.type == "N" and self.order == Decimal(other.value)

    def __lt__(self, other: DynamoType) -> bool:
        return bool(self.order < other.order) if isinstance(other, Key) else bool(super().__lt__(other))

    def __deepcopy__(self, memo: dict[int, Any]) -> Key:
        return self


@lru_cache(maxsize=1024)
def key_for(value: Value) -> Key:
    """Return a key, the same object for the few that are asked for all the time."""
    return Key(value)


class StoredItem(MotoItem):
    """An item in one of three forms; see the module."""

    __slots__ = ("_form", "_table", "bytes")

    def __new__(cls, *arguments: Any) -> StoredItem:
        return object.__new__(cls)  # not BaseModel's: that one keeps every instance ever made

    def __init__(self, table: Any, content: Item, size: int | None = None) -> None:
        self._table = table
        self._form: Item | LimitedSizeDict | bytes = content
        self.bytes = size_of(content) if size is None else size

    def pack(self) -> None:
        """Take less memory: the item is stored now."""
        if type(self._form) is dict:
            self._form = pack(self._form)

    @property
    def content(self) -> Item:
        """The attributes as stored values. Not to be changed in place."""
        form = self._form
        if type(form) is bytes:
            return unpack(form)
        if type(form) is LimitedSizeDict:
            form = self._form = {name: from_moto(value) for name, value in form.items()}
            self.bytes = size_of(form)
        return form  # type: ignore[return-value]

    @property
    def attrs(self) -> LimitedSizeDict:  # type: ignore[override]
        """The attributes as moto wants them."""
        if type(self._form) is not LimitedSizeDict:
            attrs = LimitedSizeDict.__new__(LimitedSizeDict)
            for name, value in self.content.items():
                dict.__setitem__(attrs, name, to_moto(value))  # not its own: that measures the item each time
            self._form = attrs
        return self._form

    @property
    def hash_key(self) -> DynamoType:  # type: ignore[override]
        return self._key(self._table.hash_key_attr)

    @property
    def range_key(self) -> DynamoType | None:  # type: ignore[override]
        name = self._table.range_key_attr
        return None if name is None else self._key(name)

    def _key(self, name: str) -> DynamoType:
        return self._form[name] if type(self._form) is LimitedSizeDict else to_moto(self.content[name])

    def size(self) -> int:
        return int(super().size()) if type(self._form) is LimitedSizeDict else self.bytes

    def __deepcopy__(self, memo: dict[int, Any]) -> StoredItem:
        return StoredItem(self._table, self.content, self.bytes)


class Partition(dict[Key, MotoItem]):
    """The items of one hash key. `ordered` costs nothing until somebody queries, little after that."""

    __slots__ = ("_ordered",)

    def __init__(self, *items: Any) -> None:
        super().__init__(*items)
        self._ordered: list[Key] | None = None

    @property
    def ordered(self) -> list[Key]:
        """The range keys in ascending order. Not to be changed."""
        if self._ordered is None:
            self._ordered = sorted((_as_key(key) for key in self), key=lambda key: key.order)
        return self._ordered

    def __setitem__(self, key: Any, item: MotoItem) -> None:
        if self._ordered is not None and key not in self:
            insort(self._ordered, _as_key(key), key=lambda known: known.order)
        super().__setitem__(key, item)

    def __delitem__(self, key: Any) -> None:
        super().__delitem__(key)
        if self._ordered is not None:
            del self._ordered[bisect_left(self._ordered, _as_key(key).order, key=lambda known: known.order)]

    def pop(self, key: Any, *default: Any) -> Any:
        if key not in self:
            return super().pop(key, *default)
        item = self[key]
        del self[key]
        return item

    def __reduce__(self) -> tuple[Any, ...]:
        return Partition, (), None, None, iter(list(self.items()))  # a copy makes its own order


def _as_key(key: DynamoType) -> Key:
    return key if isinstance(key, Key) else Key(from_moto(key))


def partition(table: Any, hash_key: Value) -> Partition | None:
    """Return the items of a hash key in a table that has range keys, or None."""
    key = key_for(hash_key)
    found = table.items.get(key)
    if found is None or type(found) is Partition:
        return found
    taken = table.items[key] = Partition(found)
    return taken


def get(table: Any, hash_key: Value, range_key: Value | None) -> StoredItem | None:
    """Return the item of a key, or None."""
    if range_key is None:
        holder, key = table.items, key_for(hash_key)
    else:
        found = partition(table, hash_key)
        if found is None:
            return None
        holder, key = found, key_for(range_key)
    item = holder.get(key)
    return item if item is None or type(item) is StoredItem else _take_over(table, holder, key, item)


def put(table: Any, hash_key: Value, range_key: Value | None, item: StoredItem | None) -> None:
    """Put an item in place of what its key has; None deletes."""
    if range_key is None:
        holder, key = table.items, key_for(hash_key)
    else:
        found = partition(table, hash_key)
        if found is None:
            if item is None:
                return
            found = table.items[key_for(hash_key)] = Partition()
        holder, key = found, key_for(range_key)
    if item is not None:
        item.pack()
        holder[key] = item
    elif key in holder:
        del holder[key]
        if range_key is not None and not holder:
            del table.items[key_for(hash_key)]


def every_item(table: Any) -> Iterator[StoredItem]:
    """Yield all items of a table, in no order that means anything."""
    holders = list(table.items.values()) if table.range_key_attr else [table.items]
    for holder in holders:
        for key, item in list(holder.items()):
            yield item if type(item) is StoredItem else _take_over(table, holder, key, item)


def item_at(table: Any, holder: Partition, key: Key) -> StoredItem:
    """Return the item of a range key that the partition has."""
    item = holder[key]
    return item if type(item) is StoredItem else _take_over(table, holder, key, item)


def _take_over(table: Any, holder: Any, key: Any, item: MotoItem) -> StoredItem:
    taken = StoredItem(table, {name: from_moto(value) for name, value in item.attrs.items()})
    holder[key] = taken
    return taken
