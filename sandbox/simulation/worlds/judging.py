"""Judges a world that was played: eight invariants, by the carrier's own book and by what the rows say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sandbox.simulation.worlds import ends, sends
from sandbox.simulation.worlds.facts import Facts
from sandbox.simulation.worlds.playing import PlayedWorld

# The invariants, in the order in which they are promised (docs/reliability.md).
INVARIANTS: dict[str, Callable[[Facts], Iterator[str]]] = {
    "sent_twice": sends.sent_twice,
    "unwanted": sends.unwanted,
    "cap_exceeded": sends.caps,
    "credits": ends.credits,
    "outcomes": ends.outcomes,
    "ends": ends.ends,
    "leak": ends.leaks,
    "pause": sends.pauses,
}


@dataclass(frozen=True, slots=True)
class Broken:
    """An invariant that did not hold. what: for people; no number, no text."""

    invariant: str
    what: str


def judge(played: PlayedWorld) -> list[Broken]:
    """Return all that does not hold."""
    facts = Facts(played)
    return [Broken(name, what) for name, check in INVARIANTS.items() for what in check(facts)]
