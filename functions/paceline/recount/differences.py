"""What a recount finds: differences in words, and the writes that would correct them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from paceline import keys
from paceline.models import JsonObject
from paceline.recount.movements import Amounts


@dataclass(frozen=True, slots=True)
class Difference:
    """A number that is not what the rows behind it come to. where: its row, in words; "" for the account itself."""

    where: str
    what: str
    expected: int | str
    found: int | str
    why: str
    is_repairable: bool = True

    def as_json(self) -> JsonObject:
        return {
            "where": self.where,
            "what": self.what,
            "expected": self.expected,
            "found": self.found,
            "why": self.why,
            "repairable": self.is_repairable,
        }


@dataclass(frozen=True, slots=True)
class Note:
    """Something that explains a number and is no fault."""

    where: str
    text: str


@dataclass(frozen=True, slots=True)
class RowChange:
    """New values for one row, on exactly the old ones. None: the attribute is not there."""

    key: keys.Key
    before: Mapping[str, Any]
    after: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Correction:
    """What makes one batch, or one account, right again. moves: by how much shared rows change with it."""

    title: str
    changes: tuple[RowChange, ...] = ()
    moves: Amounts = field(default_factory=dict)
