"""What was read and when, so that the longest not read is read next."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

N = TypeVar("N", bound=Hashable)


class Aging:
    """Values by name, each with the moment it was put; of more than `most` those go that were not used for longest."""

    def __init__(self, most: int, now: Callable[[], float]) -> None:
        self.most = most
        self._now = now
        self._kept: dict[Hashable, tuple[float, Any]] = {}

    def put(self, name: Hashable, value: Any) -> None:
        """Keep a value as of now."""
        self._kept.pop(name, None)
        self._kept[name] = (self._now(), value)
        while len(self._kept) > self.most:
            del self._kept[next(iter(self._kept))]

    def found(self, name: Hashable) -> Any:
        """Return the value; None where there is none."""
        kept = self._kept.pop(name, None)
        if kept is None:
            return None
        self._kept[name] = kept
        return kept[1]

    def is_older(self, name: Hashable, seconds: float) -> bool:
        """Tell whether it was put longer ago than that, or never."""
        kept = self._kept.get(name)
        return kept is None or self._now() - kept[0] >= seconds

    def get(self, name: Hashable, seconds: float, ask: Callable[[], Any]) -> Any:
        """Return the value, asked for anew where it is older than that."""
        if self.is_older(name, seconds):
            self.put(name, ask())
        return self.found(name)

    def due(self, old: Mapping[N, float]) -> list[N]:
        """Return the names whose value is as old as given (seconds), the never read first, then the oldest."""
        names = [name for name, seconds in old.items() if self.is_older(name, seconds)]
        return sorted(names, key=lambda name: self._kept[name][0] if name in self._kept else float("-inf"))
