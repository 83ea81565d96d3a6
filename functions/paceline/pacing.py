"""A route's pace: virtual scheduling, so that no rolling minute ever holds more parts than the cap.

The pace row holds the moment at which the route is next free. A batch takes its slots by moving that moment on; one
atomic update, whoever else is sending. Source: the virtual scheduling form of the Generic Cell Rate Algorithm
(ITU-T I.371), with a tolerance of zero.

The arithmetic. A message leaves at most LATENESS after its slot, never before it. Those that leave in a rolling
minute [t, t+60 s) therefore have slots in (t − LATENESS, t + 60 s), an open interval of 60 s + LATENESS. With slots
`interval` apart, and the last message of k parts counted whole, that interval holds at most
(60 s + LATENESS) / interval + k − 1 parts; so interval = (60 s + LATENESS) / (cap − k + 1) keeps it within the cap.
The price is LATENESS / (60 s + LATENESS) of the cap, 2.8 % for 1.75 s, and the slots that are missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paceline.moments import MICROSECONDS

# A Wait state ends up to 1 s late, and a function's start has a long tail. Measured over 25,000 sends, by allowance:
# 1.25 s is missed by 1.5 %, 1.5 s by 0.6 %, 1.75 s by 0.3 %, 2 s by 0.15 %. Allowance and missed slots together cost
# least of the cap between 1.5 and 1.75 s (3.0 to 3.1 %); the latter sends fewer messages back to admission.
LATENESS_SECONDS = 1.75
LATENESS_US = int(LATENESS_SECONDS * MICROSECONDS)

# Slots are given out at most this far ahead: a new cap or a provider's 429 bites within this time.
HORIZON_SECONDS = 30.0
HORIZON_US = int(HORIZON_SECONDS * MICROSECONDS)

# A batch that must come back later for its slots is told to come back within this time, however long the queue: a cap
# that was raised, or a pause that ended, is noticed then at the latest.
MAX_TURN_US = 180 * MICROSECONDS

MINUTE_US = 60 * MICROSECONDS


@dataclass(frozen=True, slots=True)
class Pace:
    """A route's pace row. Moments in microseconds since 1970.

    next_free: the first slot that nobody has. last_parts: parts per message of the last grant. next_turn: when the
    next batch that finds the route full shall come back. throttled_until: the end of the provider's last 429.
    """

    next_free: int = 0
    last_parts: int = 1
    next_turn: int = 0
    throttled_until: int = 0


def interval_us(parts_per_minute: int, max_parts: int) -> int:
    """Return the microseconds between two parts, for messages of up to `max_parts` parts.

    A message with more parts than the cap allows in a minute still goes, and the next one waits for it.
    """
    room = parts_per_minute - max_parts + 1 if max_parts <= parts_per_minute else parts_per_minute
    return -(-(MINUTE_US + LATENESS_US) // room)


@dataclass(frozen=True, slots=True)
class Request:
    """Slots wanted for messages of these parts, in order.

    valid_until: the moment (microseconds) by which even a late message must have left.
    """

    parts: tuple[int, ...]
    parts_per_minute: int
    valid_until: int

    @property
    def max_parts(self) -> int:
        return max(self.parts)

    @property
    def interval(self) -> int:
        return interval_us(self.parts_per_minute, self.max_parts)

    @property
    def span(self) -> int:
        """Microseconds of the route's time that the messages take."""
        return sum(self.parts) * self.interval

    def gap_before(self, last_parts: int) -> int:
        """Microseconds kept free before the first slot: larger messages than the last grant's need room behind them."""
        return (self.max_parts - 1) * self.interval if self.max_parts > last_parts else 0

    def slots(self, start: int) -> list[int]:
        """Return one slot a message, from `start` on, each message charged for all its parts."""
        slots, at = [], start
        for parts in self.parts:
            slots.append(at)
            at += parts * self.interval
        return slots

    @property
    def last_slot(self) -> int:
        """The last moment that may be a slot."""
        return self.valid_until - LATENESS_US

    def usable(self, slots: Sequence[int]) -> int:
        """Return how many of the slots, in order, are not too late."""
        return sum(1 for slot in slots if slot <= self.last_slot)


def is_late(slot: int, now: int) -> bool:
    """Tell whether a message may no longer use its slot."""
    return now > slot + LATENESS_US


def turn(pace: Pace, now: int, span: int) -> tuple[int, int]:
    """Return (when the batch shall come back, the row's new next_turn).

    Batches that find the route full are spaced by what each will take, so that each comes when its room is there.
    """
    room_at = max(now, pace.next_free - HORIZON_US)
    mine = max(pace.next_turn, room_at)
    return min(mine, now + MAX_TURN_US), mine + span
