"""What a route gives in parts a second, as a campaign meets it: its first minute, its cap on concurrency, the rest."""

from __future__ import annotations

from datetime import datetime, timedelta

from paceline.forecast.model import RouteCaps
from paceline.leads.sizes import leads_of_a_batch
from paceline.pacing import CATCH_UP, interval_us, width_of

# A thousandth of a part is nothing left: rounding to microseconds leaves less.
NOTHING = 1e-3

_MINUTE_SECONDS = 60
# Where one round takes all of a route's concurrency, the next begins when it is closed: so long after its last slot.
# It waits for the slowest of the sends under way, the slower the more there are (measured: docs/decisions/015).
_CLOSING_SECONDS_A_SEND, _MOST_CLOSING_SECONDS = 0.75, 2.0


class RouteRate:
    """A route's rate while the simulation's time goes on.

    A route that sent nothing for a minute gives its cap a little faster than even (`CATCH_UP`), and then nothing until
    the minute is over. From then on it gives its cap steadily; the sawtooth of later minutes is not simulated.
    """

    def __init__(self, caps: RouteCaps, efficiency: float) -> None:
        even = caps.parts_per_minute / _MINUTE_SECONDS
        most = _most_by_rounds(caps)
        self._steady, self._first = min(even * efficiency, most), min(even / CATCH_UP, most)
        self._minute = timedelta(seconds=_MINUTE_SECONDS / efficiency)
        self._left = float(caps.parts_per_minute) if caps.is_fresh else 0.0
        self._minute_ends: datetime | None = None

    def at(self, now: datetime) -> float:
        """Return the parts a second of a route that is used from now on."""
        if self._minute_ends is None:
            self._minute_ends = now + self._minute if self._left else now
        if now >= self._minute_ends:
            return self._steady
        return self._first if self._left > NOTHING else 0.0

    def changes_at(self, now: datetime) -> datetime | None:
        """Return when the rate changes, if the route is used until then; None: never."""
        if self._minute_ends is None or now >= self._minute_ends:
            return None
        used_up = now + timedelta(seconds=self._left / self._first)
        return min(used_up, self._minute_ends) if self._left > NOTHING else self._minute_ends

    def use(self, parts: float) -> None:
        """Note what was given."""
        self._left -= parts


def _most_by_rounds(caps: RouteCaps) -> float:
    if not caps.concurrency:
        return float("inf")
    width = width_of(caps.concurrency, caps.send_us, caps.parts_per_minute)
    if width < caps.concurrency:
        return float("inf")  # the rounds overlap
    leads = leads_of_a_batch(caps.parts_per_minute)
    slot_seconds = max(interval_us(caps.parts_per_minute) * CATCH_UP, caps.send_us / width) / 1e6
    between = min(_MOST_CLOSING_SECONDS, _CLOSING_SECONDS_A_SEND * width)
    return leads / (leads * slot_seconds + between)
