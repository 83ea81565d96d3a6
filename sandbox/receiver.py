"""A simulated customer's server, for webhooks: it keeps what it was sent, and can fail, hang or be gone."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

import httpx

from sandbox.gateway import Answer
from sandbox.scheduler import Scheduler

# A status; `hangs`: it takes the request and does not answer in time; `is_down`: nothing can connect to it.
Behaviour = int | Literal["hangs", "is_down"]

SECONDS = 0.05  # there and back, and a handler that does nothing
HANGS_SECONDS = 10.0
ELSEWHERE = "https://169.254.169.254/latest/meta-data/"


@dataclass(frozen=True)
class Received:
    """One request that reached the server. answered: None where it hung."""

    at: datetime
    method: str
    url: str
    headers: dict[str, str]
    body: bytes
    answered: int | None


@dataclass
class Receiver:
    """The server. received: every request, in order, whatever was answered."""

    scheduler: Scheduler
    received: list[Received] = field(default_factory=list)
    _next: deque[Behaviour] = field(default_factory=deque)
    _always: Behaviour = 200

    def behave(self, *answers: Behaviour, then: Behaviour = 200) -> None:
        """Answer the next requests so, one after the other, and `then` all that follow."""
        self._next, self._always = deque(answers), then

    def handle(self, method: str, url: str, headers: dict[str, str], body: bytes) -> Answer:
        """Answer one request. Raises: httpx.ConnectError, httpx.ReadTimeout."""
        behaviour = self._next.popleft() if self._next else self._always
        self.scheduler.sleep(SECONDS)
        if behaviour == "is_down":
            raise httpx.ConnectError("connection refused")
        answered = behaviour if isinstance(behaviour, int) else None
        self.received.append(Received(self.scheduler.now(), method, url, headers, body, answered))
        if answered is None:
            self.scheduler.sleep(HANGS_SECONDS)
            raise httpx.ReadTimeout("the customer's server did not answer")
        redirect = {"location": ELSEWHERE} if 300 <= answered < 400 else {}
        return Answer(answered, redirect, b"")

    def ids(self) -> list[str]:
        """Return the webhook-id of each request, in order."""
        return [one.headers["webhook-id"] for one in self.received]


def taken(received: Iterable[Received]) -> list[Received]:
    """Return the requests that were answered 2xx."""
    return [one for one in received if one.answered is not None and 200 <= one.answered < 300]
