"""The story's design counted the same way: its rewrite of the account and the day by each send, in the sandbox.

What that design does beside its table is not modelled in the sandbox; it is taken from the story's own text, and said.
"""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.contention.calibration import Calibration
from sandbox.contention.cells import SILENT
from sandbox.contention.loads import Cell, start_pool
from sandbox.operations import Operation
from sandbox.world import Sandbox

# The story's Verizon route at the end: 16 workers, each rewrites the same two items; a ceiling of 500 a minute.
CELL = Cell("rewrite", 16, 500)
# A message costs the same from the first minute on: more sends than these say nothing new.
MOST_SENDS = 2_000
STEP_SECONDS = 5.0

# From the story's text. Its function's memory is not told: ours.
SECONDS_ASLEEP = 4.0  # "16 workers at 240/min -> 4.0 s" after each send
BATCH = 5  # messages a poll; each is sent, polled and deleted
INTAKE_SECONDS = 0.155  # "server-side handling averaging about 155 ms", a request a lead
MEMORY_GB = 0.5

ASSUMED = (
    "counted in the sandbox (docs/contention.md): its table's units and its function's time; 16 workers, one account",
    f"of its text: an API request a lead, {INTAKE_SECONDS * 1000:.0f} ms of intake, SQS in batches of {BATCH}",
    "not told, so as ours: 512 MB, arm64, on-demand table; not counted: its receipts, logs, traces, what it keeps",
)


@dataclass(frozen=True, slots=True)
class Story:
    """What 1,000 sends of the story's design use, from the intake to the provider's answer.

    asleep_gb_seconds: more, where its handler sleeps to hold the pace, as on the shared route.
    """

    sends: int
    per_1000: dict[Operation, float]
    asleep_gb_seconds: float


def count_story(messages: int, seed: int = 1) -> Story:
    """Let the story's workers send as many messages, at most MOST_SENDS, and count."""
    wanted = min(messages, MOST_SENDS)
    calibration = Calibration()
    latencies = calibration.latencies(seed)
    with Sandbox(seed=seed, latencies=latencies, profile=SILENT) as sandbox:
        load = start_pool(sandbox, CELL, latencies, calibration)
        counters = sandbox.counters
        written, read = counters.write_units, counters.read_units  # of its first rows
        while len(sandbox.carrier.book) < wanted:
            sandbox.scheduler.run(until=load.done, deadline=sandbox.scheduler.microseconds + round(STEP_SECONDS * 1e6))
        sends = len(sandbox.carrier.book)
        used = {
            Operation.LAMBDA_REQUESTS: sends + sends / BATCH,
            Operation.LAMBDA_GB_SECONDS: (load.lambda_seconds() + sends * INTAKE_SECONDS) * MEMORY_GB,
            Operation.WRITE_UNITS: counters.write_units - written,
            Operation.READ_UNITS: counters.read_units - read,
            Operation.HTTP_REQUESTS: float(sends),
            Operation.SQS_REQUESTS: sends * (1 + 2 / BATCH),
        }
    per_1000 = {operation: amount * 1000 / sends for operation, amount in used.items()}
    return Story(sends, per_1000, SECONDS_ASLEEP * MEMORY_GB * 1000)
