"""Items at rest, as bytes: a seventh of the memory of their dictionaries, for two microseconds at each look.

A campaign's rows are many, small and of few shapes, and most are not looked at again.
"""

from __future__ import annotations

import marshal

from sandbox.dynamodb.values import Item

Shape = tuple[tuple[str, ...], tuple[str, ...]]  # the attributes' names, and their types

MAXIMUM_SHAPES = 4096
"""Shapes are never forgotten, so an item of yet another one carries its own."""
_shapes: list[Shape] = []
_numbers: dict[Shape, int] = {}


def pack(content: Item) -> bytes:
    """Return an item, which has one attribute at least, as bytes that `unpack` reads. For this process only."""
    kinds, contents = zip(*content.values(), strict=True)
    return marshal.dumps((_number_of((tuple(content), kinds)), *contents))


def unpack(packed: bytes) -> Item:
    """Return the item, its attributes in the order in which they were."""
    shape, *contents = marshal.loads(packed)  # noqa: S302 # nosec B302 # (our own bytes)
    names, kinds = _shapes[shape] if type(shape) is int else shape
    return dict(zip(names, zip(kinds, contents, strict=True), strict=True))


def _number_of(shape: Shape) -> int | Shape:
    number = _numbers.get(shape)
    if number is not None:
        return number
    if len(_shapes) >= MAXIMUM_SHAPES:
        return shape
    _numbers[shape] = len(_shapes)
    _shapes.append(shape)
    return _numbers[shape]
