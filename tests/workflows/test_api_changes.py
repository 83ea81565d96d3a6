"""Every change by an operator is kept with its author, and none overwrites another unseen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from paceline.api_keys import key_id_of
from tests.builders.campaigns import CUSTOMER, OPERATOR, Office, Refusal, an_office, id_of

BY = key_id_of(OPERATOR)


@pytest.fixture(scope="module")
def idle() -> Iterator[Office]:
    with an_office() as office:
        yield office


def patch(office: Office, path: str, body: dict[str, Any], key: str = OPERATOR) -> dict[str, Any]:
    return office.call("PATCH", path, body, key)


def refused(office: Office, method: str, path: str, body: object = None, key: str = OPERATOR) -> Refusal:
    with pytest.raises(Refusal) as refusal:
        office.call(method, path, body, key)
    return refusal.value


def test_one_cap_is_changed_alone_and_its_author_is_shown(idle: Office) -> None:
    patch(idle, "/v1/admin/routes/shared", {"parts_per_day": 2000})
    changed = patch(idle, "/v1/admin/routes/shared", {"parts_per_day": 100_000})

    [newest, before, made] = idle.call("GET", "/v1/admin/routes/shared/changes", key=OPERATOR)["changes"]
    [route] = idle.call("GET", "/v1/routes")["routes"]

    assert (changed["parts_per_day"], changed["parts_per_minute"]) == (100_000, 240)
    assert newest["changes"] == {"parts_per_day": {"before": 2000, "after": 100_000}}
    assert before["changes"] == {"parts_per_day": {"before": None, "after": 2000}}
    assert {newest["by"], before["by"], made["by"]} == {BY}
    assert route["caps"]["parts_per_day"]["changed_by"] == BY
    assert route["caps"]["parts_per_day"]["changed_at"] == newest["at"]
    assert route["changed"] == {name: newest[name] for name in ("at", "by", "by_name")}
    assert route["caps"]["parts_per_minute"]["changed_by_name"] == made["by_name"]
    assert route["pauses"] == []


def test_null_removes_a_cap_and_what_is_no_cap_is_refused(idle: Office) -> None:
    patch(idle, "/v1/admin/routes/shared", {"parts_per_day": 2000})

    assert patch(idle, "/v1/admin/routes/shared", {"parts_per_day": None})["parts_per_day"] is None
    for wrong in ({"parts_per_minute": None}, {"parts_per_day": 0}, {"parts_per_dya": 5}, {"name": "other"}):
        assert refused(idle, "PATCH", "/v1/admin/routes/shared", wrong).status == 422


def test_a_change_of_what_somebody_else_changed_meanwhile_is_refused_with_what_is_there_now(idle: Office) -> None:
    seen = idle.call("GET", "/v1/routes/shared")["revision"]
    patch(idle, "/v1/admin/routes/shared", {"parts_per_minute": 500})

    answer = idle.sandbox.call_api(
        "PATCH", "/v1/admin/routes/shared", {"parts_per_minute": 100}, OPERATOR, if_match=f'"{seen}"'
    )

    assert answer.status == 409
    assert b'"parts_per_minute": 500' in answer.body
    assert patch(idle, "/v1/admin/routes/shared", {"parts_per_minute": 240})["parts_per_minute"] == 240


def test_changes_of_an_account_its_credits_and_its_keys_are_kept(idle: Office) -> None:
    patch(idle, "/v1/admin/accounts/acme", {"parts_per_day": 500, "name": "Acme"})
    idle.buy(7)
    key = idle.post("/v1/admin/keys", {"account_id": "acme", "name": "Acme's CRM"}, OPERATOR)

    found = idle.call("GET", "/v1/admin/accounts/acme/changes", key=OPERATOR)["changes"]
    patch(idle, "/v1/admin/accounts/acme", {"parts_per_day": None})

    assert [sorted(change["changes"]) for change in found] == [
        [f"key {key['key_id']}"],
        ["bought"],
        ["name", "parts_per_day"],
        ["bought"],
    ]
    assert found[1]["changes"]["bought"] == {"before": 1000, "after": 1007}
    assert {change["by"] for change in found} == {BY}


def test_a_weight_that_takes_a_share_from_others_is_kept_with_who_gave_it(idle: Office) -> None:
    campaign = {"campaign_id": "heavy", "account_id": "acme", "name": "Heavy", "message": "Hi", "weight": 3}
    idle.post("/v1/campaigns", campaign, OPERATOR)

    [newest, *_] = idle.call("GET", "/v1/admin/accounts/acme/changes", key=OPERATOR)["changes"]

    assert newest["changes"] == {f"weight of campaign {id_of('heavy')}": {"before": 1, "after": 3}}
    assert newest["by"] == BY


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PATCH", "/v1/admin/routes/shared"),
        ("PATCH", "/v1/admin/accounts/acme"),
        ("GET", "/v1/admin/routes/shared/changes"),
        ("GET", "/v1/admin/accounts/acme/changes"),
    ],
)
def test_a_customers_key_neither_changes_nor_reads_changes(idle: Office, method: str, path: str) -> None:
    body = {} if method == "PATCH" else None

    assert refused(idle, method, path, body, CUSTOMER).status == 403


def test_a_route_that_does_not_exist_is_not_found(idle: Office) -> None:
    for method, path, body in (
        ("GET", "/v1/routes/nowhere", None),
        ("GET", "/v1/admin/routes/nowhere/changes", None),
        ("PATCH", "/v1/admin/routes/nowhere", {"parts_per_day": 5}),
    ):
        assert refused(idle, method, path, body).status == 404
