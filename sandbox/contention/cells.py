"""One cell of the comparison: one design, so many workers, one ceiling; what it did in some whole minutes."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.carrier import NO_FINAL_RECEIPT, Profile
from sandbox.contention.calibration import Calibration
from sandbox.contention.loads import Cell, Load, most_sends_a_minute, start_leased, start_pool
from sandbox.contention.recording import Recording
from sandbox.scheduler import Stalled
from sandbox.world import Sandbox

# The first batches of a campaign ask all at once, and the first tries of all workers meet: neither is steady.
WARM_UP_SECONDS = 20.0
MOST_SECONDS_TO_BEGIN = 600
# A busy cell is steady after fewer minutes: none is begun once this many calls to DynamoDB are recorded.
ENOUGH_CALLS = 20_000
LEAST_CALLS_A_SEND = 4
# A carrier that takes every message and says no more. Receipts are another path, and the story's are not modelled.
SILENT = Profile(shares=((NO_FINAL_RECEIPT, 1.0),), refused=(), doubled=0.0, intermediate=False)


class NothingSent(Exception):
    """A cell sent no message in the time that was measured; the text says which."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was seen. seconds: of the clock, whole minutes where the load lasted. lambda_seconds: all functions."""

    cell: Cell
    sends: int
    seconds: float
    lambda_seconds: float
    recording: Recording


def measure(cell: Cell, *, seed: int, minutes: int, calibration: Calibration | None = None) -> Measured:
    """Run one cell: 20 s to warm up, then at most `minutes`. The same seed gives the same figures.

    Raises: NothingSent.
    """
    calibration = calibration or Calibration()
    latencies = calibration.latencies(seed)
    with Sandbox(seed=seed, latencies=latencies, profile=SILENT) as sandbox:
        if cell.design == "leased":
            load = start_leased(sandbox, cell, _most_minutes(cell, minutes))
        else:
            load = start_pool(sandbox, cell, latencies, calibration)
        try:
            _wait_for_first_send(sandbox, load)
            _pass(sandbox, load, WARM_UP_SECONDS)
            if load.done.done:
                raise NothingSent(f"{cell.design} with {cell.workers} workers was done before the warm-up ended.")
            return _watch(sandbox, load, cell, minutes)
        except Stalled:
            raise _nothing_sent(cell) from None


def _nothing_sent(cell: Cell) -> NothingSent:
    return NothingSent(f"{cell.design} sent nothing with {cell.workers} workers at {cell.ceiling:,} a minute.")


def _most_minutes(cell: Cell, minutes: int) -> int:
    """Return how long a cell is watched at most, as far as is known before."""
    return min(minutes, 1 + int(ENOUGH_CALLS / LEAST_CALLS_A_SEND / most_sends_a_minute(cell)))


# -- time -------------------------------------------------------------------------------------------------------------


def _wait_for_first_send(sandbox: Sandbox, load: Load) -> None:
    waited = 0
    while not sandbox.carrier.book and not load.done.done and waited < MOST_SECONDS_TO_BEGIN:
        _pass(sandbox, load, 1.0)
        waited += 1


def _pass(sandbox: Sandbox, load: Load, seconds: float) -> None:
    """Let time pass, or what is left until the load is over."""
    sandbox.scheduler.run(until=load.done, deadline=sandbox.scheduler.microseconds + round(seconds * 1e6))


def _watch(sandbox: Sandbox, load: Load, cell: Cell, minutes: int) -> Measured:
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
