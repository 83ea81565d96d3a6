"""One cell of the comparison: one design, so many workers, one ceiling; what it did in some whole minutes."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from paceline import keys
from paceline.bootstrap import Services
from paceline.config import Settings
from paceline.table import Put
from sandbox.carrier import NO_FINAL_RECEIPT, Profile
from sandbox.contention import pool, story
from sandbox.contention.calibration import Calibration
from sandbox.contention.leased import start_campaign
from sandbox.contention.recording import Recording
from sandbox.customer import table_of
from sandbox.latency import Latencies
from sandbox.scheduler import Future, Stalled
from sandbox.world import Sandbox

DESIGNS = ("rewrite", "add", "leased")
CREDITS = 10_000_000
# The first batches of a campaign ask all at once, and the first tries of all workers meet: neither is steady.
WARM_UP_SECONDS = 20.0
MOST_SECONDS_TO_BEGIN = 600
# A busy cell is steady after fewer minutes: none is begun once this many calls to DynamoDB are recorded.
ENOUGH_CALLS = 20_000
# No send of ours takes less: with these the campaign gets as many leads as it can need, and not many more.
LEAST_SECONDS_A_SEND, LEAST_CALLS_A_SEND = 1.4, 4
MOST_LEADS = 25_000
# A carrier that takes every message and says no more. Receipts are another path, and the story's are not modelled.
SILENT = Profile(shares=((NO_FINAL_RECEIPT, 1.0),), refused=(), doubled=0.0, intermediate=False)


class NothingSent(Exception):
    """A cell sent no message in the time that was measured; the text says which."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What is run. ceiling: parts a minute."""

    design: str
    workers: int
    ceiling: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What was seen. seconds: of the clock, whole minutes where the load lasted. lambda_seconds: all functions."""

    cell: Cell
    sends: int
    seconds: float
    lambda_seconds: float
    recording: Recording


@dataclass(frozen=True, slots=True)
class _Load:
    """A design at work. done: when it has nothing more to send."""

    done: Future
    lambda_seconds: Callable[[], float]


def measure(cell: Cell, *, seed: int, minutes: int, calibration: Calibration | None = None) -> Measured:
    """Run one cell: 20 s to warm up, then at most `minutes`. The same seed gives the same figures.

    Raises: NothingSent.
    """
    calibration = calibration or Calibration()
    latencies = calibration.latencies(seed)
    with Sandbox(seed=seed, latencies=latencies, profile=SILENT) as sandbox:
        if cell.design == "leased":
            load = _start_leased(sandbox, cell, minutes)
        else:
            load = _start_pool(sandbox, cell, latencies, calibration)
        try:
            _wait_for_first_send(sandbox, load)
            _pass(sandbox, load, WARM_UP_SECONDS)
            return _watch(sandbox, load, cell, minutes)
        except Stalled:
            raise _nothing_sent(cell) from None


def _nothing_sent(cell: Cell) -> NothingSent:
    return NothingSent(f"{cell.design} sent nothing with {cell.workers} workers at {cell.ceiling:,} a minute.")


def _start_leased(sandbox: Sandbox, cell: Cell, minutes: int) -> _Load:
    done = start_campaign(sandbox, cell.workers, cell.ceiling, _leads_for(cell, minutes))
    usage = sandbox.functions.usage.values()
    return _Load(done, lambda: sum(used.seconds for used in usage))


def _leads_for(cell: Cell, minutes: int) -> int:
    """Return enough leads that the campaign lasts longer than it is watched."""
    a_minute = min(cell.ceiling, cell.workers * 60 / LEAST_SECONDS_A_SEND)
    watched = min(minutes, 1 + ENOUGH_CALLS // (a_minute * LEAST_CALLS_A_SEND))
    return min(MOST_LEADS, round(a_minute * (watched + 1)) + 200)


def _start_pool(sandbox: Sandbox, cell: Cell, latencies: Latencies, calibration: Calibration) -> _Load:
    table = table_of(sandbox)
    day = keys.account_day(pool.ACCOUNT, sandbox.scheduler.now().date())
    for row in story.first_rows(keys.account(pool.ACCOUNT), day, CREDITS):
        table.put(Put(row))
    workers = pool.Pool(
        story.rewrite if cell.design == "rewrite" else story.add,
        cell.workers,
        cell.ceiling,
        sandbox.scheduler,
        _services(sandbox),
        latencies,
        calibration,
        random.Random(f"{sandbox.seed}:contention:pool"),
    )
    workers.start()
    return _Load(sandbox.scheduler.future(), lambda: workers.lambda_seconds)


def _services(sandbox: Sandbox) -> Services:
    """Return the product's own adapters, for the story's senders too."""
    names = {"table_name": sandbox.outputs["TableName"], "bucket_name": "", "bus_name": ""}
    secret = "paceline/providers/twilio"  # noqa: S105 (its name)
    callbacks = f"{sandbox.outputs['ApiUrl']}/v1/callbacks/twilio"
    return Services(Settings(**names, provider_secret_name=secret, callback_url=callbacks))


# -- time -------------------------------------------------------------------------------------------------------------


def _wait_for_first_send(sandbox: Sandbox, load: _Load) -> None:
    waited = 0
    while not sandbox.carrier.book and not load.done.done and waited < MOST_SECONDS_TO_BEGIN:
        _pass(sandbox, load, 1.0)
        waited += 1


def _pass(sandbox: Sandbox, load: _Load, seconds: float) -> None:
    """Let time pass, or what is left until the load is over."""
    sandbox.scheduler.run(until=load.done, deadline=sandbox.scheduler.microseconds + round(seconds * 1e6))


def _watch(sandbox: Sandbox, load: _Load, cell: Cell, minutes: int) -> Measured:
    book, started = sandbox.carrier.book, sandbox.scheduler.microseconds
    sent_before, used_before = len(book), load.lambda_seconds()
    recording = Recording()
    sandbox.counters.watchers.append(recording.take)
    for _ in range(minutes):
        _pass(sandbox, load, 60.0)
        if recording.calls >= ENOUGH_CALLS or load.done.done:
            break
    if len(book) == sent_before:
        raise _nothing_sent(cell)
    ended = book[-1].at if load.done.done else sandbox.scheduler.microseconds
    seconds = (ended - started) / 1e6
    return Measured(cell, len(book) - sent_before, seconds, load.lambda_seconds() - used_before, recording)
