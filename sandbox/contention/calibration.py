"""The latencies of the comparison, one for each figure of the story; docs/decisions/014-contention-calibration.md."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace

from sandbox.dynamodb import Latency
from sandbox.latency import Draw, Latencies, lognormal


@dataclass(frozen=True, slots=True)
class Calibration:
    """Medians in seconds, as the sender sees them; the same for all three designs.

    answer: from the provider's acceptance to the sender's next step. call: a read, a write or the prepare of a
    transaction. commit: how long a transaction then holds its rows. retry: the longest first back-off; it doubles.
    """

    answer: float = 1.05
    call: float = 0.08
    commit: float = 0.016
    retry: float = 0.05
    longest_retry: float = 0.5

    def latencies(self, seed: object) -> Latencies:
        """Return the sandbox's realistic latencies with these in them."""

        def around(name: str, median: float) -> Draw:
            draws = random.Random(f"{seed}:contention:{name}")
            return lambda: draws.lognormvariate(math.log(median), 0.25)  # the spread of sandbox.dynamodb.Latency

        call = around("call", self.call)
        carrier = random.Random(f"{seed}:contention:answer")
        return replace(
            Latencies.realistic(seed),
            from_carrier=lognormal(carrier, self.answer, self.answer * 2),
            dynamodb=Latency(read=call, write=call, prepare=call, commit=around("commit", self.commit)),
        )
