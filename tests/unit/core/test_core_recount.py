"""A recount finds every credit that is not where the messages say, by batch, and cries no wolf while campaigns run."""

from __future__ import annotations

from datetime import timedelta

import pytest

from paceline import keys
from paceline.accounts import buy_credits
from paceline.audit import Signature
from paceline.batches import batch_summaries
from paceline.campaigns import set_status
from paceline.models import Batch, Charging, Route
from paceline.recount import recount
from paceline.settlement import resettle
from paceline.status import CampaignStatus, MessageStatus
from paceline.table import Delete
from tests.builders.core import NOON, World, a_campaign, an_account
from tests.builders.recounts import counted, damage, ends, has_planned, receives, sends, set_values, told, whys
from tests.fakes.tables import WatchedTable

ACCOUNT = keys.account("acme")
DAY = NOON.date()


def buys(world: World, credits: int) -> None:
    buy_credits(world.table, "acme", credits, Signature("0perator", NOON, "purchase"))


@pytest.fixture
def batches(world: World) -> list[Batch]:
    """Two batches of which one is settled: 3 delivered, 1 failed of 5 parts; the other is on its way, 2 of 3 sent."""
    one, two = has_planned(world, (1, 1, 2, 1), 3)
    sends(world, one)
    ends(world, one, MessageStatus.DELIVERED, MessageStatus.DELIVERED, MessageStatus.DELIVERED, MessageStatus.FAILED)
    sends(world, two, only=2)
    return [one, two]


def test_a_campaign_that_runs_and_was_not_meddled_with_does_not_differ(world: World, batches: list[Batch]) -> None:
    found = counted(world)

    assert told(found) == []
    assert not found.differs
    [account] = found.accounts
    assert account.found == {"available": 994, "reserved": 2, "consumed": 4, "bought": 1000}
    assert [(one.reserved, one.consumed) for one in account.campaigns] == [(2, 4)]
    assert found.days_counted == 1


def test_a_recount_only_reads(world: World, batches: list[Batch]) -> None:
    world.calls.clear()

    counted(world)

    assert {call.operation for call in world.calls} <= {"GetItem", "Query", "BatchGetItem"}


def test_consumed_off_by_one_is_found(world: World, batches: list[Batch]) -> None:
    damage(world, ACCOUNT, consumed=1)

    found = counted(world)

    assert told(found) == [("", "consumed", 4, 5)]
    assert "no batch accounts for it" in whys(found)


def test_a_batch_that_was_settled_twice_is_named(world: World, batches: list[Batch]) -> None:
    damage(world, ACCOUNT, reserved=-5, consumed=4, available=1)

    found = counted(world)

    assert told(found) == [("", "available", 994, 995), ("", "reserved", 2, -3), ("", "consumed", 4, 8)]
    assert "as if batch 00001 of renewals had been settled twice" in whys(found)


def test_a_give_back_that_was_lost_is_named(world: World, batches: list[Batch]) -> None:
    damage(world, ACCOUNT, reserved=1, available=-1)
    damage(world, keys.route_day("shared", DAY), used=1)

    found = counted(world)

    assert ("", "reserved", 2, 3) in told(found)
    assert ("route shared, 2026-09-02", "parts used", 7, 8) in told(found)
    assert "the give-back of round 1 of batch 00002 of renewals (1 parts) had been lost" in whys(found)


def test_a_leaked_reservation_is_found(world: World, batches: list[Batch]) -> None:
    damage(world, ACCOUNT, reserved=17, available=-17)

    found = counted(world)

    assert told(found) == [("", "available", 994, 977), ("", "reserved", 2, 19)]
    assert "17 parts are reserved that no lease holds" in whys(found)


def test_credits_that_nobody_bought_are_found(world: World, batches: list[Batch]) -> None:
    buys(world, 50)
    damage(world, ACCOUNT, bought=7, available=7)

    found = counted(world)

    assert told(found) == [("", "available", 1044, 1051), ("", "bought", 1050, 1057)]
    assert "purchases" in whys(found)


def test_a_batch_whose_row_consumes_what_its_messages_do_not_is_found(world: World, batches: list[Batch]) -> None:
    set_values(world, keys.batch("renewals", "00001"), consumed=5)

    found = counted(world)

    assert ("batch 00001", "parts consumed", 4, 5) in told(found)
    assert ("", "consumed", 4, 4) not in told(found)


def test_a_lease_that_gave_back_too_little_is_found(world: World, batches: list[Batch]) -> None:
    """The lease's row and the account agree; only the messages say that a part was never used."""
    set_values(world, keys.lease("renewals", "00002", 1), unused=0)
    damage(world, ACCOUNT, reserved=1, available=-1)
    damage(world, keys.route_day("shared", DAY), used=1)

    found = counted(world)

    assert ("batch 00002, round 1", "parts given back", 1, 0) in told(found)
    assert ("", "reserved", 2, 3) in told(found)


def test_a_lease_that_is_open_in_a_final_batch_is_found(world: World) -> None:
    """All leads have an outcome, and the step that closes the round died for good: one part stays reserved."""
    [batch] = has_planned(world, 3)
    admission = world.admit_in_time(batch)
    stopped = admission.items[2].lead_no
    world.send_all(batch, admission)
    set_values(world, keys.message("renewals", "00001", stopped), status="skipped", rank="90")
    ends(world, batch)

    found = counted(world)

    assert ("batch 00001, round 1", "parts given back", 1, 0) in told(found)
    assert ("", "reserved", 0, 1) in told(found)
    assert "nobody will close the lease any more" in whys(found)


def test_a_message_that_is_lost_is_found(world: World, batches: list[Batch]) -> None:
    world.table.delete(Delete(keys.message("renewals", "00001", 2)))

    found = counted(world)

    assert ("batch 00001", "leads without a message", 0, 1) in told(found)


def test_credits_held_for_a_campaign_that_has_ended_are_found(world: World, batches: list[Batch]) -> None:
    set_status(world.table, "renewals", CampaignStatus.FAILED, CampaignStatus)

    found = counted(world)

    assert told(found) == [("batch 00002", "parts reserved", 0, 2)]
    assert "redrive" in whys(found)


def test_a_use_of_a_day_that_no_lease_made_is_found(world: World, batches: list[Batch]) -> None:
    damage(world, keys.route_day("shared", DAY + timedelta(days=3)), used=40)

    assert told(counted(world)) == [("route shared, 2026-09-05", "parts used", 0, 40)]


def test_the_days_of_an_account_are_counted_where_it_has_a_cap(empty_world: World) -> None:
    empty_world.has(an_account(parts_per_day=100), Route(name="shared"), a_campaign())
    [batch] = has_planned(empty_world, 3)
    sends(empty_world, batch, only=2)
    assert told(counted(empty_world)) == []
    damage(empty_world, keys.account_day("acme", DAY), used=-1)

    assert told(counted(empty_world, "acme")) == [("account acme, 2026-09-02", "parts used", 2, 1)]


def test_each_campaign_is_charged_by_its_own_policy(empty_world: World) -> None:
    delivered_only = a_campaign(charging=Charging(charged="delivered"))
    empty_world.has(an_account(), Route(name="shared"), delivered_only)
    [batch] = has_planned(empty_world, 2)
    sends(empty_world, batch)
    ends(empty_world, batch, MessageStatus.DELIVERED, MessageStatus.UNDELIVERED)
    assert told(counted(empty_world)) == []
    set_values(empty_world, keys.campaign("renewals"), charging={"charged": "submitted", "filtered": True})

    assert ("batch 00001", "parts consumed", 2, 1) in told(counted(empty_world))


def test_a_late_receipt_is_a_note_until_a_report_takes_it_up(empty_world: World) -> None:
    delivered_only = a_campaign(charging=Charging(charged="delivered"))
    empty_world.has(an_account(), Route(name="shared"), delivered_only)
    [batch] = has_planned(empty_world, 2)
    sends(empty_world, batch)
    ends(empty_world, batch, MessageStatus.DELIVERED, MessageStatus.UNDELIVERED)
    receives(empty_world, batch, 2, MessageStatus.DELIVERED)

    waiting = counted(empty_world)
    damage(empty_world, keys.late("renewals", "00001", 2), version=2)
    forgotten = counted(empty_world)

    assert told(waiting) == []
    assert "late receipts (lead 2) change 1 consumed parts to 2" in waiting.accounts[0].campaigns[0].notes[0].text
    assert ("batch 00001", "parts consumed", 2, 1) in told(forgotten)


def test_credits_that_were_waived_are_not_missed(empty_world: World) -> None:
    empty_world.has(an_account(available=2), Route(name="shared"), a_campaign(charging=Charging(charged="delivered")))
    one, two = has_planned(empty_world, 2, 1)
    sends(empty_world, one)
    ends(empty_world, one, MessageStatus.DELIVERED, MessageStatus.UNDELIVERED)
    sends(empty_world, two)
    receives(empty_world, one, 2, MessageStatus.DELIVERED)
    [summary, _] = batch_summaries(empty_world.table, "renewals")
    resettle(empty_world.table, "acme", summary, 2, NOON)
    damage(empty_world, keys.late("renewals", "00001", 2), version=1)

    assert (empty_world.table.get(keys.batch("renewals", "00001")) or {})["waived"] == 1
    assert told(counted(empty_world)) == []


# -- while it runs ------------------------------------------------------------------------------------------------


def test_batches_that_move_while_it_reads_give_no_false_alarm(world: World) -> None:
    one, two, three = has_planned(world, 5, 4, 3)
    sends(world, one)
    steps = iter([
        lambda: sends(world, two, only=3),
        lambda: ends(world, one),
        lambda: sends(world, three),
        lambda: buys(world, 10),
        lambda: ends(world, three),
    ])  # fmt: skip

    found = recount(_meddled_at_every(world, 4, steps), world.store, None, world.clock.now())

    assert told(found) == []
    assert next(steps, None) is None, "all of it happened while it read"


@pytest.mark.parametrize("damaged", [0, 1], ids=["clean", "one part leaked"])
def test_where_it_never_comes_to_rest_only_damage_is_told(world: World, damaged: int) -> None:
    """Every lease is of two parts: whatever is under way, one part more is none of it."""
    batches = has_planned(world, *[2] * 90)
    damage(world, ACCOUNT, reserved=damaged, available=-damaged)
    steps = iter([lambda batch=batch: sends(world, batch) for batch in batches])

    found = recount(_meddled_at_every(world, 3, steps), world.store, "acme", world.clock.now())

    assert next(steps, None) is not None, "it never came to rest"
    assert found.accounts[0].moving
    assert found.differs == bool(damaged)
    assert {what for _, what, *_ in told(found)} == ({"available", "reserved"} if damaged else set())


def _meddled_at_every(world: World, reads: int, steps: object) -> WatchedTable:
    """A table before whose every so many reads the next step happens."""
    count = 0

    def before(method: str, _: object) -> None:
        nonlocal count
        count += 1
        if count % reads == 0 and (step := next(steps, None)):  # type: ignore[call-overload]
            step()

    return WatchedTable(world.table, before=before)
