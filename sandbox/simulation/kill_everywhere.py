"""A campaign that is killed at every call of a function in turn, and judged each time by what it left."""

from __future__ import annotations

import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox.faults import KILLS, Boundary, Fault, at_position, nothing
from sandbox.simulation.campaign import SimulatedCampaign
from sandbox.simulation.forks import Forks
from sandbox.simulation.invariants import Violation, violations

# A first campaign fills what a process keeps (templates, zones, models), so that not every copy does it again.
WARM_UP_LEADS = 2

KINDS = ("sent_twice", "lost", "credits_off", "other")


@dataclass(frozen=True, slots=True)
class Setting:
    """Which campaign, and how the provider treats callbacks that fail."""

    leads: int = 50
    seed: int = 1
    repeats_callbacks: bool = True

    def campaign(self) -> SimulatedCampaign:
        """Return the campaign, its world not built yet."""
        return SimulatedCampaign(self.leads, self.seed, self.repeats_callbacks)


@dataclass(frozen=True, slots=True)
class Found:
    """One violation, and where the run was disturbed that shows it. position 0: nowhere."""

    position: int
    call: str
    when: str
    kind: str
    what: str


@dataclass
class Outcome:
    """All runs together. positions: the call boundaries of the undisturbed campaign."""

    setting: Setting
    positions: int = 0
    runs: int = 0
    seconds: float = 0.0
    found: list[Found] = field(default_factory=list)

    def add(self, boundary: Boundary, when: str, broken: list[Violation]) -> None:
        """Take one run's violations."""
        self.runs += 1
        call = f"{boundary.function} {boundary.call}".strip()
        self.found += [Found(boundary.position, call, when, one.kind, one.what) for one in broken]

    def summary(self) -> dict[str, Any]:
        """Return the counts by kind, of runs and not of findings, and every violation."""
        runs = Counter(kind for kind, _, _ in {(one.kind, one.position, one.when) for one in self.found})
        shown = [{name: getattr(one, name) for name in Found.__slots__} for one in self.found]
        counts = {"positions": self.positions, "runs": self.runs, **{kind: runs[kind] for kind in KINDS}}
        return counts | {"violations": shown, "seconds": round(self.seconds, 1)}


def kill_everywhere(
    setting: Setting,
    faults: Collection[Fault] = KILLS,
    *,
    every: int = 1,
    function: str = "",
    workers: int = 2,
    moved: Callable[[Outcome], None] = lambda outcome: None,
) -> Outcome:
    """Run the campaign undisturbed, and once for each fault at each k-th call (of one function, where one is named).

    moved: told after every run.
    """
    started, outcome = time.monotonic(), Outcome(setting)
    with Setting(WARM_UP_LEADS).campaign() as campaign:
        campaign.play(nothing)

    def wanted(boundary: Boundary) -> bool:
        return boundary.position % every == 0 and function in ("", boundary.function)

    def done(boundary: Boundary, fault: Fault, result: dict[str, Any] | None) -> None:
        died = [{"kind": "other", "what": "the run did not end"}]
        broken = [Violation(**one) for one in (died if result is None else result["violations"])]
        outcome.add(boundary, fault.value, broken)
        outcome.seconds = time.monotonic() - started
        moved(outcome)

    with tempfile.TemporaryDirectory() as folder, setting.campaign() as campaign:
        forks = Forks(faults, wanted, workers, Path(folder), done)
        broken = _played(campaign, forks.choose, lambda: forks.mine is None)
        if forks.mine is not None:
            forks.leave({"violations": [{"kind": one.kind, "what": one.what} for one in broken]})
        forks.finish()
    outcome.positions = len(forks.passed)
    outcome.add(Boundary(0, "", ""), "", broken)
    outcome.seconds = time.monotonic() - started
    return outcome


def kill_at(setting: Setting, position: int, fault: Fault) -> Outcome:
    """Run the campaign once, with one fault at one position."""
    started, outcome, met = time.monotonic(), Outcome(setting), [Boundary(position, "", "(never reached)")]
    choose = at_position(position, fault)

    def note(boundary: Boundary) -> Fault | None:
        if (chosen := choose(boundary)) is not None:
            met[0] = boundary
        return chosen

    with setting.campaign() as campaign:
        outcome.add(met[0], fault.value, _played(campaign, note, lambda: False))
        outcome.positions = campaign.world.faults.passed
    outcome.seconds = time.monotonic() - started
    return outcome


def _played(
    campaign: SimulatedCampaign, choose: Callable[[Boundary], Fault | None], is_undisturbed: Callable[[], bool]
) -> list[Violation]:
    """Play the campaign and judge it. What breaks the run itself, or the judging, is a violation too."""
    try:
        campaign.play(choose)
        return violations(campaign, undisturbed=is_undisturbed())
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return [Violation("other", f"{type(error).__name__} in {place.name}: {error}")]
