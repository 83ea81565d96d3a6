"""The story's sender: a pool of workers, each with one message at a time, on either of the two old designs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from paceline import keys
from paceline.bootstrap import Services
from paceline.errors import TransactionConflict
from paceline.moments import iso
from paceline.ports import OutgoingMessage
from paceline.table import TransactionRefused, Update
from sandbox.contention.calibration import Calibration
from sandbox.contention.recording import Writer
from sandbox.contention.story import Design, Reservation
from sandbox.latency import Latencies
from sandbox.scheduler import Scheduler

ROUTE, ACCOUNT, SENDER = "shared", "acme", "+12025550100"
# The story's own bound on tries; after the last one the message goes to the back of the queue.
TRIES = 8
# The story's RATE_LIMIT_DELAY_SECONDS is not told. A worker that is refused by the minute rests this long, give or
# take a half: shorter is more attempts for nothing, longer leaves workers idle in the next minute.
MINUTE_DELAY_SECONDS = 5.0
TEXT = "Hi there, your policy quote is ready. Reply YES for a call, STOP to opt out."


class MinuteFull(Exception):
    """The minute's counter has reached the ceiling."""


class Contended(Exception):
    """The reservation lost every try."""


@dataclass
class Pool:
    """Workers without end. lambda_seconds: how long their invocations ran, without what passes outside of them."""

    design: Design
    workers: int
    ceiling: int
    scheduler: Scheduler
    services: Services
    latencies: Latencies
    calibration: Calibration
    rng: random.Random
    lambda_seconds: float = 0.0
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def start(self) -> None:
        for number in range(self.workers):
            self.scheduler.spawn(self._work, name=f"worker {number + 1}")

    def _work(self) -> None:
        """Invoke the sender for one message after the other; there are always more in the queue."""
        for number in self._numbers:
            try:
                self._invoke(f"{number}")
            except MinuteFull:  # no function runs meanwhile: the message is back in the queue
                self.scheduler.sleep(MINUTE_DELAY_SECONDS * self.rng.uniform(0.5, 1.5))
            except Contended:
                continue

    def _invoke(self, message_id: str) -> None:
        task = self.scheduler.current
        assert task is not None
        task.context["writer"] = Writer("sender", message=message_id)
        self.scheduler.sleep(self.latencies.start())
        started = self.scheduler.time()
        try:
            self._send(message_id)
        finally:
            self.lambda_seconds += self.scheduler.time() - started
        self.scheduler.sleep(self.latencies.finish())

    # -- one message --------------------------------------------------------------------------------------------------

    def _send(self, message_id: str) -> None:
        """Reserve, hand over to the provider, record. Raises: MinuteFull, Contended."""
        key = (f"MESSAGE#{message_id}", "MESSAGE")
        self._reserve(key)
        number = f"+1202555{100 + int(message_id) % 100:04}"
        self.services.twilio.send(OutgoingMessage(message_id, SENDER, number, TEXT, 86_400))
        self.services.table.update(Update(key, "SET #status = :sent", {"sent": "sent"}))

    def _reserve(self, message: keys.Key) -> None:
        for attempt in range(TRIES):
            if self._try(message):
                return
            self.scheduler.sleep(self._backoff(attempt))
        raise Contended

    def _try(self, message: keys.Key) -> bool:
        """Try the transaction once; False: other sends were in its way. Raises: MinuteFull."""
        now = self.scheduler.now()
        minute = (f"ROUTE#{ROUTE}", f"MINUTE#{iso(now)[:16]}")
        wanted = Reservation(
            keys.account(ACCOUNT), keys.account_day(ACCOUNT, now.date()), minute, message, self.ceiling
        )
        writes = self.design(self.services.table, wanted)
        try:
            self.services.table.transact(list(writes.values()))
        except TransactionConflict:
            return False
        except TransactionRefused as refused:
            codes = {name: reason.code for name, reason in zip(writes, refused.reasons, strict=True)}
            if codes["minute"] == "ConditionalCheckFailed":
                raise MinuteFull from None
            return False
        return True

    def _backoff(self, attempt: int) -> float:
        """Return the story's back-off, in seconds: jittered, and longer with each try."""
        longest = min(self.calibration.retry * 2.0**attempt, self.calibration.longest_retry)
        return self.rng.uniform(0.01, longest)
