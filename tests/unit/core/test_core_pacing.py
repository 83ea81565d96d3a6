"""The pace: whatever the mix of messages, caps and pauses, no rolling minute holds more parts than the cap."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count, pairwise

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from paceline.moments import from_us, to_us
from paceline.pacing import HORIZON_US, LATENESS_US, MAX_TURN_US, MINUTE_US, Pace, Request, interval_us, is_late, turn
from paceline.slots import Turn, take_slots
from tests.builders.core import NOON, World

SECOND = 1_000_000
PRICED = 60 / (60 + LATENESS_US / SECOND)  # what the lateness leaves of the cap
FAR = to_us(NOON + timedelta(days=2))


@dataclass(frozen=True)
class Batch:
    """A batch that asks for slots. after: seconds since the batch before asked, or since the route is free.

    late: for each message, whether it leaves as late as it may.
    """

    cap: int
    parts: tuple[int, ...]
    after: float
    since_free: bool
    late: tuple[bool, ...]


@st.composite
def batches(draw: st.DrawFn) -> list[Batch]:
    caps = draw(st.lists(st.sampled_from([1, 2, 3, 5, 30, 60, 240, 6000]), min_size=1, max_size=2))
    made = []
    for _ in range(draw(st.integers(1, 6))):
        cap = draw(st.sampled_from(caps))
        largest = min(cap, draw(st.sampled_from([1, 1, 2, 3, 10, 60])))
        parts = draw(st.lists(st.integers(1, largest), min_size=1, max_size=40))
        since_free = draw(st.booleans())
        # A clock may be a little behind the one before; around a minute of idleness the rule changes its form.
        after = draw(st.floats(57, 63) if since_free else st.floats(-2, 70))
        late = draw(st.lists(st.booleans(), min_size=len(parts), max_size=len(parts)))
        made.append(Batch(cap, tuple(parts), after, since_free, tuple(late)))
    return made


_routes = count()


def leaves(world: World, asked: list[Batch]) -> list[tuple[int, int, int]]:
    """Ask for the slots of one batch after the other; return (microsecond of leaving, parts, cap) of each message."""
    route, now, sent = f"route-{next(_routes)}", NOON, []
    for batch in asked:
        free = world.pace(route).get("next_free", 0)
        start = max(now, from_us(free)) if batch.since_free else now
        now = start + timedelta(seconds=batch.after)
        slots = slots_of(world, route, Request(batch.parts, batch.cap, FAR), now)
        sent += [
            (slot + LATENESS_US * is_delayed, parts, batch.cap)
            for slot, parts, is_delayed in zip(slots, batch.parts, batch.late, strict=True)
        ]
    return sorted(sent)


def slots_of(world: World, route: str, request: Request, now: datetime) -> list[int]:
    answer = take_slots(world.table, route, request, now, has_waited=False)
    while isinstance(answer, Turn):
        assert answer.at > now
        now = answer.at
        answer = take_slots(world.table, route, request, now, has_waited=True)
    return answer


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(batches())
# One message after a minute of idleness, as large as the cap; the one before it left late.
@example([Batch(60, (1,), 0, False, (True,)), Batch(60, (60,), 60.0, True, (False,))])
def test_no_rolling_minute_holds_more_parts_than_the_cap(world: World, asked: list[Batch]) -> None:
    sent = leaves(world, asked)

    for index, (start, _, _) in enumerate(sent):
        window = [message for message in sent[index:] if message[0] < start + MINUTE_US]
        assert sum(parts for _, parts, _ in window) <= max(cap for _, _, cap in window)


@pytest.mark.parametrize(
    ("cap", "parts", "share"),
    [
        pytest.param(240, 1, 60 / 61.75, id="one part: only the lateness is the price"),
        pytest.param(6000, 1, 60 / 61.75, id="the same at any cap"),
        pytest.param(240, 2, 60 / 61.75 * 239 / 240, id="two parts: and the last message, counted whole"),
    ],
)
def test_a_busy_route_is_used_up_to_the_price_of_the_lateness(cap: int, parts: int, share: float) -> None:
    request = Request((parts,) * 40, cap, FAR)

    parts_per_minute = 40 * parts * MINUTE_US / request.span

    assert parts_per_minute / cap == pytest.approx(share, rel=1e-3)


def test_a_message_larger_than_the_cap_still_goes_and_the_next_waits_for_it(world: World) -> None:
    request = Request((3, 3, 3), 1, FAR)

    slots = slots_of(world, f"route-{next(_routes)}", request, NOON)

    assert slots[0] == to_us(NOON)
    assert [later - earlier for earlier, later in pairwise(slots)] == [round(3 * 61.75 * SECOND)] * 2


def test_each_message_is_charged_for_its_own_parts() -> None:
    request = Request((1, 3, 2), 240, FAR)
    interval = interval_us(240, 3)

    assert request.slots(0) == [0, interval, 4 * interval]
    assert request.span == 6 * interval


@pytest.mark.parametrize(
    ("microseconds", "late"),
    [
        pytest.param(0, False, id="on time"),
        pytest.param(LATENESS_US, False, id="as late as it may be"),
        pytest.param(LATENESS_US + 1, True, id="later"),
    ],
)
def test_a_slot_is_missed_when_the_lateness_is_used_up(microseconds: int, late: bool) -> None:
    assert is_late(to_us(NOON), to_us(NOON) + microseconds) is late


def test_a_slot_is_usable_when_even_a_late_message_leaves_in_time() -> None:
    end = to_us(NOON)
    request = Request((1,) * 3, 240, end)

    assert request.usable([end - LATENESS_US - 1, end - LATENESS_US, end - LATENESS_US + 1]) == 2


def test_turns_are_spaced_by_what_each_batch_will_take() -> None:
    now = to_us(NOON)
    full = Pace(next_free=now + 2 * HORIZON_US)

    first, next_turn = turn(full, now, 10 * SECOND)
    second, after = turn(Pace(full.next_free, 1, next_turn), now, 10 * SECOND)

    assert first == now + HORIZON_US
    assert second == first + 10 * SECOND
    assert after == second + 10 * SECOND


def test_a_turn_is_never_further_than_what_a_raised_cap_may_wait() -> None:
    now = to_us(NOON)

    at, _ = turn(Pace(next_free=now + 100 * MAX_TURN_US), now, SECOND)

    assert at == now + MAX_TURN_US
