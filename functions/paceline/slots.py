"""Taking a round's slots from its route's pace row: one conditional write a round, whoever else is sending."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from paceline import keys
from paceline.departures import Log, still_matters
from paceline.errors import TransactionConflict
from paceline.moments import MICROSECONDS, from_us, to_us
from paceline.pace_rows import THOUSAND, Grant, give, to_pace
from paceline.pacing import HORIZON_US, MINUTE_US, SLOWEST, Pace, Request, Round
from paceline.table import ConditionFailed, Table, Update
from paceline.turns import MOST_HORIZONS, Turn, come_back

# Each failed write returns the row as it is, and the next try begins with that.
MAX_TRIES = 8

# A provider that asks for more than this has other troubles than our pace; admission asks again after it.
MAX_THROTTLE = timedelta(minutes=5)

# A provider that still refuses at the slowest is asked once a minute.
LEAST_AT_SLOWEST = timedelta(seconds=60)

# Beyond this a batch is sent away again, whatever turn it had.
FURTHEST_US = (MOST_HORIZONS + 1) * HORIZON_US

# The log is exact up to so far beyond where the slots would be at an even pace.
MARGIN_US = 2 * MICROSECONDS

# After its last slot a round is closed within about this time; a batch that waits for it comes back then.
CLOSING_US = 3 * MICROSECONDS


@dataclass(frozen=True, slots=True)
class Slots:
    """A round's slots, in the order of its messages (microseconds since 1970), and its width (see `Request`)."""

    moments: list[int]
    width: int


def take_slots(table: Table, route: str, request: Request, now: datetime) -> Slots | Turn:
    """Take one slot a message, or the moment at which to come back for them.

    Fewer slots than messages where the rest would be too late. Raises: TransactionConflict, when the row changed
    under every try.
    """
    moment, log = to_us(now), Log(table, to_us(now))
    pace = to_pace(table.get(keys.route_pace(route)))
    for _ in range(MAX_TRIES):
        start = pace.free_at(moment)
        rounds = [one for one in pace.rounds if still_matters(one, start, request.parts_per_minute)]
        if request.concurrency:
            request = replace(request, send_us=log.send_us(rounds, pace.send_us))
        if turn := _must_wait(pace, rounds, request, log, now):
            return turn
        left = log.since(rounds, start + 2 * request.span + MARGIN_US - MINUTE_US)
        slots, next_free = request.place(start, left, pace.speed_at(start))
        usable = request.usable(slots)
        if not usable:
            return _at_the_end(request)
        if slots[0] > moment + FURTHEST_US:  # the minute before is full: the cap was lowered, or messages were late
            return come_back(pace, slots[0], now)
        if usable < len(slots):
            slots, next_free = slots[:usable], slots[usable]
        mine = Round(request.ref, slots[0], slots[-1], sum(request.parts[:usable]), request.width)
        took = mine.parts * request.interval
        drift, taken = next_free - start - took, [*rounds, mine]
        grant = Grant(request.campaign_id, taken, next_free, took // request.weight, drift, request.send_us)
        try:
            give(table, route, pace, grant, moment)
        except ConditionFailed as other:
            pace = to_pace(other.old)
            continue
        return Slots(slots, request.width)
    raise TransactionConflict("the route's pace changed under every try", route=route)


def _must_wait(pace: Pace, rounds: list[Round], request: Request, log: Log, now: datetime) -> Turn | None:
    start = pace.free_at(to_us(now))
    if start > request.last_slot:
        return _at_the_end(request)
    if start > to_us(now) + FURTHEST_US:
        return come_back(pace, start, now)
    if request.concurrency and log.open_width(rounds, request.concurrency) + request.width > request.concurrency:
        ends = [one.last for one in rounds if one.over_at > to_us(now)]
        closed = max(min(ends) + CLOSING_US, to_us(now) + CLOSING_US)
        return replace(come_back(pace, start, now), at=from_us(closed))
    return None


def _at_the_end(request: Request) -> Turn:
    """No slot is left before the end of the day, the window or the campaign: admission says which."""
    end = from_us(request.valid_until)
    return Turn(end, end, throttled=False)


def slow_down(table: Table, route: str, now: datetime, retry_after_seconds: float) -> datetime:
    """Pause the route for a provider's 429, for every campaign. Return the end of the pause.

    The pace row keeps new slots behind it, at half the speed at first. The route's own row, which every send reads,
    stops those that have slots already: they go back to admission.
    """
    # In this order a Retry-After that is no number (nan) becomes a second, and an endless one the longest pause.
    until = now + timedelta(seconds=min(max(1.0, retry_after_seconds), MAX_THROTTLE.total_seconds()))
    speed = to_pace(table.get(keys.route_pace(route))).speed_at(to_us(now)) / 2
    if speed <= SLOWEST:
        until = max(until, now + LEAST_AT_SLOWEST)
    values = {"until": to_us(until), "now": to_us(now), "speed": round(max(SLOWEST, speed) * THOUSAND)}
    condition = "attribute_not_exists(#throttled_until) OR #throttled_until < :now"
    expression = "SET #throttled_until = :until, #speed = :speed"
    try:
        table.update(Update(keys.route_pace(route), expression, values, condition))
    except ConditionFailed:  # another send met the same 429 first, and slowed the route: only the end may be later
        _note_pause(table, keys.route_pace(route), until)
    _note_pause(table, keys.route(route), until)
    return until


def _note_pause(table: Table, key: keys.Key, until: datetime) -> None:
    """Note the latest end of a pause; an earlier one changes nothing."""
    condition = "attribute_exists(#pk) AND (attribute_not_exists(#throttled_until) OR #throttled_until < :until)"
    with suppress(ConditionFailed):
        table.update(Update(key, "SET #throttled_until = :until", {"until": to_us(until)}, condition))
