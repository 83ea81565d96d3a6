"""A repair makes an account what its messages say, in one write on what was read, and never takes what is not there."""

from __future__ import annotations

import pytest

from paceline import keys
from paceline.audit import Signature, account_subject, changes_of, route_subject
from paceline.models import Batch, Route
from paceline.recount import CannotRepair, Recount, repair
from paceline.status import MessageStatus
from paceline.table import Table
from tests.builders.core import NOON, World, a_campaign, an_account
from tests.builders.recounts import counted, damage, ends, has_planned, sends, set_values, told
from tests.fakes.tables import meddled

ACCOUNT = keys.account("acme")
DAY = keys.route_day("shared", NOON.date())
BY = Signature("console", NOON, "repair-1", "ana")


@pytest.fixture
def batches(world: World) -> list[Batch]:
    """One batch that is settled, 4 of 5 parts consumed, and one that has used 2 of 3 parts."""
    one, two = has_planned(world, (1, 1, 2, 1), 3)
    sends(world, one)
    ends(world, one, MessageStatus.DELIVERED, MessageStatus.DELIVERED, MessageStatus.DELIVERED, MessageStatus.FAILED)
    sends(world, two, only=2)
    return [one, two]


def repaired(world: World, found: Recount, table: Table | None = None) -> None:
    for account in found.accounts:
        for correction in account.corrections:
            repair(table or world.table, account.account_id, correction, BY)
    for correction in found.corrections:
        repair(table or world.table, None, correction, BY)


@pytest.mark.parametrize(
    "numbers",
    [
        {"consumed": 1},
        {"reserved": -5, "consumed": 4, "available": 1},
        {"reserved": 17, "available": -17},
        {"available": 3},
        {"bought": 7, "available": 7},
    ],
    ids=["consumed off by one", "settled twice", "leaked", "available alone", "never bought"],
)
def test_the_account_is_made_what_its_messages_say(world: World, batches: list[Batch], numbers: dict[str, int]) -> None:
    before = world.account()
    damage(world, ACCOUNT, **numbers)

    repaired(world, counted(world))

    assert world.account() == before
    assert told(counted(world)) == []


def test_a_batch_and_the_account_are_corrected_together(world: World, batches: list[Batch]) -> None:
    before = world.account()
    set_values(world, keys.batch("renewals", "00001"), consumed=3, released=2)
    damage(world, ACCOUNT, consumed=-1, available=1)

    repaired(world, counted(world))

    assert world.account() == before
    row = world.table.get(keys.batch("renewals", "00001")) or {}
    assert (row["consumed"], row["released"]) == (4, 1)
    assert told(counted(world)) == []


def test_a_lease_and_the_day_are_corrected_with_the_account(world: World, batches: list[Batch]) -> None:
    set_values(world, keys.lease("renewals", "00002", 1), unused=0)
    damage(world, ACCOUNT, reserved=1, available=-1)
    damage(world, DAY, used=1)

    repaired(world, counted(world))

    assert world.used(DAY) == 7
    assert told(counted(world)) == []


def test_a_days_use_is_corrected_alone(world: World, batches: list[Batch]) -> None:
    damage(world, DAY, used=40)

    repaired(world, counted(world))

    assert world.used(DAY) == 7
    [change] = [one for one in changes_of(world.table, route_subject("shared")) if one["request_id"] == "repair-1"]
    assert change["changes"] == {"used on 2026-09-02 of route#shared": {"before": 47, "after": 7}}


def test_the_trail_says_who_and_what_was_before_and_after(world: World, batches: list[Batch]) -> None:
    damage(world, ACCOUNT, consumed=1)

    repaired(world, counted(world))

    [change] = [one for one in changes_of(world.table, account_subject("acme")) if one["request_id"] == "repair-1"]
    assert (change["by"], change["by_name"]) == ("console", "ana")
    assert change["changes"] == {"consumed": {"before": 5, "after": 4}}


def test_available_never_falls_below_zero(empty_world: World) -> None:
    """The customer has spent a credit that came back twice: who pays for it is no question for a program."""
    empty_world.has(an_account(available=4), Route(name="shared"), a_campaign())
    one, two = has_planned(empty_world, 3, 2)
    sends(empty_world, one)
    ends(empty_world, one)
    damage(empty_world, ACCOUNT, consumed=-1, available=1)
    sends(empty_world, two)
    found = counted(empty_world)

    with pytest.raises(CannotRepair, match="buy credits"):
        repaired(empty_world, found)

    assert told(found) == [("", "available", -1, 0), ("", "consumed", 3, 2)]
    assert [one.is_repairable for one in found.accounts[0].differences] == [False, False]
    assert empty_world.account().available == 0


def test_a_correction_counts_on_what_the_account_is_at_the_write(world: World, batches: list[Batch]) -> None:
    damage(world, ACCOUNT, consumed=1)
    found = counted(world)

    repaired(world, found, meddled(world.table, "transact", lambda: damage(world, ACCOUNT, available=-2, reserved=2)))

    account = world.account()
    assert (account.available, account.reserved, account.consumed) == (992, 4, 4)


def test_a_row_that_changed_since_it_was_read_is_left_alone(world: World, batches: list[Batch]) -> None:
    set_values(world, keys.batch("renewals", "00001"), consumed=3)
    found = counted(world)
    set_values(world, keys.batch("renewals", "00001"), consumed=2)
    before = world.account()

    with pytest.raises(CannotRepair, match="changed since"):
        [repair(world.table, "acme", one, BY) for one in found.accounts[0].corrections if one.changes]

    assert world.account() == before
