"""Carriers by look-up: what an account imported stands in for a look-up service, for that account alone."""

from __future__ import annotations

from paceline import keys
from paceline.carriers import TableCarriers, import_carriers
from paceline.leads.phone import refusal
from tests.builders.core import NOON, World, phone_number

AT = NOON


def test_an_imported_carrier_is_found_by_number_in_any_spelling(world: World) -> None:
    rows = [
        (2, "(202) 555-0101", "Verizon"),
        (3, "202.555.0102", " AT&T "),
        (4, "x", "T-Mobile"),
        (5, "2025550103", ""),
    ]

    imported = import_carriers(world.table, "acme", rows, AT, 400)

    found = TableCarriers(world.table).carriers_of("acme", [phone_number(n) for n in range(1, 5)])
    assert found == {phone_number(1): "Verizon", phone_number(2): "AT&T"}
    assert (imported.added, imported.refused) == (3, [(4, refusal("not_a_number"))])


def test_a_later_import_wins(world: World) -> None:
    import_carriers(world.table, "acme", [(2, phone_number(1), "Verizon"), (3, phone_number(1), "AT&T")], AT, 400)
    import_carriers(world.table, "acme", [(2, phone_number(2), "Verizon")], AT, 400)
    import_carriers(world.table, "acme", [(2, phone_number(2), "T-Mobile")], AT, 400)

    found = TableCarriers(world.table).carriers_of("acme", [phone_number(1), phone_number(2)])

    assert found == {phone_number(1): "AT&T", phone_number(2): "T-Mobile"}


def test_what_one_account_imported_no_other_sees(world: World) -> None:
    import_carriers(world.table, "acme", [(2, phone_number(1), "Verizon")], AT, 400)
    import_carriers(world.table, "other", [(2, phone_number(2), "Verizon")], AT, 400)

    assert TableCarriers(world.table).carriers_of("other", [phone_number(1)]) == {}


def test_an_account_that_imported_none_is_asked_about_once_and_not_by_number(world: World) -> None:
    carriers = TableCarriers(world.table)
    before = len(world.calls)

    for lead_no in range(1, 40):
        assert carriers.carriers_of("acme", [phone_number(lead_no)]) == {}

    assert len(world.calls) - before == 1


def test_an_import_writes_no_row_that_a_send_writes(world: World) -> None:
    import_carriers(world.table, "acme", [(2, phone_number(1), "Verizon")], AT, 400)

    assert world.table.get(keys.recipient("acme", phone_number(1))) is None


def test_a_large_import_is_kept_whole(world: World) -> None:
    import_carriers(world.table, "acme", ((row, phone_number(row), "Verizon") for row in range(1, 200)), AT, 400)

    found = TableCarriers(world.table).carriers_of("acme", [phone_number(row) for row in range(100, 200)])

    assert len(found) == 100
