"""Turns: how campaigns share a route, by weight, and when a batch that must wait comes back.

Who may go is decided when a batch asks: the campaign that was given least of the route's time, by its weight, and no
other is more than two batches ahead of it. (Fair queueing by served time; the virtual time of a campaign that is new is
that of the least served. Source: start-time fair queueing, Goyal, Vin and Cheng, SIGCOMM 1996.) A turn only says when
to ask again: a campaign's batches are so far apart as its share of the route will be.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from paceline import keys
from paceline.errors import TransactionConflict
from paceline.moments import MICROSECONDS, from_us, to_us
from paceline.pace_rows import SERVED, TURN, WEIGHT, to_pace
from paceline.pacing import HORIZON_US, MAX_TURN_US, Pace, Request
from paceline.table import ConditionFailed, Table, Update

# A campaign whose last turn is so long past has nothing to ask, or waits for another cause.
ACTIVE_US = 3 * MICROSECONDS

# Where more of the route's time than this was asked for and not yet given, as when a campaign starts, whoever asks now
# comes back a little later, and does not meet the others in its lease.
CROWD_US = 3 * MICROSECONDS

# A route that is free within this time would be idle soon: whoever asks may go.
IDLE_US = 5 * MICROSECONDS

# A batch that comes back for its turn may find the route given away a little further than was foreseen.
EARLY_US = HORIZON_US // 2

# A campaign that is new to the route, and a small batch, does not wait for the horizon: it takes the next free slots,
# at most so many horizons away.
MOST_HORIZONS = 3
SMALL_PARTS = 10

# A campaign may be ahead of another by half a batch, or by so many parts, and yet go: its batches are not all as large.
AHEAD_PARTS = 20

# With others on the route a campaign asks a little more often than its share, so that it can make up what it missed.
EAGER = 0.8

# A failed form returns the row, and the other form is chosen from that.
MAX_FORMS = 4


@dataclass(frozen=True, slots=True)
class Turn:
    """No slots yet: come back at `at`, for the slot at `turn`. throttled: the provider's 429 is the cause."""

    at: datetime
    turn: datetime
    throttled: bool


def take_turn(table: Table, route: str, request: Request, now: datetime) -> Turn | None:
    """Take the campaign's next turn on the route. Return None: it is now; else when to come back.

    Raises: TransactionConflict, when the row changed under every try.
    """
    pace = to_pace(table.get(keys.route_pace(route)))
    moment = to_us(now)
    mine = _advance(table, route, pace, request, now)
    if mine - pace.free_at(moment) <= CROWD_US and _may_go(pace, request, mine, moment):
        return None
    return come_back(pace, mine, now)


def await_turn(table: Table, route: str, request: Request, turn: datetime, now: datetime) -> Turn | None:
    """Return None, when the turn of a batch that came back is now; else when to come back again."""
    pace = to_pace(table.get(keys.route_pace(route)))
    moment, slot = to_us(now), to_us(turn)
    if _may_go(pace, request, slot, moment):
        _advance_nearer(table, route, pace, request, slot - pace.free_at(moment))
        return None
    if slot <= moment + HORIZON_US and not _is_least_served(pace, request, moment):
        slot = _advance(table, route, pace, request, now)  # the campaign had more than its share: to its queue's end
    return come_back(pace, max(slot, pace.free_at(moment)), now)


def come_back(pace: Pace, slot: int, now: datetime) -> Turn:
    """Return when to ask again, for a slot that may be had then."""
    moment = to_us(now)
    early = moment + max(MICROSECONDS, (slot - moment) // 2)
    at = slot - HORIZON_US if slot - HORIZON_US > moment + MICROSECONDS else early
    # Those who wait long look in between, each at another moment: one of them soon sees that the route became idle.
    latest = moment + MAX_TURN_US // 2 + slot % (MAX_TURN_US // 2)
    return Turn(from_us(min(at, latest)), from_us(slot), pace.throttled_until > moment)


def _least_served(pace: Pace, campaign_id: str, now: int) -> int | None:
    """Return the least that one of the other campaigns was served that want the route now; None: there is none."""
    return min((pace.served.get(other, 0) for other in _rivals(pace, campaign_id, now)), default=None)


def _served_at_least(pace: Pace, campaign_id: str, now: int) -> int:
    """Return what a campaign counts as served when it comes: anew, or again, it begins with the least served."""
    own = pace.served.get(campaign_id, 0)
    if pace.turns.get(campaign_id, 0) >= now - ACTIVE_US:
        return own
    return max(own, _least_served(pace, campaign_id, now) or 0)


def _may_go(pace: Pace, request: Request, slot: int, now: int) -> bool:
    free = pace.free_at(now)
    if free <= now + IDLE_US:
        return True
    if not _is_least_served(pace, request, now):
        return False
    is_small = request.span <= SMALL_PARTS * request.interval
    if is_small or request.campaign_id not in pace.turns:
        return free <= now + MOST_HORIZONS * HORIZON_US
    return slot <= now + HORIZON_US and free <= now + HORIZON_US + EARLY_US


def _is_least_served(pace: Pace, request: Request, now: int) -> bool:
    least = _least_served(pace, request.campaign_id, now)
    ahead = max(request.span // 2, AHEAD_PARTS * request.interval) // request.weight
    return least is None or _served_at_least(pace, request.campaign_id, now) <= least + ahead


def _rivals(pace: Pace, campaign_id: str, now: int) -> list[str]:
    """Return the other campaigns that want the route now."""
    return [other for other, turn in pace.turns.items() if turn >= now - ACTIVE_US and other != campaign_id]


def _advance(table: Table, route: str, pace: Pace, request: Request, now: datetime) -> int:
    """Move the campaign's turn on, in one atomic write; return the slot that is its turn."""
    for _ in range(MAX_FORMS):
        update, base = _next_turn(route, pace, request, to_us(now))
        try:
            old = table.update(update, returning="UPDATED_OLD")
            return max(int(old.get(update.names["turn"], 0)), base)
        except ConditionFailed as other:
            pace = to_pace(other.old)
    raise TransactionConflict("the campaign's turns changed under every try", route=route)


def _advance_nearer(table: Table, route: str, pace: Pace, request: Request, early: int) -> None:
    """A batch that goes long before its turn shows that others left: the campaign's next turns are as much nearer."""
    if early > HORIZON_US and pace.turns.get(request.campaign_id, 0) > early:
        names = {"turn": TURN + request.campaign_id}
        table.update(Update(keys.route_pace(route), "SET #turn = #turn - :early", {"early": early}, names=names))


def _next_turn(route: str, pace: Pace, request: Request, now: int) -> tuple[Update, int]:
    """Return the form that moves on the campaign's turn, as the row says, and the first slot that it may be."""
    base = pace.free_at(now)
    values = {"base": base, "weight": request.weight}
    names = {"turn": TURN + request.campaign_id, "weight": WEIGHT + request.campaign_id}
    if pace.turns.get(request.campaign_id, 0) > base:
        values["cost"] = _cost(pace, request, now)
        expression, condition = "SET #turn = #turn + :cost, #weight = :weight", "#turn > :base"
    else:
        names["served"] = SERVED + request.campaign_id
        values["next"] = base + _cost(pace, request, now)
        values["served"] = _served_at_least(pace, request.campaign_id, now)
        expression = "SET #turn = :next, #weight = :weight, #served = :served"
        condition = "attribute_not_exists(#turn) OR #turn <= :base"
    return Update(keys.route_pace(route), expression, values, condition, names), base


def _cost(pace: Pace, request: Request, now: int) -> int:
    """Return how far apart the campaign's batches are, where others share the route."""
    others = sum(pace.weights.get(other, 1) for other in _rivals(pace, request.campaign_id, now))
    return int(request.span * (others + request.weight) / request.weight * (EAGER if others else 1))
