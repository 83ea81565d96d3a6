"""Items at rest come back as they were."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import pytest

from sandbox.dynamodb import packing
from sandbox.dynamodb.packing import pack, unpack
from sandbox.dynamodb.values import item_from_wire

ITEM: dict[str, Any] = {
    "pk": {"S": "BATCH#1"},
    "count": {"N": "12345678901234567890123456789012345678"},
    "raw": {"B": b"\x00\xff"},
    "is_open": {"BOOL": False},
    "hold": {"NULL": True},
    "names": {"SS": ["Zoë", "Ann"]},
    "nested": {"M": {"list": {"L": [{"N": "1"}, {"M": {}}]}, "empty": {"S": ""}}},
}


def test_an_item_of_every_type_comes_back_in_its_order() -> None:
    content = item_from_wire(ITEM)

    unpacked = unpack(pack(content))

    assert unpacked == content
    assert list(unpacked) == list(ITEM)


@pytest.mark.parametrize("kind", ["S", "N"])
def test_a_member_of_an_enumeration_is_stored_as_its_text(kind: str) -> None:
    text = StrEnum("Given", {"ONE": "1"}).ONE  # type: ignore[attr-defined]

    (_, stored) = unpack(pack(item_from_wire({"pk": {kind: text}})))["pk"]

    assert (stored, type(stored)) == ("1", str)


def test_items_of_more_shapes_than_are_kept_carry_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "MAXIMUM_SHAPES", 0)
    content = item_from_wire({"a_name_of_this_test_only": {"S": "x"}, "other": {"BOOL": True}})

    assert unpack(pack(content)) == content
