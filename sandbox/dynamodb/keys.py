"""Keys and the attributes that must have a certain type, by the table's schema."""

from __future__ import annotations

from typing import Any

from sandbox.dynamodb.errors import invalid
from sandbox.dynamodb.values import MAXIMUM_ITEM_BYTES, Item, Value, item_from_wire

MAXIMUM_HASH_KEY_BYTES, MAXIMUM_RANGE_KEY_BYTES = 2048, 1024
ItemKey = tuple[Value, Value | None]


def key_from_wire(table: Any, wire: Any) -> ItemKey:
    """Return the Key parameter of a request. Raises: ValidationException."""
    given = item_from_wire(wire)
    if given.keys() != set(table.table_key_attrs):
        raise invalid("The provided key element does not match the schema")
    key = _key(table, given)
    for value, expected in zip(key, (table.hash_key_type, table.range_key_type), strict=True):
        if value is not None and value[0] != expected:
            raise invalid("The provided key element does not match the schema")
    _check_lengths(table, key)
    return key


def key_of(table: Any, item: Item) -> ItemKey:
    """Return the key within a whole item that is to be put. Raises: ValidationException."""
    for name in table.table_key_attrs:
        if name not in item:
            raise invalid(f"One or more parameter values were invalid: Missing the key {name} in the item")
    check_item(table, item)
    key = _key(table, item)
    _check_lengths(table, key)
    return key


def key_to_item(table: Any, key: ItemKey) -> Item:
    """Return a key as the attributes that it consists of."""
    hash_key, range_key = key
    if range_key is None:
        return {table.hash_key_attr: hash_key}
    return {table.hash_key_attr: hash_key, table.range_key_attr: range_key}


def check_item(table: Any, item: Item) -> None:
    """Check the types of attributes that are keys of the table or of an index. Raises: ValidationException."""
    for definition in table.attr:
        name = definition["AttributeName"]
        value = item.get(name)
        if value is not None and value[0] != definition["AttributeType"]:
            raise invalid(
                f"One or more parameter values were invalid: Type mismatch for key {name} "
                f"expected: {definition['AttributeType']} actual: {value[0]}"
            )
        if value is not None and not value[1] and value[0] in ("S", "B"):
            raise _empty(name)


def check_size(size: int, message: str = "Item size has exceeded the maximum allowed size") -> None:
    """Raises: ValidationException, when an item is larger than 400 KB."""
    if size > MAXIMUM_ITEM_BYTES:
        raise invalid(message)


def _key(table: Any, item: Item) -> ItemKey:
    return item[table.hash_key_attr], (item[table.range_key_attr] if table.range_key_attr is not None else None)


def _check_lengths(table: Any, key: ItemKey) -> None:
    limits = (MAXIMUM_HASH_KEY_BYTES, MAXIMUM_RANGE_KEY_BYTES)
    for value, name, limit, word in zip(
        key, (table.hash_key_attr, table.range_key_attr), limits, ("hashkey", "rangekey"), strict=True
    ):
        if value is None or value[0] == "N":
            continue
        if not value[1]:
            raise _empty(name)
        if len(value[1].encode() if value[0] == "S" else value[1]) > limit:
            raise invalid(
                f"One or more parameter values were invalid: Size of {word} has exceeded the maximum size limit "
                f"of {limit} bytes"
            )


def _empty(name: str) -> Exception:
    return invalid(
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "
        f"string value. Key: {name}"
    )
