"""A request is signed so that its customer, and nobody else, can tell who sent it; in a rotation by two secrets."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from paceline.models import Account
from paceline.webhooks.signing import secret_of, secrets_in_use, signed_headers
from tests.unit.webhooks.guide import is_from_paceline_at

MASTER = b"a-master-secret-of-the-tests"
NOW = datetime(2026, 9, 2, 16, tzinfo=UTC)
BODY = '{"id":"evt_renewals_v1","headline":"500 € · “done”"}'


def account(generation: int = 1, rotated_at: datetime | None = None) -> Account:
    return Account(account_id="acme", webhook_generation=generation, webhook_rotated_at=rotated_at)


def verify(headers: dict[str, str], body: bytes, secret: str) -> bool:
    return is_from_paceline_at(NOW, headers, body, secret)


def test_the_guides_ten_lines_take_what_was_signed_and_nothing_else() -> None:
    secret = secret_of(MASTER, "acme", 1)
    headers = signed_headers([secret], "evt_renewals_v1", NOW, BODY)

    assert verify(headers, BODY.encode(), secret)
    assert not verify(headers, BODY.replace("500", "501").encode(), secret)
    assert not verify(headers | {"webhook-id": "evt_renewals_v2"}, BODY.encode(), secret)
    assert not verify(headers | {"webhook-timestamp": str(int(NOW.timestamp()) + 1)}, BODY.encode(), secret)
    assert not verify(headers, BODY.encode(), secret_of(MASTER, "other", 1))
    assert not verify(headers | {"webhook-signature": "v1,"}, BODY.encode(), secret)


def test_an_old_request_that_is_replayed_is_refused() -> None:
    secret = secret_of(MASTER, "acme", 1)

    headers = signed_headers([secret], "evt_renewals_v1", NOW - timedelta(minutes=6), BODY)

    assert not verify(headers, BODY.encode(), secret)


def test_a_signature_is_the_standards_own_example() -> None:
    """Source: the test of Standard Webhooks' reference libraries."""
    at = datetime.fromtimestamp(1614265330, UTC)

    headers = signed_headers(
        ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], "msg_p5jXN8AQM9LWM0D4loKWxJek", at, '{"test": 2432232314}'
    )

    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert headers["webhook-timestamp"] == "1614265330"


def test_each_account_and_generation_has_a_secret_of_its_own() -> None:
    secrets = {secret_of(m, a, g) for m in (MASTER, b"other") for a in ("acme", "acme-1", "acme1") for g in (1, 2, 11)}

    assert len(secrets) == 18
    assert all(re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", secret) for secret in secrets)


@pytest.mark.parametrize(
    ("generation", "hours_since_rotation", "expected"),
    [
        pytest.param(1, None, [1], id="never rotated"),
        pytest.param(2, 0, [2, 1], id="just rotated"),
        pytest.param(2, 23.99, [2, 1], id="almost a day ago"),
        pytest.param(2, 24, [2], id="a day ago"),
        pytest.param(7, 1, [7, 6], id="rotated often: the two newest"),
    ],
)
def test_both_secrets_sign_for_a_day_after_a_rotation(
    generation: int, hours_since_rotation: float | None, expected: list[int]
) -> None:
    rotated_at = None if hours_since_rotation is None else NOW - timedelta(hours=hours_since_rotation)

    secrets = secrets_in_use(MASTER, account(generation, rotated_at), NOW)

    assert secrets == [secret_of(MASTER, "acme", number) for number in expected]


def test_in_a_rotation_a_customer_with_either_secret_takes_the_request() -> None:
    headers = signed_headers(secrets_in_use(MASTER, account(2, NOW), NOW), "evt_renewals_v1", NOW, BODY)

    assert verify(headers, BODY.encode(), secret_of(MASTER, "acme", 1))
    assert verify(headers, BODY.encode(), secret_of(MASTER, "acme", 2))
    assert not verify(headers, BODY.encode(), secret_of(MASTER, "acme", 3))
