"""One account never sees, guesses or touches another's: every route of the document, walked with foreign keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from paceline.api_keys import store_key
from paceline.campaign_ids import own_id
from sandbox.gateway import Answer
from tests.builders.api import NAMES, Operation, operations
from tests.builders.campaigns import CUSTOMER, OPERATOR, Office, Refusal, an_office
from tests.builders.core import phone_number

STRANGER = "pk_stranger_key-of-the-tests-stranger"
SECRETS = ("Confidential renewals", "Hi Ana", "Hi {{first_name}}", phone_number(1), phone_number(77), "uploads/")
OPERATIONS = operations()


@pytest.fixture(scope="module")
def office() -> Iterator[Office]:
    """Account acme with a campaign that ran, one that waits, and an opt-out; account other with a key."""
    with an_office(credits=100) as office:
        office.start(3, name="Confidential renewals")
        office.report()
        office.post("/v1/campaigns", {"campaign_id": "waiting", "name": "Confidential renewals", "message": "Hi"})
        office.post("/v1/opt-outs", {"phone_numbers": [phone_number(77)]})
        office.post("/v1/admin/accounts", {"account_id": "other"}, OPERATOR)
        store_key(office.table, office.sandbox.key_pepper, STRANGER, "other", "customer")
        office.call("PATCH", "/v1/account", {"webhook_url": "https://hooks.customer.example/other"}, STRANGER)
        yield office


def ask(office: Office, operation: Operation, key: str, query: str = "", **names: str) -> Answer:
    address = operation.address(**names) + query
    return office.sandbox.call_api(operation.method, address, operation.body, key)


def state(office: Office) -> list[dict[str, Any]]:
    """Return all that a stranger could have changed."""
    paths = ("/v1/campaigns/renewals", "/v1/campaigns/waiting", "/v1/opt-outs", "/v1/account")
    answers = [office.call("GET", path) | {"as_of": ""} for path in paths]
    return [*answers, *office.call("GET", "/v1/routes")["routes"]]


def is_anothers(operation: Operation) -> bool:
    return operation.path.startswith("/v1/admin/") or bool(set(operation.names) - {"name"})


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.operation_id)
def test_a_foreign_key_gets_nothing_and_changes_nothing(office: Office, operation: Operation) -> None:
    before = state(office)

    answer = ask(office, operation, STRANGER)

    assert not [secret for secret in SECRETS if secret.encode() in answer.body]
    if is_anothers(operation):
        assert answer.status in (403, 404)
        assert answer.headers["content-type"] == "application/problem+json"
    else:
        assert answer.status == 200
        assert b"acme" not in answer.body
        assert b"renewals" not in answer.body
    assert state(office) == before


@pytest.mark.parametrize("operation", [one for one in OPERATIONS if "campaign_id" in one.names], ids=lambda o: o.path)
def test_another_accounts_campaign_and_none_are_told_apart_by_nothing(office: Office, operation: Operation) -> None:
    anothers = ask(office, operation, STRANGER)
    nobodys = ask(office, operation, STRANGER, campaign_id="nobodys1")
    chosen = NAMES["campaign_id"]

    assert anothers.status == nobodys.status
    assert anothers.headers == nobodys.headers
    assert anothers.body.replace(chosen.encode(), b"nobodys1") == nobodys.body


@pytest.mark.parametrize(
    "operation",
    [one for one in OPERATIONS if any(p["name"] == "account_id" for p in one.definition.get("parameters", []))],
    ids=lambda operation: operation.operation_id,
)
def test_no_stranger_names_another_account(office: Office, operation: Operation) -> None:
    answer = ask(office, operation, STRANGER, "?account_id=acme")

    assert answer.status == 403
    assert not [secret for secret in SECRETS if secret.encode() in answer.body]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/campaigns", {"account_id": "acme", "name": "Mine", "message": "Hi"}, 403),
        ("/v1/opt-outs", {"account_id": "acme", "phone_numbers": [phone_number(5)]}, 403),
    ],
    ids=["a campaign for another account", "another account's opt-out"],
)
def test_no_stranger_posts_for_another_account(office: Office, path: str, body: dict[str, Any], status: int) -> None:
    before = state(office)

    with pytest.raises(Refusal) as refused:
        office.post(path, body, STRANGER)

    assert refused.value.status == status
    assert not [secret for secret in SECRETS if secret in str(refused.value.problem)]
    assert state(office) == before


@pytest.mark.parametrize("chosen", ["renewals", "waiting", "nobodys2", NAMES["campaign_id"]])
def test_an_id_that_another_account_chose_is_free_and_names_the_own_campaign(office: Office, chosen: str) -> None:
    before = state(office)

    made = office.post("/v1/campaigns", {"campaign_id": chosen, "name": "Mine", "message": "Hi"}, STRANGER)
    shown = office.call("GET", f"/v1/campaigns/{chosen}", key=STRANGER)

    assert made["campaign_id"] == shown["campaign_id"] == own_id("other", chosen)
    assert shown["account_id"] == "other"
    assert state(office) == before


def test_an_idempotency_key_of_another_account_is_another_key(office: Office) -> None:
    body = {"name": "Mine", "message": "Hi"}
    ours = office.sandbox.call_api("POST", "/v1/campaigns", body, CUSTOMER, idempotency_key="spring")

    theirs = office.sandbox.call_api("POST", "/v1/campaigns", body, STRANGER, idempotency_key="spring")

    assert (ours.status, theirs.status) == (200, 200)
    assert b'"account_id":"other"' in theirs.body.replace(b": ", b":")


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.operation_id)
def test_a_revoked_key_opens_no_route_from_the_next_request_on(office: Office, operation: Operation) -> None:
    key_id = f"ended{OPERATIONS.index(operation)}"
    key = f"pk_{key_id}_a-key-that-is-revoked"
    store_key(office.table, office.sandbox.key_pepper, key, "acme", "operator")
    assert office.sandbox.call_api("GET", "/v1/routes", None, key).status == 200

    office.post(f"/v1/admin/keys/{key_id}/revoke", key=OPERATOR)

    assert ask(office, operation, key).status == 403


def test_the_walk_has_a_name_for_every_address() -> None:
    assert {name for operation in OPERATIONS for name in operation.names} == set(NAMES)
    assert len(OPERATIONS) > 25
