"""Attribute values: read from the wire, checked, measured and written back.

A stored value is a pair (type, content), a third of the memory of the wire's dict: S str · N canonical text (two equal
numbers have the same text) · B bytes · BOOL bool · NULL True · SS/NS/BS sorted tuple · L tuple · M dict. Stored values
are never changed in place, so items share them freely.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from decimal import Decimal
from sys import intern
from typing import Any

from sandbox.dynamodb.errors import invalid
from sandbox.dynamodb.numbers import canonical_number

Value = tuple[str, Any]
Item = dict[str, Value]

MAXIMUM_DEPTH = 32  # of nested lists and maps
MAXIMUM_ITEM_BYTES = 400 * 1024
_SCALARS = frozenset({"S", "N", "B", "BOOL", "NULL"})


# -- from the wire ----------------------------------------------------------------------------------------------


def from_wire(attribute: Any, depth: int = 0) -> Value:
    """Return a wire value ({"S": "x"}) as a stored one. Raises: ValidationException.

    Binary may be base64 text or bytes.
    """
    if not isinstance(attribute, dict) or not attribute:
        raise invalid("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
    if len(attribute) > 1:
        raise invalid(
            "Supplied AttributeValue has more than one datatypes set, "
            "must contain exactly one of the supported datatypes"
        )
    ((kind, content),) = attribute.items()
    if kind == "S" and type(content) is str:
        return ("S", content)
    if kind not in _READERS:
        raise invalid(f"Supplied AttributeValue has the unknown datatype {kind}")
    kind, read = _READERS[kind]  # the table's own string, so that equal types share one object
    return (kind, read(content, depth))


def item_from_wire(attributes: Any, depth: int = 0) -> Item:
    """Return a map of wire values as stored ones. Raises: ValidationException."""
    if not isinstance(attributes, dict):
        raise invalid("a map of attribute values is expected")
    # Interned, because every decoded request brings its own copies of the same few names.
    return {intern(name): from_wire(attribute, depth) for name, attribute in attributes.items()}


def _string(content: Any, _depth: int) -> str:
    if not isinstance(content, str):
        raise invalid(f"STRING_VALUE must be text, not {type(content).__name__}")
    return str.__str__(content)  # of an enumeration's member the text alone


def _binary(content: Any, _depth: int) -> bytes:
    if isinstance(content, bytes | bytearray):
        return bytes(content)
    try:
        return base64.b64decode(content, validate=True)
    except (TypeError, binascii.Error):
        raise invalid("BINARY_VALUE must be base64") from None


def _boolean(content: Any, _depth: int) -> bool:
    if not isinstance(content, bool):
        raise invalid("BOOL must be true or false")
    return content


def _null(content: Any, _depth: int) -> bool:
    if content is not True:
        raise invalid("Null attribute value types must have the value of true")
    return True


def _list(content: Any, depth: int) -> tuple[Value, ...]:
    _check_depth(depth)
    return tuple([from_wire(element, depth + 1) for element in content])


def _map(content: Any, depth: int) -> Item:
    _check_depth(depth)
    return item_from_wire(content, depth + 1)


def _check_depth(depth: int) -> None:
    if depth >= MAXIMUM_DEPTH:
        raise invalid("Nesting Levels have exceeded supported limits")


def _set_of(read: Callable[[Any, int], Any], order: Callable[[Any], Any] | None = None) -> Callable[[Any, int], Any]:
    def read_set(content: Any, depth: int) -> tuple[Any, ...]:
        members = [read(member, depth) for member in content]
        if not members:
            raise invalid("One or more parameter values were invalid: An set may not be empty")
        if len(set(members)) != len(members):
            raise invalid("One or more parameter values were invalid: Input collection contains duplicates.")
        return tuple(sorted(members, key=order))

    return read_set


def _number(content: Any, _depth: int) -> str:
    return canonical_number(content)


_READERS: dict[str, tuple[str, Callable[[Any, int], Any]]] = {
    "S": ("S", _string),
    "N": ("N", _number),
    "B": ("B", _binary),
    "BOOL": ("BOOL", _boolean),
    "NULL": ("NULL", _null),
    "L": ("L", _list),
    "M": ("M", _map),
    "SS": ("SS", _set_of(_string)),
    "NS": ("NS", _set_of(_number, Decimal)),
    "BS": ("BS", _set_of(_binary)),
}


def make_set(kind: str, members: set[Any]) -> Value:
    """Return a stored set of members, in its one order."""
    return (kind, tuple(sorted(members, key=Decimal if kind == "NS" else None)))


# -- to the wire ------------------------------------------------------------------------------------------------


def to_wire(value: Value) -> dict[str, Any]:
    """Return a stored value as boto3 shows it after parsing (binary as bytes), sharing nothing that can change."""
    kind, content = value
    if kind in _SCALARS:
        return {kind: content}
    if kind == "M":
        return {"M": item_to_wire(content)}
    if kind == "L":
        return {"L": [to_wire(element) for element in content]}
    return {kind: list(content)}


def item_to_wire(item: Item) -> dict[str, Any]:
    """Return a stored item as boto3 shows it after parsing."""
    return {name: {v[0]: v[1]} if v[0] in _SCALARS else to_wire(v) for name, v in item.items()}


# -- order and size ---------------------------------------------------------------------------------------------


def order_of(value: Value) -> Any:
    """Return what a value of type S, N or B sorts by. (Code points sort as UTF-8 bytes do.)"""
    return Decimal(value[1]) if value[0] == "N" else value[1]


def size_of(item: Item) -> int:
    """Return an item's size in bytes, by the rules in the developer guide ("Item sizes and formats")."""
    return sum([_text_size(name) + value_size(value) for name, value in item.items()])


def value_size(value: Value) -> int:
    kind, content = value
    if kind == "S":
        return _text_size(content)
    if kind == "N":
        return len(content.strip("-0.")) // 2 + 2
    if kind == "B":
        return len(content)
    if kind in ("BOOL", "NULL"):
        return 1
    if kind == "L":
        return 3 + sum([1 + value_size(element) for element in content])
    if kind == "M":
        return 3 + len(content) + size_of(content)
    return sum([value_size((kind[0], member)) for member in content])


def _text_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
