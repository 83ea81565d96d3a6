"""What is written to the table comes back as Python's own types, numbers that are whole as int."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from paceline.table import Put
from tests.builders.core import a_world


@pytest.mark.parametrize(
    ("written", "read"),
    [
        pytest.param("text", "text", id="text"),
        pytest.param(12, 12, id="a number"),
        pytest.param(-12, -12, id="a negative number"),
        pytest.param(0, 0, id="zero"),
        pytest.param(Decimal("1.5"), 1.5, id="a fraction"),
        pytest.param(Decimal("1E+3"), 1000, id="a whole number with an exponent"),
        pytest.param(True, True, id="yes"),
        pytest.param(None, None, id="nothing"),
        pytest.param([], [], id="an empty list"),
        pytest.param([1, ["2", {"three": -3}]], [1, ["2", {"three": -3}]], id="a list"),
        pytest.param({"a": {"b": [None, False]}}, {"a": {"b": [None, False]}}, id="a map"),
        pytest.param({"one", "two"}, {"one", "two"}, id="a set"),
    ],
)
def test_a_value_comes_back_as_it_was(written: Any, read: Any) -> None:
    with a_world() as world:
        world.table.put(Put({"pk": "A", "sk": "B", "value": written}))

        row = world.table.get(("A", "B")) or {}

    assert row == {"pk": "A", "sk": "B", "value": read}
    assert type(row["value"]) is type(read)
