"""Admission: may the batch go, which of its leads, when; and the same answer however often a round is asked."""

from __future__ import annotations

import contextlib
from datetime import date, datetime, timedelta

import pytest

from paceline import keys
from paceline.admission import Admission, Decision, _lanes
from paceline.models import Batch, Route, SendingWindow
from paceline.moments import iso, to_us
from paceline.pace_rows import to_pace
from paceline.pacing import CATCH_UP, LATENESS_US
from paceline.slots import slow_down
from paceline.status import CampaignStatus, Cause, MessageStatus
from sandbox.dynamodb import Latency
from tests.builders.core import (
    NOON,
    World,
    a_campaign,
    a_world,
    an_account,
    buy_credits,
    leads_of,
    put_route,
    seconds_after,
)
from tests.fakes.tables import Killed, killed_after_write, killed_before_write

OFFICE_HOURS = SendingWindow.model_validate({"opens": "08:00", "closes": "17:00"})
NIGHT = datetime.fromisoformat("2026-09-03T02:30:00.250000Z")  # 22:30 in New York
OPENING = datetime.fromisoformat("2026-09-03T12:00:00Z")
TODAY = date(2026, 9, 2)


def batch_of(world: World, leads: int = 40, **changes: object) -> Batch:
    return world.has_batch(leads_of(leads), **changes)


def decisions(*admissions: Admission) -> list[str]:
    return [admission.decision.value for admission in admissions]


def causes(world: World, leads: int = 40) -> set[str]:
    """Return the causes for which the leads were skipped; each must be."""
    messages = [world.message(lead_no) for lead_no in range(1, leads + 1)]
    assert all(message and message.status is MessageStatus.SKIPPED for message in messages)
    return {message.cause for message in messages if message}


# -- sent ----------------------------------------------------------------------------------------------------------


def test_an_admitted_batch_gets_a_slot_for_each_lead_in_order(world: World) -> None:
    batch = batch_of(world)

    admission = world.admit(batch)

    assert admission.decision is Decision.SEND
    assert [item.lead_no for item in admission.items] == list(range(1, 41))
    apart = 0.25 * CATCH_UP
    assert seconds_after(NOON, admission)[:3] == pytest.approx([0, apart, 2 * apart], abs=1e-4)


def test_the_same_round_again_gives_the_same_items_and_takes_nothing_more(world: World) -> None:
    batch = batch_of(world)
    first = world.admit(batch)
    pace = world.pace()

    world.clock.passes(seconds=3)
    again = world.admit(batch)

    assert again == first
    assert world.account().reserved == 40
    assert world.pace() == pace


def test_a_round_that_was_killed_between_credits_and_slots_goes_on_with_its_lease(world: World) -> None:
    batch = batch_of(world)
    with pytest.raises(Killed):  # its first write is the campaign's turn, its second the lease
        world.admit(batch, table=killed_after_write(world.table, 2))

    admission = world.admit(batch)

    assert len(admission.items) == 40
    assert world.account().reserved == 40


def test_a_round_that_was_killed_between_pace_and_slots_gets_slots_that_nobody_else_has(world: World) -> None:
    batch = batch_of(world)
    with pytest.raises(Killed):  # its first write is the turn, its second the lease, its third the pace
        world.admit(batch, table=killed_after_write(world.table, 3))
    lost = world.pace()["next_free"]

    admission = world.admit(batch)
    other = world.admit_in_time(batch_of(world, batch_id="00002"))

    assert len(admission.items) == 40
    assert to_us(datetime.fromisoformat(admission.items[0].slot)) >= lost
    assert world.admit(batch) == admission
    slots = [item.slot for item in (*admission.items, *other.items)]
    assert len(set(slots)) == 80
    assert world.account().reserved == 80


@pytest.mark.parametrize("write", range(1, 7))
def test_a_round_killed_before_any_of_its_writes_ends_the_same(world: World, write: int) -> None:
    batch = batch_of(world)
    with contextlib.suppress(Killed):
        world.admit(batch, table=killed_before_write(world.table, write))

    admission = world.admit_in_time(batch)

    assert len(admission.items) == 40
    assert world.admit(batch) == admission
    assert (world.account().reserved, world.used(keys.route_day("shared", TODAY))) == (40, 40)


def test_two_admissions_of_one_round_at_once_give_one_answer() -> None:
    """Both find the lease without slots, and both take slots: the first to keep them gives both their answer."""
    with a_world(Latency(read=lambda: 0.003, write=lambda: 0.005)) as world:
        world.has(an_account(), Route(name="shared"), a_campaign())
        batch = batch_of(world)
        with pytest.raises(Killed):  # after its lease
            world.admit(batch, table=killed_after_write(world.table, 2))

        first, second = world.together(lambda: world.admit(batch), lambda: world.admit(batch))

        assert isinstance(first, Admission)
        assert [item.slot for item in first.items] == [item.slot for item in second.items]
        assert world.admit(batch) == first
        assert len(to_pace(world.pace()).rounds) == 2  # both sets are taken, one is used


def test_a_later_round_takes_only_the_leads_without_a_message(empty_world: World) -> None:
    world = empty_world
    world.has(an_account(available=13), Route(name="shared"), a_campaign())
    batch = batch_of(world)
    first = world.admit(batch)
    world.send_all(batch, first)
    closed = world.close(batch)
    buy_credits(world.table, "acme", 100)

    second = world.admit_in_time(batch, closed.next_round)

    assert [item.lead_no for item in first.items] == list(range(1, 14))
    assert [item.lead_no for item in second.items] == list(range(14, 41))
    assert closed.left == 27


def test_a_batch_whose_leads_all_have_messages_is_done(world: World) -> None:
    batch = batch_of(world, 3)
    world.send_all(batch, world.admit(batch))
    closed = world.close(batch)

    admission = world.admit(batch, closed.next_round)

    assert admission.decision is Decision.DONE
    assert world.account().reserved == 3


# -- held ----------------------------------------------------------------------------------------------------------


def test_a_paused_campaign_holds_until_a_signal(world: World) -> None:
    world.becomes(CampaignStatus.PAUSED)

    admission = world.admit(batch_of(world))

    assert admission.decision is Decision.HOLD
    assert admission.hold is not None
    assert (admission.hold.cause, admission.hold.until) == (Cause.PAUSED, None)
    assert world.account().reserved == 0


def test_a_disabled_route_holds_until_a_signal(world: World) -> None:
    put_route(world.table, Route(name="shared", is_enabled=False))

    admission = world.admit(batch_of(world))

    assert admission.decision is Decision.HOLD
    assert admission.hold is not None
    assert (admission.hold.cause, admission.hold.until) == (Cause.ROUTE_DISABLED, None)


def test_too_few_credits_hold_with_the_evidence(empty_world: World) -> None:
    world = empty_world
    world.has(an_account(available=0), Route(name="shared"), a_campaign())

    admission = world.admit(batch_of(world))

    assert admission.decision is Decision.HOLD
    assert admission.hold is not None
    assert admission.hold.model_dump() == {
        "cause": Cause.CREDITS,
        "since": NOON,
        "until": None,
        "used": 40,
        "limit": 0,
    }


def test_a_closed_window_holds_until_its_exact_opening(empty_world: World) -> None:
    world = empty_world
    world.has(an_account(), Route(name="shared"), a_campaign(sending_window=OFFICE_HOURS))
    world.clock.moment = NIGHT

    admission = world.admit(batch_of(world))

    assert admission.hold is not None
    assert (admission.hold.cause, admission.hold.until) == (Cause.SENDING_WINDOW, OPENING)
    assert admission.hold_seconds == (OPENING - NIGHT).total_seconds() + 0.25  # whole seconds, upwards
    assert world.account().reserved == 0


def test_the_window_counts_in_every_zone_of_the_batch(empty_world: World) -> None:
    world = empty_world
    world.has(an_account(), Route(name="shared"), a_campaign(sending_window=OFFICE_HOURS))
    world.clock.moment = datetime.fromisoformat("2026-09-02T13:00:00Z")  # 9 in New York, 6 in Los Angeles

    admission = world.admit(batch_of(world, zones=("America/Los_Angeles", "America/New_York")))

    assert admission.hold is not None
    assert admission.hold.until == datetime.fromisoformat("2026-09-02T15:00:00Z")


def test_a_hold_ends_with_the_campaigns_time_at_the_latest(empty_world: World) -> None:
    world = empty_world
    send_by = NOON + timedelta(minutes=5)
    world.has(an_account(available=0), Route(name="shared"), a_campaign(send_by=send_by))

    admission = world.admit(batch_of(world))

    assert admission.hold_seconds == 300


def test_a_day_cap_holds_until_midnight_of_the_routes_zone(world: World) -> None:
    put_route(world.table, Route(name="shared", parts_per_day=10, time_zone="America/Chicago"))
    batch = batch_of(world)
    world.send_all(batch, world.admit(batch))
    closed = world.close(batch)

    admission = world.admit_in_time(batch, closed.next_round)

    assert admission.hold is not None
    assert admission.hold.cause is Cause.ROUTE_DAY_CAP
    assert (admission.hold.used, admission.hold.limit) == (10, 10)
    assert admission.hold.until == datetime.fromisoformat("2026-09-03T05:00:00Z")


def test_a_full_route_is_waited_for_and_nothing_is_leased_meanwhile(world: World) -> None:
    for number in range(3):
        world.admit_in_time(batch_of(world, batch_id=f"{number:05}"))
    batch = batch_of(world, batch_id="00009")

    waits = world.admit(batch)

    assert waits.decision is Decision.WAIT
    assert waits.turn is not None
    assert world.account().reserved == 120
    assert world.admit_in_time(batch).decision is Decision.SEND
    assert world.account().reserved == 160


def test_a_round_sends_no_more_than_half_a_minute_of_the_routes_pace(empty_world: World) -> None:
    world = empty_world
    world.has(an_account(), Route(name="shared", parts_per_minute=30), a_campaign())
    batch = batch_of(world)

    first = world.admit(batch)
    world.send_all(batch, first)
    second = world.admit_in_time(batch, world.close(batch).next_round)

    assert [item.lead_no for item in first.items] == list(range(1, 16))
    assert [item.lead_no for item in second.items] == list(range(16, 31))


def test_a_cap_on_concurrency_deals_a_round_into_as_many_lanes(empty_world: World) -> None:
    world = empty_world
    world.has(an_account(), Route(name="shared", parts_per_minute=6000, concurrency=16), a_campaign())

    admission = world.admit(batch_of(world, 100))

    assert (len(admission.groups), admission.items_at_once) == (1, 16)


@pytest.mark.parametrize(
    ("items", "width", "lanes"),
    [
        pytest.param(400, 0, (10, 40), id="no cap: as many Maps as it takes"),
        pytest.param(400, 8, (1, 8), id="less than one Map runs at once"),
        pytest.param(400, 130, (3, 40), id="whole Maps"),
        pytest.param(400, 10_000, (40, 40), id="more than Maps of Maps run at once"),
    ],
)
def test_no_more_sends_are_under_way_than_a_round_may_have(items: int, width: int, lanes: tuple[int, int]) -> None:
    assert _lanes(items, width) == lanes


# -- a lease that may not be used any more -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda world: world.becomes(CampaignStatus.PAUSED), id="paused"),
        pytest.param(lambda world: world.becomes(CampaignStatus.CANCELLED), id="cancelled"),
        pytest.param(lambda world: put_route(world.table, Route(name="shared", is_enabled=False)), id="route disabled"),
        pytest.param(lambda world: world.close(batch_of(world)), id="closed before"),
    ],
)
def test_a_round_that_may_not_go_on_is_closed_and_its_lease_given_back(world: World, change: object) -> None:
    batch = batch_of(world)
    world.admit(batch)
    change(world)  # type: ignore[operator]

    admission = world.admit(batch)
    closed = world.close(batch)

    assert admission.decision is Decision.CLOSE
    assert closed.next_round == 2
    assert (world.account().available, world.account().reserved) == (1000, 0)
    assert world.used(keys.route_day("shared", TODAY)) == 0


def test_a_cancelled_campaign_gives_its_lease_back_and_skips_the_rest(world: World) -> None:
    batch = batch_of(world)
    world.admit(batch)
    world.send(batch, 1)
    world.becomes(CampaignStatus.CANCELLED)

    first = world.admit(batch)
    closed = world.close(batch)
    then = world.admit(batch, closed.next_round)

    assert decisions(first, then) == ["close", "done"]
    assert world.account().reserved == 1
    sent = world.message(1)
    assert sent is not None
    assert sent.status is MessageStatus.SENT
    skipped = [world.message(lead_no) for lead_no in range(2, 41)]
    assert {(message.status, message.cause) for message in skipped if message} == {(MessageStatus.SKIPPED, "cancelled")}
    assert all(skipped)


def test_a_campaign_cancelled_before_its_first_lease_skips_everything(world: World) -> None:
    batch = batch_of(world)
    world.becomes(CampaignStatus.CANCELLED)

    admission = world.admit(batch)

    assert admission.decision is Decision.DONE
    assert causes(world) == {"cancelled"}


def test_when_its_time_has_passed_what_is_left_is_skipped_for_what_held_it(empty_world: World) -> None:
    world = empty_world
    send_by = NOON + timedelta(minutes=5)
    world.has(an_account(available=0), Route(name="shared"), a_campaign(send_by=send_by))
    batch = batch_of(world)
    world.admit(batch)  # held for credits

    world.clock.moment = send_by
    admission = world.admit(batch)

    assert admission.decision is Decision.DONE
    assert causes(world) == {"credits"}


def test_when_its_time_has_passed_without_a_hold_that_is_the_cause(empty_world: World) -> None:
    world = empty_world
    world.has(an_account(), Route(name="shared"), a_campaign(send_by=NOON))

    assert world.admit(batch_of(world)).decision is Decision.DONE

    assert causes(world) == {"send_by_passed"}


def test_no_slot_is_after_the_window_and_the_rest_comes_back(empty_world: World) -> None:
    world = empty_world
    window = SendingWindow.model_validate({"opens": "08:00", "closes": "12:00:05"})
    world.has(an_account(), Route(name="shared"), a_campaign(sending_window=window))

    admission = world.admit(batch_of(world))

    assert 0 < len(admission.items) < 40
    assert seconds_after(NOON, admission)[-1] <= 5 - LATENESS_US / 1e6


def test_a_lease_without_slots_is_closed_when_its_day_is_over(world: World) -> None:
    world.clock.moment = datetime.fromisoformat("2026-09-03T03:59:59.500000Z")  # half a second before midnight
    batch = batch_of(world)

    waits = world.admit(batch)
    assert waits.wait_until is not None
    world.clock.moment = datetime.fromisoformat(waits.wait_until)
    closes = world.admit(batch, turn=waits.turn)
    closed = world.close(batch)
    goes = world.admit_in_time(batch, closed.next_round)

    assert decisions(waits, closes, goes) == ["wait", "close", "send"]
    assert waits.wait_until == "2026-09-03T04:00:00.000000Z"
    assert world.used(keys.route_day("shared", TODAY)) == 0
    assert world.used(keys.route_day("shared", date(2026, 9, 3))) == 40


def test_after_a_429_a_round_is_small_and_soon_whole_again(world: World) -> None:
    slow_down(world.table, "shared", NOON, 1)
    world.clock.passes(seconds=2)

    probe = world.admit_in_time(batch_of(world))
    world.clock.passes(seconds=130)
    whole = world.admit_in_time(batch_of(world, batch_id="00002"))

    assert len(probe.items) == 10  # a quarter at half the speed
    assert len(whole.items) == 40


# -- what holds it -------------------------------------------------------------------------------------------------


def summary(world: World) -> dict[str, object]:
    row = world.table.get(keys.batch("renewals", "00001"))
    assert row is not None
    return row


def test_the_summary_says_since_when_a_batch_is_held(world: World) -> None:
    batch = batch_of(world)
    world.becomes(CampaignStatus.PAUSED)
    world.admit(batch)

    world.clock.passes(minutes=10)
    world.admit(batch)

    hold = summary(world)["hold"]
    assert isinstance(hold, dict)
    assert (hold["cause"], datetime.fromisoformat(hold["since"])) == ("paused", NOON)


def test_the_summary_keeps_how_long_each_cause_held(world: World) -> None:
    batch = batch_of(world)
    world.becomes(CampaignStatus.PAUSED)
    world.admit(batch)
    world.clock.passes(minutes=10)
    world.becomes(CampaignStatus.RUNNING)
    world.admit(batch)
    world.admit(batch)

    held = summary(world)["held"]

    assert summary(world)["hold"] is None
    assert isinstance(held, list)
    assert [(entry["cause"], datetime.fromisoformat(entry["since"]), entry["until"]) for entry in held] == [
        ("paused", NOON, iso(NOON + timedelta(minutes=10)))
    ]


def test_a_batch_that_waits_for_a_429_says_so(world: World) -> None:
    slow_down(world.table, "shared", NOON, 120)

    admission = world.admit(batch_of(world))

    hold = summary(world)["hold"]
    assert admission.decision is Decision.WAIT
    assert isinstance(hold, dict)
    assert hold["cause"] == "provider_throttled"
