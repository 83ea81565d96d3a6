"""Task tokens: how somebody outside ends a Task that waits for a callback."""

from __future__ import annotations

import random

from sandbox.engine.errors import InvalidToken, StateFailed, TaskDoesNotExist, TaskTimedOut
from sandbox.scheduler import Future, Scheduler

TOKEN_LENGTH = 128
"""Hexadecimal digits. AWS's tokens are longer, up to 2,048 characters."""


class Callback:
    """One wait for a callback: its result, and when it last gave a sign of life."""

    __slots__ = ("future", "last_heartbeat", "token")

    def __init__(self, token: str, future: Future, now: int) -> None:
        self.token = token
        self.future = future
        self.last_heartbeat = now


class TaskTokens:
    """The register of tokens. A token is good once, while its task waits."""

    def __init__(self, scheduler: Scheduler, rng: random.Random) -> None:
        self._scheduler = scheduler
        self._rng = rng
        self._open: dict[str, Callback] = {}
        self._closed: set[str] = set()

    def open(self) -> Callback:
        token = f"{self._rng.getrandbits(TOKEN_LENGTH * 4):0{TOKEN_LENGTH}x}"
        callback = self._open[token] = Callback(token, self._scheduler.future(), self._scheduler.microseconds)
        return callback

    def close(self, callback: Callback) -> None:
        """Make the token useless: its task is over."""
        if self._open.pop(callback.token, None) is not None:
            self._closed.add(callback.token)

    def succeed(self, token: str, output: str) -> None:
        """Raises: InvalidToken, TaskDoesNotExist, TaskTimedOut."""
        callback = self._find(token)
        callback.future.set(output)
        self.close(callback)

    def fail(self, token: str, error: str | None, cause: str | None) -> None:
        callback = self._find(token)
        callback.future.fail(StateFailed(error, cause))
        self.close(callback)

    def heartbeat(self, token: str) -> None:
        self._find(token).last_heartbeat = self._scheduler.microseconds

    def _find(self, token: str) -> Callback:
        if (callback := self._open.get(token)) is not None:
            return callback
        if token in self._closed:
            raise TaskTimedOut("Task Timed Out: 'Provided task does not exist anymore'")
        if len(token) == TOKEN_LENGTH and all(character in "0123456789abcdef" for character in token):
            raise TaskDoesNotExist("Task does not exist")
        raise InvalidToken("Invalid Token: 'Invalid token'")
