"""Taking a batch's slots from its route's pace row: one plain conditional update, whoever else is sending."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from paceline import keys
from paceline.errors import TransactionConflict
from paceline.moments import from_us, to_us
from paceline.pacing import HORIZON_US, LATENESS_US, MINUTE_US, Pace, Request, turn
from paceline.table import ConditionFailed, Row, Table, Update

# Each failed form returns the row as it is, and the next form is chosen from that; only a row that others change
# between two of our calls makes it go on, so a handful of tries is plenty.
MAX_FORMS = 6

# A provider that asks for more than this has other troubles than our pace; admission asks again after it.
MAX_THROTTLE = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Turn:
    """No slots yet: come back at `at`. throttled: the provider's 429 is the cause, not the route's own pace."""

    at: datetime
    throttled: bool


def take_slots(table: Table, route: str, request: Request, now: datetime, *, has_waited: bool) -> list[int] | Turn:
    """Take one slot a message (microseconds since 1970), or the turn at which to come back for them.

    A batch that has waited for its turn may look one horizon further: those before it may be a little late.
    Raises: TransactionConflict, when the row changed under every try.
    """
    horizon = min(to_us(now) + HORIZON_US * (2 if has_waited else 1), request.last_slot)
    # Read first: a form that fails is a write too, of the row that every batch of the route writes.
    pace = to_pace(table.get(keys.route_pace(route)))
    for _ in range(MAX_FORMS):
        if max(pace.next_free, to_us(now)) > request.last_slot:
            return Turn(from_us(request.valid_until), throttled=False)
        if pace.next_free > horizon:
            return _take_turn(table, route, pace, request, now)
        try:
            return _move_on(table, route, pace, request, now, horizon)
        except ConditionFailed as refused:
            pace = to_pace(refused.old)
    raise TransactionConflict("the route's pace changed under every try", route=route)


def slow_down(table: Table, route: str, now: datetime, retry_after_seconds: float) -> datetime:
    """Pause the route for a provider's 429, for every campaign. Return the end of the pause.

    The pace row keeps new slots behind it. The route's own row, which every send reads, stops those that have slots
    already: they go back to admission.
    """
    # In this order a Retry-After that is no number (nan) becomes a second, and an endless one the longest pause.
    until = now + timedelta(seconds=min(max(1.0, retry_after_seconds), MAX_THROTTLE.total_seconds()))
    update = Update(
        keys.route_pace(route),
        "SET #next_free = :until, #throttled_until = :until, #last_parts = if_not_exists(#last_parts, :one)",
        {"until": to_us(until), "one": 1},
        condition="attribute_not_exists(#next_free) OR #next_free < :until",
    )
    try:
        table.update(update)
    except ConditionFailed:  # slots are given out beyond it already: only say why nothing new comes before
        _note_pause(table, keys.route_pace(route), until)
    _note_pause(table, keys.route(route), until)
    return until


def _note_pause(table: Table, key: keys.Key, until: datetime) -> None:
    """Note the latest end of a pause; an earlier one changes nothing."""
    condition = "attribute_exists(#pk) AND (attribute_not_exists(#throttled_until) OR #throttled_until < :until)"
    with suppress(ConditionFailed):
        table.update(Update(key, "SET #throttled_until = :until", {"until": to_us(until)}, condition))


def to_pace(row: Row | None) -> Pace:
    row = row or {}
    return Pace(**{name: row[name] for name in Pace.__slots__ if name in row})


def _move_on(table: Table, route: str, pace: Pace, request: Request, now: datetime, horizon: int) -> list[int]:
    """Move next_free on by what the messages take: in one form when the route is busy, in another when it is idle."""
    now_us = to_us(now)
    gap = request.gap_before(pace.last_parts)
    parts_known = "#last_parts < :parts" if gap else "#last_parts >= :parts"
    if pace.next_free > now_us:
        values = {"span": gap + request.span, "parts": request.max_parts, "now": now_us, "horizon": horizon}
        condition = f"#next_free > :now AND #next_free <= :horizon AND {parts_known}"
        expression = "SET #next_free = #next_free + :span, #last_parts = :parts"
        update = Update(keys.route_pace(route), expression, values, condition)
        return request.slots(table.update(update, returning="UPDATED_OLD")["next_free"] + gap)
    # Idle for a minute and the lateness of the last message: none behind us to keep room for. Else as a busy route.
    start = now_us if now_us - pace.next_free >= MINUTE_US + LATENESS_US else now_us + gap
    values = {"free": start + request.span, "parts": request.max_parts}
    condition = "attribute_not_exists(#next_free)"
    if pace.next_free:
        condition, values["was"] = "#next_free = :was", pace.next_free
    expression = "SET #next_free = :free, #last_parts = :parts"
    table.update(Update(keys.route_pace(route), expression, values, condition))
    return request.slots(start)


def _take_turn(table: Table, route: str, pace: Pace, request: Request, now: datetime) -> Turn:
    """Take the next turn; where somebody else took it meanwhile, the one after theirs."""
    for _ in range(MAX_FORMS):
        at, next_turn = turn(pace, to_us(now), request.span)
        values = {"next": next_turn}
        condition = "attribute_not_exists(#next_turn)"
        if pace.next_turn:
            condition, values["was"] = "#next_turn = :was", pace.next_turn
        try:
            table.update(Update(keys.route_pace(route), "SET #next_turn = :next", values, condition))
        except ConditionFailed as taken:
            pace = to_pace(taken.old)
            continue
        return Turn(from_us(at), throttled=pace.throttled_until > to_us(now))
    raise TransactionConflict("the route's turns changed under every try", route=route)
