"""How long things take, drawn by seed. Every figure is seconds; sources beside them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

from sandbox.dynamodb import Latency as DynamoDBLatency
from sandbox.engine import Timing

Draw = Callable[[], float]


def lognormal(rng: random.Random, median: float, p99: float) -> Draw:
    """Return draws around `median` of which one in a hundred is over `p99`."""
    mu, sigma = math.log(median), math.log(p99 / median) / 2.326  # 2.326: the normal distribution's 99th percentile
    return lambda: rng.lognormvariate(mu, sigma)


@dataclass(frozen=True)
class Latencies:
    """The whole sandbox's latencies.

    start: from an invocation to the handler's first line; with the calls that a sender makes, its whole time comes
    to a median of about 120 ms and a 99th percentile of about 0.9 s. finish: from its return to the caller.
    other: any AWS call beyond DynamoDB. to_carrier, from_carrier: the legs of a provider call.
    """

    start: Draw
    finish: Draw
    other: Draw
    to_carrier: Draw
    from_carrier: Draw
    dynamodb: DynamoDBLatency
    workflow: Timing

    @classmethod
    def realistic(cls, seed: object) -> Latencies:
        """Draw from one generator per source, so that one more call here does not change what is drawn there."""

        def rng(name: str) -> random.Random:
            return random.Random(f"{seed}:{name}")

        late = rng("wait")
        return cls(
            start=lognormal(rng("start"), 0.030, 0.60),
            finish=lognormal(rng("finish"), 0.004, 0.02),
            other=lognormal(rng("other"), 0.020, 0.12),
            to_carrier=lognormal(rng("to_carrier"), 0.020, 0.08),
            from_carrier=lognormal(rng("from_carrier"), 0.035, 0.15),
            dynamodb=DynamoDBLatency.modelled(rng("dynamodb")),
            workflow=Timing(
                wait_lateness=lambda: late.uniform(0.0, 1.0),  # AWS: a Wait ends up to a second late
                transition=lognormal(rng("transition"), 0.012, 0.06),
                child_start_spacing=lambda: 0.01,  # at most 100 children a second (facts, point 3)
            ),
        )
