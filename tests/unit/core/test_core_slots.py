"""Slots: taken from the route's pace row in one write, whoever else sends; or the moment at which to come back."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from paceline import keys
from paceline.errors import TransactionConflict
from paceline.moments import to_us
from paceline.pace_rows import to_pace
from paceline.pacing import CATCH_UP, LATENESS_SECONDS, LATENESS_US, MINUTE_US, Pace
from paceline.slots import FURTHEST_US, MAX_THROTTLE, MAX_TRIES, slow_down
from paceline.table import ConditionFailed, Update
from paceline.turns import Turn
from sandbox.dynamodb import Latency
from tests.builders.core import NOON, World, a_world
from tests.builders.pace import Road
from tests.fakes.tables import meddled

GAP = round(250_000 * CATCH_UP)  # between two parts at 240 a minute
SECOND = timedelta(seconds=1)


@pytest.fixture
def road(world: World) -> Road:
    return Road(world)


def pace_of(world: World) -> Pace:
    return to_pace(world.pace())


def test_the_first_batch_of_a_route_starts_now(road: Road) -> None:
    taken = road.slots()

    assert taken[0] == to_us(NOON)
    assert {later - earlier for earlier, later in pairwise(taken)} == {GAP}
    assert road.world.pace()["next_free"] == taken[-1] + GAP


def test_a_batch_on_a_busy_route_follows_the_one_before(road: Road) -> None:
    first = road.slots()

    second = road.slots(NOON + SECOND)

    assert second[0] == first[-1] + GAP


def test_a_batch_on_an_idle_route_starts_now_and_never_in_the_past(road: Road) -> None:
    road.slots()
    later = NOON + timedelta(hours=1)

    assert road.slots(later)[0] == to_us(later)


def test_batches_that_ask_at_once_get_slots_of_their_own() -> None:
    with a_world(Latency(write=lambda: 0.005)) as world:
        road = Road(world)
        answers = world.together(*[lambda: road.slots(parts=(1,) * 10) for _ in range(6)])

    every = sorted(slot for answer in answers for slot in answer)
    assert len(every) == 60
    assert all(later - earlier >= GAP for earlier, later in pairwise(every))


def test_a_batch_writes_the_row_once(road: Road) -> None:
    road.slots()
    road.world.calls.clear()

    road.slots(NOON + SECOND)

    writes = [call.operation for call in road.world.calls if call.write_units and call.keys[0].sk == "PACE"]
    assert writes == ["UpdateItem"]


def test_slots_far_ahead_are_refused_with_the_moment_at_which_they_are_near(road: Road) -> None:
    while isinstance(answer := road.ask(), list):
        assert answer[0] <= to_us(NOON) + FURTHEST_US

    assert not answer.throttled
    assert answer.at > NOON
    road.write_what_left(to_us(answer.at))
    assert isinstance(road.ask(answer.at), list)


# -- what left a minute ago ----------------------------------------------------------------------------------------


def fill_a_minute(road: Road, late: float) -> int:
    """Use the whole of a minute, every message so late; return when the last of its slots is."""
    now, taken = NOON, 0
    while taken < 240:
        answer = road.ask(now, late=(late,) * 40)
        if isinstance(answer, Turn):
            now = answer.at
            road.write_what_left(to_us(now))
            continue
        taken += 40
    return road.given[-1].slots[-1]


@pytest.mark.parametrize("late", [0.0, 0.7, LATENESS_SECONDS])
def test_a_message_has_its_slot_a_minute_after_the_one_a_cap_before_it_left(road: Road, late: float) -> None:
    last = fill_a_minute(road, late)
    now = NOON + timedelta(seconds=50)
    road.write_what_left(to_us(now))

    taken = road.slots(now)

    first_left = to_us(NOON) + round(late * 1e6)
    assert taken[0] == pytest.approx(max(first_left + MINUTE_US, last + GAP), abs=1000)


def test_slots_that_nobody_used_leave_room_a_minute_later(road: Road) -> None:
    for _ in range(6):
        now = NOON if not road.given else NOON + timedelta(seconds=8 * len(road.given))
        road.write_what_left(to_us(now))
        road.slots(now, late=(None,) * 40)
    now = NOON + timedelta(seconds=54)
    road.write_what_left(to_us(now))

    taken = road.slots(now)

    assert taken[0] == pytest.approx(road.given[-2].slots[-1] + GAP, abs=1000)


def test_of_a_round_that_is_under_way_the_messages_own_rows_say_what_left(road: Road) -> None:
    road.slots(parts=(1,) * 30, cap=60, late=(0.5,) * 30)
    now = NOON + timedelta(seconds=29)
    road.write_what_left(to_us(now))
    road.slots(now, parts=(1,) * 30, cap=60, late=(0.5,) * 30)
    now += timedelta(seconds=26)
    road.write_what_left(to_us(now))  # the second round is under way until NOON + 57 s

    third = road.slots(now, parts=(1,) * 30, cap=60)
    fourth = road.slots(now, parts=(1,) * 30, cap=60)

    assert not road.given[1].is_closed
    assert third[0] == pytest.approx(to_us(NOON) + 60_500_000, abs=1000)
    seventh_of_the_second = road.given[1].slots[7]
    assert fourth[7] <= seventh_of_the_second + 61_000_000


def test_a_round_that_was_given_slots_twice_counts_once(road: Road) -> None:
    road.slots()  # killed before its lease kept them
    road.given.clear()
    lease_key = keys.lease("renewals", "00001", 1)
    road.world.table.update(Update(lease_key, "SET #first_slot = :other", {"other": 1}))
    fill_a_minute(road, 0.0)
    now = NOON + timedelta(seconds=59)
    road.write_what_left(to_us(now))

    taken = road.slots(now)

    first_that_left = road.given[0].slots[0]
    assert taken[0] == pytest.approx(max(first_that_left + MINUTE_US, road.given[-2].slots[-1] + GAP), abs=1000)


def test_a_lowered_cap_holds_for_every_minute_that_ends_after_it(road: Road) -> None:
    for second in (0, 9):
        road.write_what_left(to_us(NOON + second * SECOND))
        road.slots(NOON + second * SECOND)
    now = NOON + timedelta(seconds=40)
    road.write_what_left(to_us(now))

    taken = road.slots(now, parts=(1,) * 10, cap=60)

    left = sorted(moment for one in road.given for moment in one.left if moment is not None)
    assert taken[0] == pytest.approx(left[80 - 60] + MINUTE_US, abs=1000)


# -- a cap on concurrency ------------------------------------------------------------------------------------------


def test_only_as_many_rounds_are_under_way_as_the_cap_on_concurrency_has_room_for(road: Road) -> None:
    road.slots(parts=(1,) * 10, concurrency=4)
    road.slots(parts=(1,) * 10, concurrency=4)

    answer = road.ask(parts=(1,) * 10, concurrency=4)

    assert isinstance(answer, Turn)
    now = answer.at + timedelta(seconds=8)
    road.write_what_left(to_us(now))
    assert isinstance(road.ask(now, parts=(1,) * 10, concurrency=4), list)


def test_how_long_a_send_takes_is_learned_from_what_left_one_after_the_other(road: Road) -> None:
    road.slots(parts=(1,) * 10, concurrency=8, late=[0.5 * number for number in range(10)])
    now = NOON + timedelta(seconds=30)
    road.write_what_left(to_us(now))

    road.slots(now, parts=(1,) * 10, concurrency=8)

    apart = (road.given[0].left[-1] or 0) - (road.given[0].left[0] or 0)
    assert pace_of(road.world).send_us == pytest.approx(1.1 * apart / 9 * 4, rel=0.01)
    assert pace_of(road.world).rounds[-1].width == 8  # half of it would not give the pace


def test_sends_that_were_not_in_each_others_way_may_take_less(road: Road) -> None:
    table = road.world.table
    table.update(Update(keys.route_pace("shared"), "SET #send_us = :slow", {"slow": 4_000_000}))
    road.slots(parts=(1,) * 10, concurrency=8)
    now = NOON + timedelta(seconds=30)
    road.write_what_left(to_us(now))

    road.slots(now, parts=(1,) * 10, concurrency=8)

    assert pace_of(road.world).send_us == 3_960_000


def test_a_round_given_before_there_was_a_cap_on_concurrency_uses_all_of_it(road: Road) -> None:
    road.slots(parts=(1,) * 10)

    assert isinstance(road.ask(parts=(1,) * 10, concurrency=4), Turn)


# -- the end of a day, a window or a campaign ----------------------------------------------------------------------


def test_no_slot_is_after_the_end(road: Road) -> None:
    end = NOON + timedelta(seconds=8)

    taken = road.slots(until=end)

    assert 0 < len(taken) < 40
    assert taken[-1] <= to_us(end) - LATENESS_US
    assert road.world.pace()["next_free"] == taken[-1] + GAP


def test_a_batch_that_finds_no_slot_before_the_end_comes_back_at_the_end(road: Road) -> None:
    road.slots()
    end = NOON + timedelta(seconds=8)

    assert road.ask(until=end) == Turn(end, end, throttled=False)


def test_a_batch_too_late_for_any_slot_takes_none(road: Road) -> None:
    end = NOON + timedelta(seconds=1)  # less than the lateness

    assert road.ask(until=end) == Turn(end, end, throttled=False)
    assert road.world.pace() == {}


# -- the row changes under us, and a provider's 429 ----------------------------------------------------------------


@pytest.fixture
def throttled(road: Road) -> Road:
    """A route that was idle and got a 429 that asks for a minute."""
    road.slots(NOON - timedelta(minutes=5))
    slow_down(road.world.table, "shared", NOON, 60)
    return road


def test_a_429_pushes_the_route_behind_it_and_starts_at_half_the_speed(throttled: Road) -> None:
    answer = throttled.ask()

    if isinstance(answer, Turn):
        assert answer.throttled
        answer = throttled.slots(answer.at)
    assert answer[0] == to_us(NOON + timedelta(seconds=60))
    assert answer[1] - answer[0] == 500_000


def test_a_route_is_back_at_full_speed_a_minute_after_the_429(throttled: Road) -> None:
    now = NOON + timedelta(seconds=125)

    first, second = throttled.slots(now)[:2]

    assert second - first == GAP


def test_the_sends_that_meet_one_429_slow_the_route_once(road: Road) -> None:
    for milliseconds in range(5):
        slow_down(road.world.table, "shared", NOON + timedelta(milliseconds=milliseconds), 10)

    assert pace_of(road.world).speed == 0.5


def test_a_429_while_it_probes_slows_the_route_further_and_never_to_a_stop(road: Road) -> None:
    now, speeds = NOON, []
    for _ in range(6):
        slow_down(road.world.table, "shared", now, 1)
        now += timedelta(seconds=1.5)
        speeds.append(pace_of(road.world).speed)

    assert speeds[:2] == [0.5, pytest.approx(0.252, abs=0.003)]
    assert min(speeds) == 0.1


def test_a_provider_that_refuses_at_the_slowest_is_asked_once_a_minute(road: Road) -> None:
    now = NOON
    for _ in range(5):
        until = slow_down(road.world.table, "shared", now, 1)
        now = until + timedelta(seconds=0.5)

    assert until - now == timedelta(seconds=-0.5)
    assert slow_down(road.world.table, "shared", now, 1) == now + timedelta(seconds=60)


def test_a_429_never_gives_slots_a_second_time(road: Road) -> None:
    taken = road.slots()

    slow_down(road.world.table, "shared", NOON, 1)

    assert road.slots()[0] == taken[-1] + GAP
    assert road.world.pace()["throttled_until"] == to_us(NOON + SECOND)


def test_a_shorter_429_does_not_end_a_longer_one(throttled: Road) -> None:
    slow_down(throttled.world.table, "shared", NOON, 5)

    assert throttled.world.pace()["throttled_until"] == to_us(NOON + timedelta(seconds=60))


def test_a_longer_429_of_another_send_lengthens_the_pause(throttled: Road) -> None:
    slow_down(throttled.world.table, "shared", NOON, 90)

    assert throttled.world.pace()["throttled_until"] == to_us(NOON + timedelta(seconds=90))


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


def test_a_route_that_was_throttled_before_its_first_slot_gives_slots_afterwards(road: Road) -> None:
    slow_down(road.world.table, "shared", NOON, 10)

    assert road.slots()[0] == to_us(NOON + timedelta(seconds=10))


def _take(world: World, moment: datetime) -> None:
    """Somebody else takes slots: the row's revision moves on."""
    update = Update(
        keys.route_pace("shared"), "SET #next_free = :free ADD #revision :one", {"free": to_us(moment), "one": 1}
    )
    world.table.update(update)


def test_a_row_that_changes_under_every_try_is_a_conflict_and_no_slot(road: Road) -> None:
    table = meddled(road.world.table, "update", lambda: _take(road.world, NOON), times=MAX_TRIES)

    with pytest.raises(TransactionConflict):
        road.ask(table=table)


def test_slots_that_somebody_else_took_meanwhile_are_not_given_again(road: Road) -> None:
    theirs = NOON + timedelta(seconds=3)
    table = meddled(road.world.table, "update", lambda: _take(road.world, theirs), times=1)

    assert road.slots(table=table)[0] == to_us(theirs)


def test_the_fakes_conflict_is_the_tables(road: Road) -> None:
    road.slots()

    with pytest.raises(ConditionFailed):
        road.world.table.update(
            Update(keys.route_pace("shared"), "SET #x = :x", {"x": 1, "was": 7}, "#revision = :was")
        )
