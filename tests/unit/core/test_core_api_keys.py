"""API keys: nothing in the table opens anything, revoked is revoked, and the audit says by whom."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paceline.api_keys import create_key, find_key, key_id_of, keys_of, revoke_key, store_key
from paceline.audit import account_subject, changes_of
from paceline.errors import ObjectNotFound
from paceline.table import Row, TransactionRefused
from tests.builders.core import SIGNED, World

PEPPER = b"a pepper of thirty-two characters"
KEY = "pk_a1b2c3d4e5f6_the-secret-that-nobody-guesses"
ANA = replace(SIGNED, key_id="aaaaaaaa", name="Ana", request_id="request-a")


def made(world: World) -> str:
    return create_key(world.table, PEPPER, KEY, "acme", "customer", "Acme's CRM", ANA)


def found(world: World, api_key: str = KEY, pepper: bytes = PEPPER) -> Row | None:
    return find_key(world.table, pepper, api_key)


def test_a_key_has_a_public_id_that_the_audit_shows_and_its_secret_is_nowhere(world: World) -> None:
    key_id = made(world)

    [change, _] = changes_of(world.table, account_subject("acme"))
    assert key_id == key_id_of(KEY) == "a1b2c3d4e5f6"
    assert change["changes"] == {
        f"key {key_id}": {"before": None, "after": {"scope": "customer", "name": "Acme's CRM"}}
    }
    assert "the-secret" not in str([change, found(world), keys_of(world.table, "acme")])


def test_the_right_key_is_found_with_its_account_and_scope(world: World) -> None:
    made(world)

    row = found(world)

    assert row is not None
    assert (row["account_id"], row["scope"], row["name"]) == ("acme", "customer", "Acme's CRM")


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param("", id="none"),
        pytest.param("pk_a1b2c3d4e5f6_the-secret-that-nobody-guessed", id="the id with another secret"),
        pytest.param("pk_a1b2c3d4e5f6_", id="the id alone"),
        pytest.param("a1b2c3d4e5f6", id="the bare id"),
        pytest.param("pk_ffffffffffff_the-secret-that-nobody-guesses", id="the secret with another id"),
        pytest.param(KEY + "\n", id="with a line's end"),
        pytest.param(f" {KEY}", id="with a blank before"),
    ],
)
def test_any_other_text_is_no_key(world: World, wrong: str) -> None:
    made(world)

    assert found(world, wrong) is None


def test_without_the_pepper_the_tables_hash_answers_for_no_key(world: World) -> None:
    made(world)

    assert found(world, pepper=b"") is None


def test_a_revoked_key_opens_nothing_and_the_audit_says_who_did_it(world: World) -> None:
    key_id = made(world)

    shown = revoke_key(world.table, key_id, replace(ANA, request_id="request-b"))
    again = revoke_key(world.table, key_id, replace(ANA, key_id="bbbbbbbb", request_id="request-c"))

    assert found(world) is None
    assert shown == again
    assert (shown["revoked_by"], shown["revoked_at"]) == ("aaaaaaaa", again["revoked_at"])
    newest, *_ = changes_of(world.table, account_subject("acme"))
    assert newest["changes"] == {
        f"key {key_id}": {"before": {"scope": "customer", "name": "Acme's CRM"}, "after": None},
    }
    assert newest["request_id"] == "request-b"


def test_revoking_what_is_no_key_is_an_error(world: World) -> None:
    with pytest.raises(ObjectNotFound):
        revoke_key(world.table, "ffffffffffff", ANA)


def test_an_accounts_keys_are_listed_without_their_hashes_and_nobody_elses(world: World) -> None:
    made(world)
    store_key(world.table, PEPPER, "pk_other1_the-secret-of-another-account", "other", "customer")

    [shown] = keys_of(world.table, "acme")

    assert (shown["key_id"], shown["created_by"], shown["revoked_at"]) == ("a1b2c3d4e5f6", "aaaaaaaa", None)
    assert "digest" not in shown


def test_a_key_never_takes_another_ones_place(world: World) -> None:
    made(world)

    with pytest.raises(TransactionRefused):
        store_key(world.table, PEPPER, "pk_a1b2c3d4e5f6_another-secret-of-somebody", "other", "operator")
    assert found(world) is not None


def test_hashes_are_compared_in_a_time_that_says_nothing_of_where_they_differ(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[str, str]] = []
    monkeypatch.setattr("hmac.compare_digest", lambda ours, theirs: bool(compared.append((ours, theirs))))
    store_key(world.table, PEPPER, KEY, "acme", "customer")

    assert find_key(world.table, PEPPER, KEY) is None  # by that comparison alone

    [(ours, theirs)] = compared
    assert ours == theirs
    assert len(ours) == 64
