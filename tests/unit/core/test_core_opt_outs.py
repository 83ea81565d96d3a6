"""Opt-outs: noted where every send meets them, listed for the export, per account, never lost to a conflict."""

from __future__ import annotations

import pytest

from paceline import keys
from paceline.claims import claim
from paceline.errors import TransactionConflict
from paceline.leads.phone import refusal
from paceline.moments import iso
from paceline.opt_outs import (
    MAX_TRIES,
    OptOut,
    TableOptOuts,
    export_opt_outs,
    import_opt_outs,
    opt_in,
    opt_out,
)
from paceline.status import Cause
from tests.builders.core import NOON, World, a_campaign, a_lead, a_message, phone_number
from tests.fakes.tables import WatchedTable

AT, LATER = iso(NOON), "2026-09-03T16:00:00.000000Z"


def exported(world: World, account_id: str = "acme") -> list[str]:
    return [entry.phone_number for entry in export_opt_outs(world.table, account_id)]


def test_an_opt_out_is_in_the_recipients_row_and_in_the_accounts_list_at_once(world: World) -> None:
    opt_out(world.table, "acme", phone_number(1), AT)

    assert TableOptOuts(world.table).opted_out("acme", [phone_number(1), phone_number(2)]) == {phone_number(1)}
    assert list(export_opt_outs(world.table, "acme")) == [OptOut(phone_number(1), AT, "message")]


def test_an_opt_out_is_of_one_account_alone(world: World) -> None:
    opt_out(world.table, "acme", phone_number(1), AT)

    assert exported(world, "other") == []
    assert TableOptOuts(world.table).opted_out("other", [phone_number(1)]) == set()


def test_start_takes_a_person_off_the_list(world: World) -> None:
    opt_out(world.table, "acme", phone_number(1), AT)

    assert opt_in(world.table, "acme", phone_number(1), LATER)

    assert exported(world) == []
    assert claim(world.table, a_campaign(), a_message(1), a_lead(1), NOON) is None


def test_start_of_somebody_who_never_stopped_writes_no_row(world: World) -> None:
    assert not opt_in(world.table, "acme", phone_number(1), AT)

    assert world.table.get(keys.recipient("acme", phone_number(1))) is None


def test_the_export_is_by_number_whatever_partition_each_is_in(world: World) -> None:
    numbers = [phone_number(lead_no) for lead_no in range(1, 121)]
    import_opt_outs(world.table, "acme", enumerate(reversed(numbers), start=2), AT)

    assert exported(world) == sorted(numbers)
    assert len({keys.opt_out("acme", number)[0] for number in numbers}) == keys.OPT_OUT_SHARDS


def test_an_import_reads_any_spelling_counts_repeats_and_says_what_it_refused(world: World) -> None:
    opt_out(world.table, "acme", phone_number(1), AT)
    rows = [(2, "(202) 555-0101"), (3, "202.555.0102"), (4, "+1 202 555 0102"), (5, "1.20256E+10"), (6, "")]

    imported = import_opt_outs(world.table, "acme", rows, LATER)

    assert (imported.added, imported.known) == (1, 2)
    assert imported.refused == [(5, refusal("scientific_notation")), (6, refusal("blank_phone"))]
    entries = list(export_opt_outs(world.table, "acme"))
    assert entries == [OptOut(phone_number(1), AT, "message"), OptOut(phone_number(2), LATER, "import")]


def test_an_import_again_changes_nothing(world: World) -> None:
    rows = [(row, phone_number(row)) for row in range(2, 130)]
    import_opt_outs(world.table, "acme", rows, AT)
    before = list(export_opt_outs(world.table, "acme"))

    again = import_opt_outs(world.table, "acme", rows, LATER)

    assert (again.added, again.known) == (0, 128)
    assert list(export_opt_outs(world.table, "acme")) == before


@pytest.mark.parametrize("conflicts", [1, MAX_TRIES - 1])
def test_a_stop_that_meets_a_send_of_the_same_person_is_tried_again(world: World, conflicts: int) -> None:
    left = iter(range(conflicts))

    def conflict(method: str, _: object) -> None:
        if method == "transact" and next(left, None) is not None:
            raise TransactionConflict("a send holds the row")

    opt_out(WatchedTable(world.table, before=conflict), "acme", phone_number(1), AT)

    assert exported(world) == [phone_number(1)]


def test_a_stop_that_never_gets_through_is_an_error_and_not_forgotten_in_silence(world: World) -> None:
    def conflict(*_: object) -> None:
        raise TransactionConflict("a send holds the row")

    with pytest.raises(TransactionConflict):
        opt_out(WatchedTable(world.table, before=conflict), "acme", phone_number(1), AT)


def test_a_stop_and_a_send_at_the_same_moment_end_in_one_of_two_ways(world: World) -> None:
    campaign = a_campaign()

    def send() -> object:
        return claim(world.table, campaign, a_message(1), a_lead(1), NOON)

    claimed, stopped = world.together(send, lambda: opt_out(world.table, "acme", phone_number(1), AT))

    assert stopped is None
    assert claimed in (None, Cause.OPTED_OUT) or isinstance(claimed, TransactionConflict)
    assert claim(world.table, campaign, a_message(2), a_lead(1), NOON) is Cause.OPTED_OUT
