"""What a provider's Retry-After means, in seconds from the answer's own date."""

from __future__ import annotations

import pytest

from paceline.adapters.twilio import retry_after_seconds
from tests.builders.core import NOON


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        pytest.param(None, 5, id="none"),
        pytest.param("30", 30, id="seconds"),
        pytest.param("1.5", 1.5, id="a fraction"),
        pytest.param("-3", 0, id="in the past"),
        pytest.param("soon", 5, id="nonsense"),
        pytest.param("", 5, id="empty"),
        pytest.param("Wed, 02 Sep 2026 16:01:00 GMT", 60, id="an HTTP date"),
        pytest.param("Wed, 02 Sep 2026 15:00:00 GMT", 0, id="a date in the past"),
        pytest.param("Wed, 02 Sep 2026 16:01:00 -0000", 60, id="a date of no zone, which is UTC"),
        pytest.param("Wed, 99 Sep 2026 16:01:00 GMT", 5, id="a day that does not exist"),
    ],
)
def test_a_retry_after_is_seconds_or_a_date(header: str | None, seconds: float) -> None:
    assert retry_after_seconds(header, NOON) == seconds
