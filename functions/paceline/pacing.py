"""A route's pace: a sliding log of what left, so that no rolling minute ever holds more parts than the cap.

Messages take slots, one after the other. A message leaves at its slot or up to LATENESS later, never before it, and
once its round is closed we know when it left. So with α_1 ≤ α_2 ≤ … the moments at which the parts left, in order, and
s_m the slot of part m, the rule is

    s_m ≥ α_(m−cap) + 60 s

At most m − 1 parts have slots before s_m, so at most m − 1 leave before it: α_m ≥ s_m ≥ α_(m−cap) + 60 s, and no
half-open window of 60 s holds more than `cap` parts. For parts whose round is not closed the latest possible moment
stands in for α, which only makes the slot later. Parts that never left drop out, which only makes the window emptier.

The arithmetic. The cap is given every 60 s plus the mean of α_m − s_m, about 0.7 s: 98.8 % of it; not every 60 s plus
the longest allowed lateness, as a rule that knows only slots has to (97.2 % at 1.75 s, and 0.3 % of slots missed).
What the catching up below leaves unused brings it to 98.4 %. Source: the sliding-window log of rate limiters; the
measurements are in docs/decisions/005.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from paceline.moments import MICROSECONDS

# How late a message may leave: past a Wait's second, a cold start and a retried claim. It costs the route nothing
# while the log knows when messages really left, so it is generous: one in 10,000 is later.
LATENESS_SECONDS = 5.0
LATENESS_US = int(LATENESS_SECONDS * MICROSECONDS)

# Beyond its lateness a message whose answer nobody saw may have reached the provider as late as the call's time-out.
UNSURE_US = 12 * MICROSECONDS

# A batch takes slots when the route is free within this time: long enough for an admission that is slow or repeated,
# short enough that a new campaign, a new cap or a provider's 429 is not kept waiting.
HORIZON_SECONDS = 15.0
HORIZON_US = int(HORIZON_SECONDS * MICROSECONDS)

# The slots of one round begin within so long a stretch of the route's time.
ROUND_US = 30 * MICROSECONDS

# Slots are at least this share of the even distance apart: a late message pushes those a minute later back by its
# lateness, and the rest of the minute may catch up by up to 5 %.
CATCH_UP = 0.95

# A batch that must come back later for its slots is told to come back within this time, however long the queue: a cap
# that was raised, or a campaign that ended, is noticed then at the latest.
MAX_TURN_US = 120 * MICROSECONDS

# How long a send under a cap on concurrency takes, from its start to the next one's; learned from what left.
SEND_US = 450_000

# After a provider's 429 the route goes on at half its speed, and is back at full speed a minute later.
SLOWEST, FULL = 0.1, 1.0
RECOVERY_A_SECOND = 0.5 / 60
RECOVERY_US = 120 * MICROSECONDS  # from the slowest to the full speed

MINUTE_US = 60 * MICROSECONDS


@dataclass(frozen=True, slots=True)
class Round:
    """The slots that one round of a batch took. first, last: its first and last slot, microseconds since 1970.

    ref: campaign#batch#round. width: how many of its sends may be under way at once (0: no cap).
    """

    ref: str
    first: int
    last: int
    parts: int
    width: int = 0

    @property
    def over_at(self) -> int:
        """The moment from which nothing of it can leave any more."""
        return self.last + LATENESS_US + UNSURE_US


@dataclass(frozen=True, slots=True)
class Pace:
    """A route's pace row. Moments in microseconds since 1970.

    next_free: the first moment that no slot was given for. revision: changes with every change of slots. rounds: whose
    slots may still matter, in order. throttled_until: the end of the provider's last 429. speed: the share of the pace
    at that end. send_us: how long a send takes under a cap on concurrency. By campaign: turns: the slot that its next
    batch may hope for; weights: its share; served: the route's time that it was given, by weight.
    """

    next_free: int = 0
    revision: int = 0
    rounds: tuple[Round, ...] = ()
    throttled_until: int = 0
    speed: float = FULL
    send_us: int = SEND_US
    turns: dict[str, int] = field(default_factory=dict)
    weights: dict[str, int] = field(default_factory=dict)
    served: dict[str, int] = field(default_factory=dict)

    def speed_at(self, moment: int) -> float:
        """Return the share of the pace at which the route goes: it probes its way back after a 429."""
        since = max(0, moment - self.throttled_until) / MICROSECONDS
        return min(FULL, self.speed + since * RECOVERY_A_SECOND)

    def free_at(self, now: int) -> int:
        """Return the first moment that may be a slot."""
        return max(now, self.next_free, self.throttled_until)


def interval_us(parts_per_minute: int) -> int:
    """Return the microseconds between two parts at an even pace."""
    return -(-MINUTE_US // parts_per_minute)


def width_of(concurrency: int | None, send_us: int, parts_per_minute: int) -> int:
    """Return how many sends of a round may be under way at once (see `Request.width`)."""
    if not concurrency:
        return 0
    half = max(1, concurrency // 2)
    return half if half * MINUTE_US >= send_us * parts_per_minute else concurrency


def fits_a_round(parts: Iterable[int], parts_per_minute: int) -> int:
    """Return how many messages of so many parts, in order, one round sends: at least one, where there are any."""
    starts = accumulate(parts, initial=0)
    most = ROUND_US // interval_us(parts_per_minute)
    return sum(1 for _, start in zip(parts, starts, strict=False) if start == 0 or start < most)


@dataclass(frozen=True, slots=True)
class Request:
    """Slots wanted for messages of these parts, in order.

    ref: campaign#batch#round. valid_until: the moment (microseconds) by which even a late message must have left.
    concurrency: how many sends may be under way on the route at once (None: no cap). weight: the campaign's share.
    send_us: how long a send takes, where there is a cap on concurrency.
    """

    ref: str
    parts: tuple[int, ...]
    parts_per_minute: int
    valid_until: int = 0
    concurrency: int | None = None
    weight: int = 1
    send_us: int = SEND_US

    @property
    def campaign_id(self) -> str:
        return self.ref.split("#")[0]

    @property
    def width(self) -> int:
        """How many of the round's sends may be under way at once (0: no cap).

        Half of the route's cap, so that the next round begins when this one ends; all of it where half does not give
        the pace: then the next round waits until this one is closed.
        """
        return width_of(self.concurrency, self.send_us, self.parts_per_minute)

    @property
    def interval(self) -> int:
        """Microseconds between two parts at an even pace, or as fast as the cap on concurrency lets sends follow."""
        even = interval_us(self.parts_per_minute)
        return max(even, self.send_us // self.width) if self.width else even

    @property
    def span(self) -> int:
        """Microseconds of the route's time that the messages take."""
        return sum(self.parts) * self.interval

    @property
    def last_slot(self) -> int:
        """The last moment that may be a slot."""
        return self.valid_until - LATENESS_US

    def usable(self, slots: Sequence[int]) -> int:
        """Return how many of the slots, in order, are not too late."""
        return sum(1 for slot in slots if slot <= self.last_slot)

    def place(self, start: int, left: Iterable[tuple[int, int]], speed: float = FULL) -> tuple[list[int], int]:
        """Return a slot a message, from `start` on, and the moment from which the next round's may be.

        left: (the latest moment at which they may have left, parts) of everything that may have left in the minute
        before, and of all slots given.
        """
        gap = round(self.interval * (CATCH_UP if speed >= FULL else 1 / speed))
        cap, at, slots = self.parts_per_minute, start, []
        log = deque(sorted(chunk for departure in left for chunk in _chunks(*departure, cap)))
        inside = sum(parts for _, parts in log)
        for parts in self.parts:
            room = cap - min(parts, cap)
            while log and (inside > room or log[0][0] + MINUTE_US <= at):
                moment, gone = log.popleft()
                inside -= gone
                at = max(at, moment + MINUTE_US)
            slots.append(at)
            log += _chunks(at + LATENESS_US, parts, cap)
            inside += parts
            at += parts * gap
        return slots, at


def _chunks(moment: int, parts: int, cap: int) -> list[tuple[int, int]]:
    """Return a departure as what it takes of each minute: a message larger than the cap takes several minutes."""
    return [(moment + minute * MINUTE_US, min(cap, parts - minute * cap)) for minute in range(-(-parts // cap))]


def is_late(slot: int, now: int) -> bool:
    """Tell whether a message may no longer use its slot."""
    return now > slot + LATENESS_US
