"""The system that a console looks at: its API, what AWS's protocols say of it, and how often it is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock
from typing import Any

from console.operator.api import Api
from console.reach import System, Where, explained


@dataclass(frozen=True, slots=True)
class Site:
    """url: the API's. key: whose key a visitor has without signing in; "": nobody's. every: seconds between looks."""

    where: Where
    system: System
    url: str
    key: str
    every: float
    kept: Kept = field(default_factory=lambda: Kept())

    def api(self, key: str) -> Api:
        """Return the API with a key of an operator's. Raises: NoAnswer, where it is none."""
        return _api(self.url, key)

    @contextmanager
    def aws(self) -> Iterator[System]:
        """Yield the system for calls by AWS's protocols. Raises: CannotReach, with what to do."""
        with explained(self.where):
            yield self.system

    @contextmanager
    def workflows(self) -> Iterator[Any]:
        """Yield a client of Step Functions, the same for all. Raises: CannotReach, with what to do."""
        with self.aws() as system:
            yield self.kept.get("a client of Step Functions", lambda: system.client("stepfunctions"))


class Kept:
    """What pages keep between looks, by a name, as long as it is used: the newest so many."""

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._lock = Lock()
        self._found: dict[Any, Any] = {}

    def get(self, name: Any, make: Any) -> Any:
        """Return what is kept by the name; make() makes it the first time."""
        with self._lock:
            found = self._found.pop(name, None)
            if found is None:
                found = make()
            self._found[name] = found
            while len(self._found) > self._most:
                del self._found[next(iter(self._found))]
            return found


@lru_cache(maxsize=64)
def _api(url: str, key: str) -> Api:
    return Api(url, key)
