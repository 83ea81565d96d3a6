"""A value that is asked for once, or once in a while, and nobody but those who want it waits."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    """What `ask` returned when it last did; where it raises, the next one asks again."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = Lock()
        self._found: list[T] = []
        self._at = -math.inf

    def get(self, ask: Callable[[], T], seconds: float = math.inf) -> T:
        """Return the value, asked for anew where it is as old as that. Raises: what `ask` raises."""
        with self._lock:
            if not self._found or self._now() - self._at >= seconds:
                self._found, self._at = [ask()], self._now()
            return self._found[0]
