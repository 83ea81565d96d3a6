"""A value that is asked for once, while nobody but those who want it waits."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    """What `ask` returned the first time it did; where it raises, the next one asks again."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._found: list[T] = []

    def get(self, ask: Callable[[], T]) -> T:
        """Return the value. Raises: what `ask` raises."""
        with self._lock:
            if not self._found:
                self._found.append(ask())
            return self._found[0]
