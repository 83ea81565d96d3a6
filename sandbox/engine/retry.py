"""Retriers: which error is tried again, when, and how often."""

from __future__ import annotations

import random
from typing import Any

from sandbox.engine.errors import StateFailed

DEFAULT_INTERVAL_SECONDS = 1
DEFAULT_MAX_ATTEMPTS = 3
DEFAULT_BACKOFF_RATE = 2.0


class RetryPolicy:
    """The Retry field of one entry into a state. Each retrier counts its own attempts."""

    __slots__ = ("_attempts", "_retriers", "_rng", "count")

    def __init__(self, retriers: list[dict[str, Any]], rng: random.Random) -> None:
        self._retriers = retriers
        self._attempts = [0] * len(retriers)
        self._rng = rng
        self.count = 0

    def delay(self, failure: StateFailed) -> float | None:
        """Return the seconds until the next attempt, or None when this error is not tried (any more)."""
        for position, retrier in enumerate(self._retriers):
            if failure.matches(retrier["ErrorEquals"]):
                attempts = self._attempts[position]
                if attempts >= retrier.get("MaxAttempts", DEFAULT_MAX_ATTEMPTS):
                    return None
                self._attempts[position] += 1
                self.count += 1
                return self._interval(retrier, attempts)
        return None

    def _interval(self, retrier: dict[str, Any], attempts: int) -> float:
        rate = retrier.get("BackoffRate", DEFAULT_BACKOFF_RATE)
        seconds: float = retrier.get("IntervalSeconds", DEFAULT_INTERVAL_SECONDS) * rate**attempts
        seconds = min(seconds, retrier.get("MaxDelaySeconds", seconds))
        if retrier.get("JitterStrategy") == "FULL":
            return self._rng.uniform(0, seconds)
        return seconds
