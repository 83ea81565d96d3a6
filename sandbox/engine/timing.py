"""How late the service is. Every field is asked anew each time, so that a seeded generator can sit behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def _none() -> float:
    return 0.0


@dataclass(frozen=True)
class Timing:
    """Seconds, each 0 by default.

    wait_lateness: added to the moment at which a Wait state ends.
    transition: between two states, and before a retry.
    child_start_spacing: between two starts of child executions of one Map Run.
    """

    wait_lateness: Callable[[], float] = _none
    transition: Callable[[], float] = _none
    child_start_spacing: Callable[[], float] = _none
