"""What left in each minute: counted once however often a round is closed, by route, the newest two hours."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import pytest

from paceline.batches import Ledger, batch_summaries
from paceline.closing import close_round
from paceline.minutes import MOST_MINUTES, pace_of, parts_by_minute
from paceline.models import Batch, Route
from paceline.moments import to_us
from paceline.status import MessageStatus, Resend
from tests.builders.core import NOON, World, a_message, leads_of
from tests.fakes.tables import Killed, killed_after_write, killed_before_write, meddled


@pytest.fixture
def world(world: World) -> World:
    world.has(Route(name="verizon"))
    return world


def sent_at_slots(world: World, batch: Batch, how_many: int, round_no: int = 1) -> None:
    """Admit a round and send so many of its leads at their slots."""
    for item in world.admit(batch, round_no).items[:how_many]:
        world.clock.moment = datetime.fromisoformat(item.slot)
        world.send(batch, item.lead_no, round_no=round_no, slot=world.clock.now())


def pace(world: World) -> list[dict[str, Any]]:
    return pace_of(batch_summaries(world.table, "renewals"))


def test_parts_are_counted_in_the_minute_in_which_they_left(world: World) -> None:
    batch = world.has_batch(leads_of([1, 2, 1, 1]))
    world.clock.moment = NOON + timedelta(seconds=59.4)
    sent_at_slots(world, batch, 4)

    world.close(batch)

    assert pace(world) == [
        {"minute": "2026-09-02T16:00:00Z", "route": "shared", "parts": 3},
        {"minute": "2026-09-02T16:01:00Z", "route": "shared", "parts": 2},
    ]


def test_rounds_add_up_and_a_round_that_is_closed_again_counts_once(world: World) -> None:
    batch = world.has_batch(leads_of(10))
    sent_at_slots(world, batch, 6)
    before = pace(world)

    world.close(batch)
    first = pace(world)
    sent_at_slots(world, batch, 4, round_no=2)
    for round_no in (2, 2, 1):
        world.close(batch, round_no)

    assert (before, [one["parts"] for one in first], [one["parts"] for one in pace(world)]) == ([], [6], [10])


@pytest.mark.parametrize("killed", [killed_before_write, killed_after_write])
@pytest.mark.parametrize("write", [1, 2, 3])
def test_a_closing_killed_at_any_write_counts_once(world: World, killed: Any, write: int) -> None:
    batch = world.has_batch(leads_of(10))
    sent_at_slots(world, batch, 6)
    with suppress(Killed):
        close_round(killed(world.table, write), world.workflow, batch, 1, world.clock.now())

    world.close(batch)

    assert [one["parts"] for one in pace(world)] == [6]


def test_a_closing_whose_caller_let_it_go_takes_nothing_back(world: World) -> None:
    batch = world.has_batch(leads_of(10))
    sent_at_slots(world, batch, 6)

    def next_round() -> None:
        world.close(batch)
        sent_at_slots(world, batch, 4, round_no=2)
        world.close(batch, 2)

    slow = meddled(world.table, "transact", next_round)
    close_round(slow, world.workflow, batch, 1, world.clock.now())

    assert [one["parts"] for one in pace(world)] == [10]


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        pytest.param({"status": MessageStatus.SENT, "answered_at": NOON}, 1, id="taken"),
        pytest.param({"status": MessageStatus.DELIVERED}, 1, id="a receipt came, and its sender died"),
        pytest.param({"status": MessageStatus.UNKNOWN}, 1, id="in doubt: it may have left"),
        pytest.param({"status": MessageStatus.FAILED, "answered_at": NOON}, 0, id="refused"),
        pytest.param({"status": MessageStatus.SKIPPED, "claimed_at": None}, 0, id="skipped"),
        # What its lease says of it counts.
        pytest.param({"status": MessageStatus.UNKNOWN, "resend": Resend.DUE}, 0, id="in doubt, and due once more"),
    ],
)
def test_what_may_have_left_counts(changes: dict[str, Any], parts: int) -> None:
    found = parts_by_minute(Ledger({}, {1: a_message(**changes)}))

    assert json.loads(found) == ({str(to_us(NOON) // 60_000_000): 1} if parts else {})


def test_a_message_that_was_sent_once_more_may_have_left_twice() -> None:
    again = a_message(status=MessageStatus.SENT, resend=Resend.DONE, answered_at=NOON + timedelta(minutes=3), round=2)
    leases = {1: {"round": 1, "in_doubt": [[to_us(NOON), 1]]}, 2: {"round": 2}}

    found = parts_by_minute(Ledger(leases, {1: again}))

    assert list(json.loads(found).values()) == [1, 1]


def test_the_newest_minutes_are_shown_the_oldest_first() -> None:
    summaries = [
        {"route": route, "by_minute": f'{{"{minute}":2}}'}
        for minute in range(1_000, 1_000 + MOST_MINUTES + 5)
        for route in ("verizon", "shared", "shared")
    ]

    shown = pace_of(reversed(summaries))

    assert len({one["minute"] for one in shown}) == MOST_MINUTES
    assert shown == sorted(shown, key=lambda one: (one["minute"], one["route"]))
    assert (shown[0]["minute"], shown[-1]["minute"]) == ("1970-01-01T16:45:00Z", "1970-01-01T18:44:00Z")
    assert Counter(one["parts"] for one in shown) == {4: MOST_MINUTES, 2: MOST_MINUTES}


def test_a_batch_that_never_closed_a_round_has_no_minutes() -> None:
    assert pace_of([{"route": "shared"}]) == []
