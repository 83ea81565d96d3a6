"""A life as steps in time, in words, each with its facts as data; and what the rows do not tell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from paceline.models import JsonObject
from paceline.moments import iso


@dataclass(frozen=True, slots=True)
class Step:
    """One step. at: None where the rows do not say when. facts: plain JSON values, never a number or a text."""

    at: datetime | None
    text: str
    facts: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Explanation:
    """About whom, in a sentence; the steps in their order; what cannot be told."""

    about: str
    facts: JsonObject
    steps: tuple[Step, ...]
    not_told: tuple[str, ...] = ()

    def as_json(self) -> JsonObject:
        steps = [{"at": iso(one.at) if one.at else None, "text": one.text, **one.facts} for one in self.steps]
        return {"about": self.about, **self.facts, "steps": steps, "not_told": list(self.not_told)}


def in_order(first: Iterable[Step], others: Iterable[Step]) -> tuple[Step, ...]:
    """Return the steps that come before everything, then the others by their time; those without one last."""
    never = datetime.max.replace(tzinfo=UTC)
    return (*first, *sorted(others, key=lambda one: one.at or never))


def moment(row: Any, name: str) -> datetime | None:
    """Return a row's time, where it has one."""
    return datetime.fromisoformat(row[name]) if row.get(name) else None
