"""Tries a world: draws it, plays it, judges it. In a copy of this process, so that one world cannot touch another."""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass, field

from sandbox.deployment import ROOT, Deployment, deployed
from sandbox.simulation.worlds.drawing import draw_world
from sandbox.simulation.worlds.judging import Broken, judge
from sandbox.simulation.worlds.playing import PlayedWorld, everything
from sandbox.simulation.worlds.profiles import MIXED

# A world that takes longer (real seconds) goes round in circles: most take about one.
MOST_SECONDS = 120


@dataclass(frozen=True)
class Trial:
    """What to try. kept: the tags of the pieces and faults that are not left out; None: all."""

    seed: int
    profile: str = MIXED
    kept: frozenset[str] | None = None


@dataclass(frozen=True)
class Verdict:
    """What a trial showed. met: each fault, in order. tags: of all pieces. seconds: of this machine's time."""

    trial: Trial
    broken: tuple[Broken, ...] = ()
    met: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sent: int = 0
    seconds: float = field(default=0.0, compare=False)

    @property
    def invariants(self) -> set[str]:
        return {one.invariant for one in self.broken}


def attempt(trial: Trial) -> Verdict:
    """Try one world in this process."""
    with ExitStack() as undo:
        return _attempt(trial, None, undo)


def _attempt(trial: Trial, deployment: Deployment | None, undo: ExitStack) -> Verdict:
    """Try a world. What breaks the run itself, or the judging, breaks the invariant `ends`."""
    started = time.monotonic()
    kept = everything if trial.kept is None else trial.kept.__contains__
    plan = draw_world(trial.seed, trial.profile).keeping(kept)
    if not plan.campaigns:
        return Verdict(trial)
    played = undo.enter_context(PlayedWorld(plan, kept, deployment))
    try:
        played.play()
        broken = judge(played)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        broken = [Broken("ends", f"{type(error).__name__} in {place.name}: {error}")]
    met, tags = tuple(played.told.met), tuple(plan.tags())
    return Verdict(trial, tuple(broken), met, tags, len(played.world.carrier.book), time.monotonic() - started)


def stack() -> AbstractContextManager[Deployment]:
    """Deploy the template once, for the worlds that copies of this process play meanwhile."""
    return deployed(ROOT / "template.yaml", seed=1)


def attempts(deployment: Deployment, trials: Iterable[Trial], workers: int = 1) -> Iterator[Verdict]:
    """Try worlds, each in a copy of this process, so many at once; yield the verdicts as they come."""
    running: dict[int, tuple[int, Trial]] = {}  # by the end of its pipe: the copy, and what it tries
    try:
        for trial in trials:
            if len(running) >= workers:
                yield _next(running)
            pid, pipe = _copy(trial, deployment)
            running[pipe] = pid, trial
        while running:
            yield _next(running)
    finally:
        for pid, _ in running.values():  # whoever asked has seen enough
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _copy(trial: Trial, deployment: Deployment) -> tuple[int, int]:
    reading, writing = os.pipe()
    if pid := os.fork():
        os.close(writing)
        return pid, reading
    try:
        gc.disable()  # a collection writes to all that is there, and so copies it; a world makes little garbage
        signal.alarm(MOST_SECONDS)
        verdict = _attempt(trial, deployment, ExitStack())
        with os.fdopen(writing, "w") as pipe:
            json.dump(asdict(verdict) | {"trial": None}, pipe)
    finally:
        os._exit(0)  # nothing is put back: what is open belongs to the process that this is a copy of


def _next(running: dict[int, tuple[int, Trial]]) -> Verdict:
    """Wait for the first of the copies that ends; take its verdict."""
    reading = select.select(list(running), [], [])[0][0]
    pid, trial = running.pop(reading)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    if not text:
        return Verdict(trial, (Broken("ends", f"the run did not end within {MOST_SECONDS} s of this machine's time"),))
    read = json.loads(text)
    broken = tuple(Broken(**one) for one in read.pop("broken"))
    return Verdict(trial, broken, tuple(read["met"]), tuple(read["tags"]), read["sent"], read["seconds"])
