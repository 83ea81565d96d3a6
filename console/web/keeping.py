"""What a look may reuse of the looks before it, for a while: what costs much to find and changes seldom."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from console.web.page import Visit

T = TypeVar("T")


def for_a_while(visit: Visit, name: tuple[Any, ...], seconds: int, look: Callable[[], T]) -> T:
    """Return what look() found at most so many seconds ago, for whoever asks by this name."""
    kept: list[T] = visit.site.kept.get((*name, int(time.monotonic() / seconds)), list)
    if not kept:  # outside of what is kept: nobody else waits for this look
        kept.append(look())
    return kept[0]
