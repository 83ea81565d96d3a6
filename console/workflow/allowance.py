"""How often Step Functions may be asked, so that a console that looks on never slows down what it looks at."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError


@dataclass(frozen=True, slots=True)
class Rate:
    """A bucket: `burst` calls at once, `per_second` more each second."""

    burst: float
    per_second: float


Rates = Mapping[str, Rate]

# Half of what AWS gives an account in the smaller regions (GetExecutionHistory 400 and 20 a second, ListExecutions 100
# and 2): the other half is the functions', other operators' and AWS's own console's. The Map Run calls are given as
# those that AWS gives least (100 and 1).
AWS: Rates = {
    "get_execution_history": Rate(200, 10),
    "list_executions": Rate(50, 1),
    "describe_map_run": Rate(50, 0.5),
}
UNLIMITED: Rates = {}
"""For the sandbox, which throttles nobody."""

_THROTTLED = frozenset({"ThrottlingException", "TooManyRequestsException", "RequestLimitExceeded", "Throttling"})
MOST_BACKOFF_SECONDS = 30.0


class NotNow(Exception):
    """The call would be too much, by our own rate or by AWS's: what is known already has to do."""


@dataclass(slots=True)
class _Bucket:
    rate: Rate
    filled: float
    at: float

    def take(self, now: float) -> bool:
        self.filled = min(self.rate.burst, self.filled + (now - self.at) * self.rate.per_second)
        self.at = now
        if self.filled < 1:
            return False
        self.filled -= 1
        return True


@dataclass
class Allowance:
    """Calls a `stepfunctions` client, as often as the rates allow. monotonic: seconds that only grow.

    calls: made so far. After a refusal by AWS nothing is asked until `quiet_until`: 1 s, then twice as long each time,
    at most 30 s, less a random part, so that several consoles do not come back together. May be used by many threads.
    """

    client: Any
    rates: Rates
    monotonic: Callable[[], float]
    rng: random.Random = field(default_factory=random.Random)
    calls: int = 0
    quiet_until: float = 0.0
    _refused: int = 0
    _buckets: dict[str, _Bucket] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def call(self, operation: str, **parameters: Any) -> dict[str, Any]:
        """Return the answer. Raises: NotNow; ClientError where it is refused for another reason."""
        now = self.monotonic()
        with self._lock:
            if now < self.quiet_until or not self._may(operation, now):
                raise NotNow
            self.calls += 1
        try:
            answer: dict[str, Any] = getattr(self.client, operation)(**parameters)
        except ClientError as error:
            if error.response["Error"]["Code"] not in _THROTTLED:
                raise
            with self._lock:
                self._back_off(now)
            raise NotNow from error
        self._refused = 0
        return answer

    def _may(self, operation: str, now: float) -> bool:
        if (rate := self.rates.get(operation)) is None:
            return True
        return self._buckets.setdefault(operation, _Bucket(rate, rate.burst, now)).take(now)

    def _back_off(self, now: float) -> None:
        if now < self.quiet_until:  # another thread's call was refused at the same time
            return
        longest = min(MOST_BACKOFF_SECONDS, 2.0**self._refused)
        self._refused += 1
        self.quiet_until = now + longest * (1 + self.rng.random()) / 2
