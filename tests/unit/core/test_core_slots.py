"""Slots: taken from the route's pace row in one write, whoever else sends; or the turn at which to come back."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from paceline import keys
from paceline.errors import TransactionConflict
from paceline.moments import to_us
from paceline.pacing import HORIZON_SECONDS, LATENESS_US, Request, interval_us
from paceline.slots import MAX_FORMS, MAX_THROTTLE, Turn, slow_down, take_slots
from paceline.table import Table, Update
from sandbox.dynamodb import Latency
from tests.builders.core import NOON, World, a_world
from tests.fakes.tables import meddled

FAR = NOON + timedelta(days=1)
ONE = interval_us(240, 1)


def ask(
    world: World,
    now: datetime = NOON,
    *,
    parts: tuple[int, ...] = (1,) * 40,
    until: datetime = FAR,
    has_waited: bool = False,
    table: Table | None = None,
) -> list[int] | Turn:
    request = Request(parts, 240, to_us(until))
    return take_slots(table or world.table, "shared", request, now, has_waited=has_waited)


def slots(world: World, now: datetime = NOON, **options: object) -> list[int]:
    answer = ask(world, now, **options)  # type: ignore[arg-type]
    assert isinstance(answer, list)
    return answer


def test_the_first_batch_of_a_route_starts_now(world: World) -> None:
    taken = slots(world)

    assert taken[0] == to_us(NOON)
    assert all(later - earlier == ONE for earlier, later in pairwise(taken))
    assert world.pace()["next_free"] == taken[-1] + ONE


def test_a_batch_on_a_busy_route_follows_the_one_before(world: World) -> None:
    first = slots(world)

    second = slots(world, NOON + timedelta(seconds=1))

    assert second[0] == first[-1] + ONE


def test_a_batch_on_an_idle_route_starts_now_and_never_in_the_past(world: World) -> None:
    slots(world)
    later = NOON + timedelta(hours=1)

    taken = slots(world, later)

    assert taken[0] == to_us(later)


def test_larger_messages_keep_room_behind_the_smaller_ones_before(world: World) -> None:
    first = slots(world)

    second = slots(world, NOON, parts=(3,) * 5)

    gap = 2 * interval_us(240, 3)
    assert second[0] == first[-1] + ONE + gap
    assert world.pace()["last_parts"] == 3


def test_larger_messages_keep_that_room_on_a_route_that_was_idle_for_less_than_a_minute(world: World) -> None:
    slots(world)
    soon = NOON + timedelta(seconds=30)

    second = slots(world, soon, parts=(3,) * 5)

    assert second[0] == to_us(soon) + 2 * interval_us(240, 3)


def test_messages_of_the_same_size_need_no_room(world: World) -> None:
    first = slots(world, parts=(3,) * 5)

    second = slots(world, NOON, parts=(3,) * 5)

    assert second[0] == first[-1] + 3 * interval_us(240, 3)


def test_batches_that_ask_at_once_get_slots_of_their_own() -> None:
    slow = Latency(write=lambda: 0.005)
    with a_world(slow) as world:
        answers = world.together(*[lambda: slots(world, parts=(1,) * 10) for _ in range(6)])

    every = sorted(slot for answer in answers for slot in answer)
    assert len(every) == 60
    assert all(later - earlier >= ONE for earlier, later in pairwise(every))


def test_a_batch_that_asks_on_a_busy_route_writes_the_row_once(world: World) -> None:
    slots(world)
    world.calls.clear()

    slots(world, NOON + timedelta(seconds=1))

    assert [(call.operation, call.outcome) for call in world.calls] == [("GetItem", "ok"), ("UpdateItem", "ok")]


def test_slots_are_given_no_further_ahead_than_the_horizon(world: World) -> None:
    given = 0
    while isinstance(answer := ask(world), list):
        given += 1
        assert answer[0] <= to_us(NOON) + HORIZON_SECONDS * 1e6

    assert given == 3
    assert isinstance(answer, Turn)
    assert not answer.throttled


def test_a_batch_comes_back_for_its_turn_when_its_room_is_there(world: World) -> None:
    turns = [answer for _ in range(6) if isinstance(answer := ask(world), Turn)]

    assert all(turn.at > NOON for turn in turns)
    span = timedelta(microseconds=40 * ONE)
    assert [later.at - earlier.at for earlier, later in pairwise(turns)] == [span] * (len(turns) - 1)

    assert isinstance(ask(world, turns[0].at, has_waited=True), list)


def test_a_batch_that_has_waited_may_look_one_horizon_further(world: World) -> None:
    while isinstance(ask(world), list):
        pass

    assert isinstance(ask(world), Turn)
    assert isinstance(ask(world, has_waited=True), list)


def test_two_batches_that_take_a_turn_at_once_get_two(world: World) -> None:
    while isinstance(ask(world), list):
        pass
    turns: list[object] = []

    table = meddled(world.table, "update", lambda: turns.append(ask(world)), times=2)
    turns.append(ask(world, table=table))

    moments = sorted(turn.at for turn in turns if isinstance(turn, Turn))
    assert len(moments) == len(turns) >= 2
    assert len(set(moments)) == len(moments)


# -- the end of a day, a window or a campaign ----------------------------------------------------------------------


def test_no_usable_slot_is_after_the_end(world: World) -> None:
    end = NOON + timedelta(seconds=5)
    request = Request((1,) * 40, 240, to_us(end))

    taken = slots(world, until=end)

    usable = taken[: request.usable(taken)]
    assert 0 < len(usable) < 40
    assert usable[-1] <= to_us(end) - LATENESS_US


def test_a_batch_that_finds_no_slot_before_the_end_comes_back_at_the_end(world: World) -> None:
    slots(world)
    end = NOON + timedelta(seconds=5)

    answer = ask(world, until=end)

    assert answer == Turn(end, throttled=False)


def test_a_batch_too_late_for_any_slot_takes_none(world: World) -> None:
    end = NOON + timedelta(seconds=1)  # less than the lateness

    answer = ask(world, until=end)

    assert answer == Turn(end, throttled=False)
    assert world.pace() == {}


# -- the row changes under us, and a provider's 429 ----------------------------------------------------------------


@pytest.fixture
def throttled(world: World) -> Iterator[World]:
    """A world whose route was idle and got a 429 that asks for a minute."""
    slots(world, NOON - timedelta(minutes=5))
    slow_down(world.table, "shared", NOON, 60)
    return world


def test_a_429_pushes_the_route_behind_it(throttled: World) -> None:
    answer = ask(throttled)

    assert isinstance(answer, Turn)
    assert answer.throttled
    assert answer.at == NOON + timedelta(seconds=60 - HORIZON_SECONDS)
    first = slots(throttled, answer.at, has_waited=True)
    assert first[0] == to_us(NOON + timedelta(seconds=60))


def test_a_429_never_gives_slots_a_second_time(world: World) -> None:
    taken = slots(world)

    slow_down(world.table, "shared", NOON, 1)

    assert slots(world)[0] == taken[-1] + ONE
    assert world.pace()["throttled_until"] == to_us(NOON + timedelta(seconds=1))


def test_a_shorter_429_does_not_end_a_longer_one(throttled: World) -> None:
    slow_down(throttled.table, "shared", NOON, 5)

    assert throttled.pace()["throttled_until"] == to_us(NOON + timedelta(seconds=60))
    assert throttled.pace()["next_free"] == to_us(NOON + timedelta(seconds=60))


@pytest.mark.parametrize(
    ("asked", "waited"),
    [
        pytest.param(30, timedelta(seconds=30), id="as asked"),
        pytest.param(0, timedelta(seconds=1), id="nothing: a second"),
        pytest.param(-5, timedelta(seconds=1), id="in the past"),
        pytest.param(1e9, MAX_THROTTLE, id="thirty years"),
        pytest.param(float("inf"), MAX_THROTTLE, id="for ever"),
        pytest.param(float("nan"), timedelta(seconds=1), id="not a number"),
    ],
)
def test_an_absurd_retry_after_is_bounded(world: World, asked: float, waited: timedelta) -> None:
    until = slow_down(world.table, "shared", NOON, asked)

    assert until == NOON + waited


def test_a_route_that_was_throttled_before_its_first_slot_gives_slots_afterwards(world: World) -> None:
    slow_down(world.table, "shared", NOON, 10)

    assert slots(world)[0] == to_us(NOON + timedelta(seconds=10))


def test_a_row_that_changes_under_every_try_is_a_conflict_and_no_slot(world: World) -> None:
    moment = to_us(NOON) - 90_000_000

    def meddle() -> None:
        nonlocal moment
        moment += 1
        world.table.update(Update(keys.route_pace("shared"), "SET #next_free = :free", {"free": moment}))

    table = meddled(world.table, "update", meddle, times=MAX_FORMS)

    with pytest.raises(TransactionConflict):
        ask(world, table=table)
