"""Looks that do not need each other, at the same time: a page waits for the slowest, not for their sum."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

# Pages are looked at in threads of their own; these are for what one of them asks beside.
_BESIDE = ThreadPoolExecutor(16, thread_name_prefix="beside")


def together(*looks: Callable[[], Any]) -> list[Any]:
    """Return what each look returns. Raises: what the first of them raises, once all have ended."""
    first, *others = looks
    futures = [_BESIDE.submit(look) for look in others]
    try:
        found = [first()]
    finally:
        for future in futures:
            future.exception()
    return found + [future.result() for future in futures]
