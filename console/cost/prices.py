"""The price table: `prices.toml`, one dated price for each operation."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

from sandbox.operations import Operation

FILE = Path(__file__).with_name("prices.toml")


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for `per` units. source: AWS's page. read: another page, where the figure was read on that date."""

    name: str
    price: float
    per: int
    source: str
    date: date
    read: str = ""

    def of(self, amount: float) -> float:
        """Return what so many units cost, in dollars."""
        return amount * self.price / self.per


@cache
def region() -> str:
    """Return the region whose prices these are."""
    return str(tomllib.loads(FILE.read_text())["region"])


@cache
def prices() -> Mapping[Operation, Price]:
    """Return the prices. Raises: KeyError, where an operation has none."""
    table = tomllib.loads(FILE.read_text())
    return {operation: Price(**table[operation]) for operation in Operation}
