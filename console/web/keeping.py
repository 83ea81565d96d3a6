"""What a look may reuse of the looks before it, for a while: what costs much to find and changes seldom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from console.web.once import Once
from console.web.page import Visit

T = TypeVar("T")


def for_a_while(visit: Visit, name: tuple[Any, ...], seconds: float, look: Callable[[], T]) -> T:
    """Return what look() found less than so many seconds ago, for whoever asks by this name."""
    kept: Once[T] = visit.site.kept.get(name, Once)
    return kept.get(look, seconds)
