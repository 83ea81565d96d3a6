"""The pace: whatever the mix of messages, caps, lateness and clocks, no rolling minute holds more than the cap."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from itertools import count, pairwise

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from paceline.moments import from_us, to_us
from paceline.pacing import (
    CATCH_UP,
    LATENESS_SECONDS,
    LATENESS_US,
    MINUTE_US,
    RECOVERY_A_SECOND,
    Pace,
    Request,
    fits_a_round,
    interval_us,
    is_late,
)
from paceline.turns import Turn
from tests.builders.core import NOON, World
from tests.builders.pace import Road

SECOND = 1_000_000
START = to_us(NOON)


@dataclass(frozen=True)
class Batch:
    """A batch that asks for slots.

    after: seconds of the route's time since the batch before asked. step: by how much its clock is wrong. late: for
    each message by how many seconds it leaves after its slot; None: never.
    """

    cap: int
    parts: tuple[int, ...]
    after: float
    step: float
    late: tuple[float | None, ...]


@st.composite
def batches(draw: st.DrawFn) -> list[Batch]:
    caps = draw(st.lists(st.sampled_from([1, 2, 3, 5, 30, 60, 240, 6000]), min_size=1, max_size=2))
    made = []
    for _ in range(draw(st.integers(1, 8))):
        cap = draw(st.sampled_from(caps))
        largest = min(cap, draw(st.sampled_from([1, 1, 2, 3, 10, 60])))
        parts = draw(st.lists(st.integers(1, largest), min_size=1, max_size=40))
        parts = parts[: fits_a_round(parts, cap)]
        lateness = st.one_of(st.just(0.0), st.just(LATENESS_SECONDS), st.floats(0, LATENESS_SECONDS), st.none())
        late = draw(st.lists(lateness, min_size=len(parts), max_size=len(parts)))
        after = draw(st.one_of(st.floats(0, 12), st.floats(50, 70)))
        made.append(Batch(cap, tuple(parts), after, draw(st.sampled_from([0, 0, -4, 4])), tuple(late)))
    return made


_roads = count()


def leaves(world: World, asked: list[Batch]) -> list[tuple[int, int, int]]:
    """Ask for the slots of one batch after the other; return (microsecond of leaving, parts, cap) of each message."""
    road, now, sent = Road(world, f"route-{next(_roads)}"), NOON, []
    for batch in asked:
        now += timedelta(seconds=batch.after)
        while True:
            road.write_what_left(to_us(now))
            clock = now + timedelta(seconds=batch.step)
            answer = road.ask(clock, batch.parts, batch.cap, late=batch.late, campaign_id=road.name)
            if not isinstance(answer, Turn):
                break
            assert answer.at > clock
            now = answer.at - timedelta(seconds=batch.step)
        sent += [
            (left, parts, batch.cap)
            for left, parts in zip(road.given[-1].left, batch.parts, strict=True)
            if left is not None
        ]
    return sorted(sent)


@settings(max_examples=120, suppress_health_check=list(HealthCheck), deadline=None)
@given(batches())
# All slots of a minute are used late, and the next minute's at once.
@example([Batch(60, (1,) * 30, 0, 0, (LATENESS_SECONDS,) * 30)] * 3 + [Batch(60, (1,) * 30, 0, 0, (0.0,) * 30)] * 3)
# One message as large as the cap after a minute; the one before it left late.
@example([Batch(60, (1,), 0, 0, (LATENESS_SECONDS,)), Batch(60, (60,), 60, 0, (0.0,))])
def test_no_rolling_minute_holds_more_parts_than_the_cap(world: World, asked: list[Batch]) -> None:
    sent = leaves(world, asked)

    for index, (start, _, _) in enumerate(sent):
        window = [message for message in sent[index:] if message[0] < start + MINUTE_US]
        assert sum(parts for _, parts, _ in window) <= max(cap for _, _, cap in window)


def steady(late: float, parts: int = 1, cap: int = 240, minutes: int = 30) -> float:
    """Return the parts a minute of a busy route on which every message leaves so many seconds late."""
    request = Request("c#b#1", (parts,) * (cap * minutes // parts), cap)
    left: list[tuple[int, int]] = []
    slots, at = [], 0
    for first in range(0, len(request.parts), 40):
        some = Request("c#b#1", request.parts[first : first + 40], cap)
        given, at = some.place(at, left[-2 * cap :])
        left += [(slot + round(late * SECOND), parts) for slot in given]
        slots += given
    first = cap // parts  # the first minute has no minute before it
    return sum(request.parts[first:]) / ((slots[-1] - slots[first - 1]) / MINUTE_US)


@pytest.mark.parametrize(
    ("late", "parts", "share"),
    [
        pytest.param(0.0, 1, 1.0, id="on time: the whole cap"),
        pytest.param(0.7, 1, 60 / 60.7, id="0.7 s late: the minute is so much longer"),
        pytest.param(0.7, 3, 60 / 60.7, id="larger messages: the same"),
        pytest.param(LATENESS_SECONDS, 1, 60 / 65, id="all as late as they may be: the price of a rule without a log"),
    ],
)
def test_what_a_route_gives_is_priced_by_how_late_messages_really_are(late: float, parts: int, share: float) -> None:
    assert steady(late, parts) / 240 == pytest.approx(share, rel=0.004)


def test_slots_are_evenly_spaced_and_catch_up_by_a_little() -> None:
    slots, free = Request("c#b#1", (1,) * 40, 240).place(START, [])

    assert slots[0] == START
    assert {later - earlier for earlier, later in pairwise([*slots, free])} == {round(250_000 * CATCH_UP)}


def test_after_a_429_slots_are_further_apart_and_back_to_full_speed_within_a_minute() -> None:
    pace = Pace(throttled_until=START, speed=0.5)

    assert pace.speed_at(START - SECOND) == 0.5
    assert pace.speed_at(START + 30 * SECOND) == pytest.approx(0.5 + 30 * RECOVERY_A_SECOND)
    assert pace.speed_at(START + 60 * SECOND) == 1.0
    slots, _ = Request("c#b#1", (1, 1), 240).place(START, [], 0.5)
    assert slots[1] - slots[0] == 500_000


def test_a_message_larger_than_the_cap_still_goes_and_the_next_leaves_three_minutes_after_it(world: World) -> None:
    road, now = Road(world, f"route-{next(_roads)}"), NOON
    left = []
    for late in (4.0, 0.0, 2.5):
        while isinstance(answer := road.ask(now, (3,), 1, late=(late,)), Turn):
            now = answer.at
            road.write_what_left(to_us(now))
        left.append(road.given[-1].left[0] or 0)

    gaps = [(later - earlier) / SECOND for earlier, later in pairwise(left)]
    assert gaps[0] >= 180
    assert gaps[0] == pytest.approx(180, abs=0.01)  # the lease keeps milliseconds, rounded up
    assert gaps[1] >= 180


@pytest.mark.parametrize(
    ("parts", "cap", "fits"),
    [
        pytest.param((1,) * 400, 240, 120, id="half a minute of the route's pace"),
        pytest.param((1,) * 40, 60, 30, id="a slow route"),
        pytest.param((3,) * 40, 240, 40, id="the last one may end later"),
        pytest.param((10, 1, 1), 6, 1, id="larger than half a minute: alone"),
        pytest.param((), 240, 0, id="nothing"),
    ],
)
def test_a_round_is_at_most_half_a_minute_of_the_routes_pace(parts: tuple[int, ...], cap: int, fits: int) -> None:
    assert fits_a_round(parts, cap) == fits


@pytest.mark.parametrize(
    ("concurrency", "width", "interval"),
    [
        pytest.param(None, 0, interval_us(6000), id="no cap: the even pace"),
        pytest.param(1, 1, 450_000, id="one after the other"),
        pytest.param(16, 16, 28_125, id="all of the cap in one round, where half does not give the pace"),
        pytest.param(256, 128, interval_us(6000), id="a cap that does not bind"),
    ],
)
def test_a_cap_on_concurrency_spaces_the_slots(concurrency: int | None, width: int, interval: int) -> None:
    request = Request("c#b#1", (1,), 6000, concurrency=concurrency)

    assert (request.width, request.interval) == (width, interval)


@pytest.mark.parametrize(
    ("microseconds", "late"),
    [
        pytest.param(0, False, id="on time"),
        pytest.param(LATENESS_US, False, id="as late as it may be"),
        pytest.param(LATENESS_US + 1, True, id="later"),
    ],
)
def test_a_slot_is_missed_when_the_lateness_is_used_up(microseconds: int, late: bool) -> None:
    assert is_late(START, START + microseconds) is late


def test_a_slot_is_usable_when_even_a_late_message_leaves_in_time() -> None:
    request = Request("c#b#1", (1,) * 3, 240, START)

    assert request.usable([START - LATENESS_US - 1, START - LATENESS_US, START - LATENESS_US + 1]) == 2


def test_a_moment_survives_the_way_to_a_row_and_back() -> None:
    assert to_us(from_us(START + 1)) == START + 1
