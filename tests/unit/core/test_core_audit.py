"""The audit trail: no change without its row, no row without its change, and nobody's change overwritten unseen."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from paceline import keys
from paceline.accounts import buy_credits as buy
from paceline.accounts import change_account, get_account
from paceline.audit import account_subject, changes_of, route_subject
from paceline.errors import ChangedMeanwhile, RequestInvalid, RouteNotFound
from paceline.models import JsonObject, Route
from paceline.moments import iso, to_us
from paceline.routes import all_routes, campaigns_on, change_route, describe_route, get_route, hold_route, route_now
from paceline.routes import put_route as put
from paceline.slots import slow_down
from paceline.table import Put
from tests.builders.core import NOON, SIGNED, World, an_account
from tests.fakes.tables import Killed, killed_before_write, meddled

ANA = replace(SIGNED, key_id="aaaaaaaa", name="Ana", request_id="request-a", at=NOON + timedelta(minutes=1))
BEN = replace(SIGNED, key_id="bbbbbbbb", name="Ben", request_id="request-b", at=NOON + timedelta(minutes=2))


def changes(world: World, subject: str = route_subject("shared")) -> list[JsonObject]:
    return changes_of(world.table, subject)


def test_a_changed_cap_says_who_when_and_from_what_to_what(world: World) -> None:
    change_route(world.table, "shared", {"parts_per_day": 2000}, ANA)
    change_route(world.table, "shared", {"parts_per_day": 100_000, "parts_per_minute": 500}, BEN)

    newest, before, _ = changes(world)

    assert newest == {
        "at": "2026-09-02T16:02:00.000000Z",
        "by": "bbbbbbbb",
        "by_name": "Ben",
        "request_id": "request-b",
        "changes": {
            "parts_per_day": {"before": 2000, "after": 100_000},
            "parts_per_minute": {"before": 240, "after": 500},
        },
    }
    assert before["changes"] == {"parts_per_day": {"before": None, "after": 2000}}


def test_each_cap_shows_who_changed_it_last(world: World) -> None:
    change_route(world.table, "shared", {"parts_per_day": 2000}, ANA)
    change_route(world.table, "shared", {"parts_per_minute": 500}, BEN)

    caps = describe_route(world.table, "shared", NOON)["caps"]

    assert (caps["parts_per_day"]["limit"], caps["parts_per_day"]["changed_by"]) == (2000, "aaaaaaaa")
    assert caps["parts_per_day"]["changed_at"] == "2026-09-02T16:01:00.000000Z"
    assert caps["parts_per_minute"]["changed_by"] == "bbbbbbbb"
    assert (caps["concurrency"]["limit"], caps["concurrency"]["changed_by"]) == (None, None)


def test_none_removes_a_cap_and_the_other_fields_stay(world: World) -> None:
    change_route(world.table, "shared", {"parts_per_day": 2000, "carriers": ("Verizon",)}, ANA)

    change_route(world.table, "shared", {"parts_per_day": None}, BEN)

    assert get_route(world.table, "shared") == Route(name="shared", carriers=("Verizon",))
    assert changes(world)[0]["changes"] == {"parts_per_day": {"before": 2000, "after": None}}


def test_the_same_again_is_no_change(world: World) -> None:
    change_route(world.table, "shared", {"parts_per_day": 2000}, ANA)

    assert not change_route(world.table, "shared", {"parts_per_day": 2000}, BEN)
    assert changes(world)[0]["by"] == "aaaaaaaa"


def test_a_route_that_is_put_whole_keeps_the_pause_that_its_provider_asked_for(world: World) -> None:
    until = slow_down(world.table, "shared", NOON, 60)

    put(world.table, Route(name="shared", parts_per_minute=100), ANA)

    route, signals = route_now(world.table, "shared")
    assert route == Route(name="shared", parts_per_minute=100)
    assert signals.throttled_until == to_us(until)


@pytest.mark.parametrize(
    ("change", "lowered"),
    [
        pytest.param({"parts_per_minute": 30}, True, id="lowered"),
        pytest.param({"parts_per_minute": 500}, False, id="raised"),
        pytest.param({"parts_per_minute": 240}, False, id="the same"),
        pytest.param({"parts_per_day": 10}, False, id="another cap"),  # admission asks for it anyway
    ],
)
def test_a_lowered_pace_is_noted_beside_the_route(world: World, change: dict[str, Any], lowered: bool) -> None:
    change_route(world.table, "shared", change, ANA)

    row = world.table.get(keys.route("shared")) or {}
    assert row.get("caps_lowered_at") == (to_us(ANA.at) if lowered else None)
    assert get_route(world.table, "shared") == Route.model_validate({"name": "shared", **change})


def test_of_two_operators_at_once_the_second_is_told_what_is_there_now(world: World) -> None:
    table = meddled(
        world.table, "transact", lambda: change_route(world.table, "shared", {"parts_per_minute": 500}, ANA)
    )

    with pytest.raises(ChangedMeanwhile) as refused:
        change_route(table, "shared", {"parts_per_minute": 100}, BEN)

    assert refused.value.evidence["now"]["parts_per_minute"] == 500
    assert get_route(world.table, "shared").parts_per_minute == 500
    assert [change["by"] for change in changes(world)] == ["aaaaaaaa", SIGNED.key_id]


def test_a_change_of_a_revision_that_is_past_is_refused(world: World) -> None:
    seen = describe_route(world.table, "shared", NOON)["revision"]
    change_route(world.table, "shared", {"parts_per_minute": 500}, ANA, revision=seen)

    with pytest.raises(ChangedMeanwhile):
        change_route(world.table, "shared", {"parts_per_minute": 100}, BEN, revision=seen)
    assert get_route(world.table, "shared").parts_per_minute == 500


def test_a_pause_of_the_provider_between_reading_and_writing_refuses_no_operator(world: World) -> None:
    table = meddled(world.table, "transact", lambda: slow_down(world.table, "shared", NOON, 60))

    change_route(table, "shared", {"parts_per_minute": 100}, ANA)

    route, signals = route_now(world.table, "shared")
    assert (route.parts_per_minute, signals.throttled_until) == (100, to_us(NOON + timedelta(seconds=60)))


def test_what_stops_a_route_beside_its_caps_is_shown_until_it_is_over(world: World) -> None:
    slow_down(world.table, "shared", NOON, 60)
    hold_route(world.table, "shared", NOON, "sender_unknown")

    pauses = [describe_route(world.table, "shared", NOON + timedelta(minutes=m))["pauses"] for m in (0, 2, 15)]

    held = {"cause": "provider_misconfigured", "until": "2026-09-02T16:15:00.000000Z", "detail": "sender_unknown"}
    throttled = {"cause": "provider_throttled", "until": "2026-09-02T16:01:00.000000Z", "detail": ""}
    assert pauses == [[held, throttled], [held], []]


def test_the_last_change_of_a_route_is_shown_with_who_made_it(world: World) -> None:
    change_route(world.table, "shared", {"parts_per_day": 50}, ANA)
    change_route(world.table, "shared", {"concurrency": 5}, BEN)

    shown = describe_route(world.table, "shared", NOON)

    assert shown["changed"] == {"at": iso(BEN.at), "by": BEN.key_id, "by_name": BEN.name}
    assert shown["caps"]["parts_per_day"]["changed_by_name"] == ANA.name


def test_an_operator_killed_before_the_write_has_changed_and_noted_nothing(world: World) -> None:
    with pytest.raises(Killed):
        change_route(killed_before_write(world.table, 1), "shared", {"parts_per_minute": 100}, ANA)

    assert get_route(world.table, "shared").parts_per_minute == 240
    assert len(changes(world)) == 1


def test_a_route_from_before_the_audit_can_be_changed(world: World) -> None:
    row = world.table.get(keys.route("shared")) or {}
    del row["revision"], row["changed"]
    world.table.put(Put(row))

    change_route(world.table, "shared", {"parts_per_minute": 100}, ANA)

    assert get_route(world.table, "shared").parts_per_minute == 100
    assert describe_route(world.table, "shared", NOON)["revision"] == 1


def test_a_new_route_is_named_in_the_same_transaction(world: World) -> None:
    put(world.table, Route(name="verizon"), ANA)

    assert [route.name for route in all_routes(world.table)] == ["shared", "verizon"]
    assert changes(world, route_subject("verizon"))[0]["changes"]["parts_per_minute"] == {"before": None, "after": 240}


@pytest.mark.parametrize("field", [{"parts_per_minute": None}, {"parts_per_day": 0}, {"time_zone": "Mars/One"}])
def test_what_no_route_can_be_is_refused(world: World, field: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        change_route(world.table, "shared", field, ANA)
    assert len(changes(world)) == 1


def test_a_route_that_does_not_exist_is_not_made_by_a_change(world: World) -> None:
    with pytest.raises(RouteNotFound):
        change_route(world.table, "nowhere", {"parts_per_day": 10}, ANA)
    with pytest.raises(RequestInvalid):
        change_route(world.table, "shared", {"name": "other"}, ANA)


def test_an_accounts_cap_and_status_are_changed_and_its_credits_are_not_touched(world: World) -> None:
    change_account(world.table, "acme", {"parts_per_day": 500, "operational_status": "suspended"}, ANA)

    account = get_account(world.table, "acme")
    assert account == an_account(parts_per_day=500, operational_status="suspended", bought=1000)
    assert changes(world, account_subject("acme"))[0]["changes"] == {
        "operational_status": {"before": "active", "after": "suspended"},
        "parts_per_day": {"before": None, "after": 500},
    }


def test_bought_credits_are_audited_and_two_purchases_at_once_both_count(world: World) -> None:
    table = meddled(world.table, "transact", lambda: buy(world.table, "acme", 7, ANA))

    account = buy(table, "acme", 5, BEN)

    assert (account.available, account.bought) == (1012, 1012)
    newest, before, _ = changes(world, account_subject("acme"))
    assert newest["changes"] == {"bought": {"before": 1007, "after": 1012}}
    assert before["changes"] == {"bought": {"before": 1000, "after": 1007}}


def test_the_campaigns_on_a_route_are_those_whose_turn_its_pace_row_has() -> None:
    row = {"pk": "ROUTE#shared", "sk": "PACE", "next_free": 1, "next_turn": 2, "turn#spring": 3, "turn#autumn": 4}

    assert campaigns_on(row) == ["autumn", "spring"]
    assert campaigns_on({}) == []
