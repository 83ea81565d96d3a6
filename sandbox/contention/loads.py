"""The three designs at work in a sandbox: a pool of the story's workers, or a campaign of ours."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from paceline import keys
from paceline.bootstrap import Services
from paceline.config import Settings
from paceline.table import Put
from sandbox.contention import pool, story
from sandbox.contention.calibration import Calibration
from sandbox.contention.leased import start_campaign
from sandbox.customer import table_of
from sandbox.latency import Latencies
from sandbox.scheduler import Future
from sandbox.world import Sandbox

DESIGNS = ("rewrite", "add", "leased")
CREDITS = 10_000_000
# No send of ours takes less: with this the campaign gets as many leads as it can need, and not many more.
LEAST_SECONDS_A_SEND = 1.4
MOST_LEADS = 25_000


@dataclass(frozen=True, slots=True)
class Cell:
    """What is run. ceiling: parts a minute."""

    design: str
    workers: int
    ceiling: int


@dataclass(frozen=True, slots=True)
class Load:
    """A design at work. done: when it has nothing more to send."""

    done: Future
    lambda_seconds: Callable[[], float]


def most_sends_a_minute(cell: Cell) -> float:
    """Return what no design is over: the ceiling, or what so many workers can send."""
    return min(cell.ceiling, cell.workers * 60 / LEAST_SECONDS_A_SEND)


def start_leased(sandbox: Sandbox, cell: Cell, minutes: int) -> Load:
    """Start a campaign that lasts longer than `minutes`."""
    leads = min(MOST_LEADS, round(most_sends_a_minute(cell) * (minutes + 1)) + 200)
    done = start_campaign(sandbox, cell.workers, cell.ceiling, leads)
    usage = sandbox.functions.usage.values()
    return Load(done, lambda: sum(used.seconds for used in usage))


def start_pool(sandbox: Sandbox, cell: Cell, latencies: Latencies, calibration: Calibration) -> Load:
    """Start the story's workers on one of its two designs; they never run out of messages."""
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
    return Load(sandbox.scheduler.future(), lambda: workers.lambda_seconds)


def _services(sandbox: Sandbox) -> Services:
    """Return the product's own adapters, for the story's senders too."""
    table = sandbox.outputs["TableName"]
    secret = "paceline/providers/twilio"  # noqa: S105 (its name)
    callbacks = f"{sandbox.outputs['ApiUrl']}/v1/callbacks/twilio"
    return Services(
        Settings(table_name=table, bucket_name="", bus_name="", provider_secret_name=secret, callback_url=callbacks)
    )
