"""Garbage collection where it only costs: it took a seventh of a campaign in the sandbox, a quarter of a check."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """Let the garbage collector look less often while many objects are made that live long."""
    before = gc.get_threshold()
    gc.set_threshold(5_000, 20, 10)
    try:
        yield
    finally:
        gc.set_threshold(*before)
