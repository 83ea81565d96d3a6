"""Random worlds by seed: progress, the violations with their stories, and how many worlds a minute."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import click

from sandbox.simulation.worlds.profiles import MIXED
from sandbox.simulation.worlds.shrinking import shrink
from sandbox.simulation.worlds.stories import command_of, story_of
from sandbox.simulation.worlds.trying import Trial, Verdict, attempt, attempts, stack

# How often progress is told, in seconds.
TOLD_EVERY = 10.0


@dataclass
class Tally:
    """What all worlds together showed. sent: messages that the carrier took; faults: that calls met."""

    started: float = field(default_factory=time.monotonic)
    worlds: int = 0
    sent: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    violations: list[dict[str, Any]] = field(default_factory=list)
    told: float = 0.0

    def take(self, verdict: Verdict) -> None:
        self.worlds += 1
        self.sent += verdict.sent
        self.faults.update(one.rpartition(" ")[2] for one in verdict.met)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def tell(self) -> None:
        """Tell how far it is, from time to time."""
        if self.seconds - self.told >= TOLD_EVERY:
            self.told = self.seconds
            pace = f"{60 * self.worlds / self.seconds:.0f} a minute"
            click.echo(f"{self.worlds} worlds, {len(self.violations)} violations, {pace}", err=True)


def run_worlds(
    seeds: range, profile: str, kept: frozenset[str] | None, workers: int, *, first: bool, shrinks: bool, as_json: bool
) -> None:
    """Try the worlds of these seeds, and print what they showed. Ends the process."""
    attempt(Trial(0, "calm"))  # fills what a process keeps (templates, zones, models), so that not every copy does it
    tally = Tally()
    with stack() as deployment:
        for verdict in attempts(deployment, (Trial(seed, profile, kept) for seed in seeds), workers):
            tally.take(verdict)
            if verdict.broken and shrinks and kept is None:
                verdict = shrink(deployment, verdict)
            found = list(_violations(verdict))
            tally.violations += found
            for line in _story(found):
                click.echo(line, err=as_json)
            tally.tell()
            if found and first:
                break
    pace = round(60 * tally.worlds / tally.seconds, 1)
    shown = {
        "worlds": tally.worlds,
        "violations": sorted(tally.violations, key=lambda one: (one["seed"], one["invariant"])),
        "worlds_per_minute": pace,
        "workers": workers,
        "profile": profile,
        "messages": tally.sent,
        "faults": dict(sorted(tally.faults.items())),
        "seconds": round(tally.seconds, 1),
    }
    click.echo(json.dumps(shown) if as_json else _text(shown))
    sys.exit(1 if tally.violations else 0)


def _violations(verdict: Verdict) -> Iterator[dict[str, Any]]:
    """Yield the broken invariants of a world, each with its story."""
    if not verdict.broken:
        return
    story, command = story_of(verdict), command_of(verdict)
    for invariant in sorted(verdict.invariants):
        yield {"seed": verdict.trial.seed, "invariant": invariant, "story": story, "replay": command}


def _story(found: list[dict[str, Any]]) -> Iterator[str]:
    if found:
        yield f"seed {found[0]['seed']}: {', '.join(one['invariant'] for one in found)}"
        yield from (f"    {line}" for line in found[0]["story"])
        yield f"    {found[0]['replay']}"


def _text(shown: dict[str, Any]) -> str:
    faults = sum(shown["faults"].values())
    of = "" if shown["profile"] == MIXED else f" of profile {shown['profile']}"
    sentence = (
        f"{shown['worlds']} worlds{of}, {shown['messages']} messages, {faults} faults in {shown['seconds']:.0f} s"
    )
    return f"{sentence} ({shown['worlds_per_minute']} a minute): {len(shown['violations'])} violations"
