"""Twilio's own list: page by page, recipient, sender, text and time all count, and one match alone is one."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from email.utils import format_datetime
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest

from paceline.adapters.twilio import MOST_PAGES, Twilio
from paceline.adapters.twilio_codes import CODES, Refusal, refusal_of
from paceline.errors import ProviderUnsure
from paceline.ports import Doubt, OutgoingMessage, ProviderRecord
from paceline.report.words import label
from paceline.status import MessageStatus
from tests.builders.core import NOON

MESSAGE = OutgoingMessage("renewals.00001.1", "+12025550100", "+12025550101", "Your renewal is due.", 86_400)
DOUBT = Doubt(NOON - timedelta(minutes=1), NOON + timedelta(minutes=5))
SENT = ProviderRecord("SM1", MessageStatus.SENT, "")


def listed(sid: str = "SM1", seconds: float = 1, **changes: Any) -> dict[str, Any]:
    created = format_datetime(NOON + timedelta(seconds=seconds))
    defaults = {"from": MESSAGE.sender, "to": MESSAGE.phone_number, "body": MESSAGE.text, "date_created": created}
    return {"sid": sid, "status": "sent", "error_code": None} | defaults | changes


def a_twilio(answer: Callable[[httpx.Request], httpx.Response], patch: pytest.MonkeyPatch) -> Twilio:
    patch.setattr(httpx.HTTPTransport, "handle_request", lambda _, request: answer(request))
    return Twilio(lambda: json.dumps({"account_sid": "AC1", "auth_token": "t"}), "https://api.example.com/")


def with_pages(patch: pytest.MonkeyPatch, *pages: list[dict[str, Any]]) -> tuple[Twilio, list[int]]:
    """Twilio with a list of so many pages, and the numbers of those that it was asked for."""
    asked: list[int] = []

    def answer(request: httpx.Request) -> httpx.Response:
        query = parse_qs(request.url.query.decode())
        assert query["To"] == [MESSAGE.phone_number]
        assert query["From"] == [MESSAGE.sender]
        number = int(query.get("Page", ["0"])[0])
        asked.append(number)
        more = f"{request.url.path}?{httpx.QueryParams({**dict(request.url.params), 'Page': str(number + 1)})}"
        following = more if number + 1 < len(pages) else None
        return httpx.Response(200, json={"messages": pages[number], "next_page_uri": following}, request=request)

    return a_twilio(answer, patch), asked


@pytest.mark.parametrize(
    ("found", "record"),
    [
        pytest.param([listed()], SENT, id="the one"),
        pytest.param([listed(seconds=-50)], SENT, id="a clock that is a little behind"),
        pytest.param([listed(seconds=-61)], None, id="from before the claim"),
        pytest.param([listed(seconds=301)], None, id="from long after it"),
        pytest.param([listed(body="Hello")], None, id="another text"),
        pytest.param([listed(**{"from": "+12025550199"})], None, id="another sender"),
        pytest.param([listed("SM0")], None, id="known to be another of ours"),
        pytest.param([listed("SM0"), listed()], SENT, id="beside a known one"),
        pytest.param([listed("SM1"), listed("SM2")], None, id="two that may be it"),
        pytest.param([], None, id="none"),
    ],
)
def test_only_the_one_message_that_it_can_be_is_evidence(
    monkeypatch: pytest.MonkeyPatch, found: list[dict[str, Any]], record: ProviderRecord | None
) -> None:
    twilio, _ = with_pages(monkeypatch, found)

    assert twilio.look_up(MESSAGE, Doubt(DOUBT.since, DOUBT.until, {"SM0"})) == record


def test_a_message_on_a_later_page_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    twilio, asked = with_pages(monkeypatch, [listed("SM8", body="Later")], [listed("SM9", body="Later")], [listed()])

    assert twilio.look_up(MESSAGE, DOUBT) == SENT
    assert asked == [0, 1, 2]


def test_pages_from_before_the_claim_are_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    twilio, asked = with_pages(monkeypatch, [listed(), listed("SM7", seconds=-3600)], [listed("SM6", seconds=-7200)])

    assert twilio.look_up(MESSAGE, DOUBT) == SENT
    assert asked == [0]


def test_a_list_without_an_end_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    twilio, asked = with_pages(monkeypatch, *[[listed(f"SM{n}", body="Hi")] for n in range(MOST_PAGES)], [listed()])

    assert twilio.look_up(MESSAGE, DOUBT) is None
    assert len(asked) == MOST_PAGES


def raises(error: Exception) -> Callable[[httpx.Request], httpx.Response]:
    def answer(_: httpx.Request) -> httpx.Response:
        raise error

    return answer


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(raises(httpx.ReadTimeout("late")), id="silent"),
        pytest.param(raises(httpx.ConnectError("no")), id="unreachable"),
        pytest.param(lambda request: httpx.Response(500, request=request), id="500"),
        pytest.param(lambda request: httpx.Response(429, request=request), id="429"),
        pytest.param(lambda request: httpx.Response(401, json={"code": 20003}, request=request), id="401"),
        pytest.param(lambda request: httpx.Response(200, content=b"{", request=request), id="no JSON"),
        pytest.param(lambda request: httpx.Response(200, json=[1], request=request), id="no object"),
        pytest.param(lambda request: httpx.Response(200, json={}, request=request), id="an empty object"),
    ],
)
def test_no_answer_now_is_no_evidence(
    monkeypatch: pytest.MonkeyPatch, answer: Callable[[httpx.Request], httpx.Response]
) -> None:
    twilio = a_twilio(answer, monkeypatch)

    with pytest.raises(ProviderUnsure):
        twilio.look_up(MESSAGE, DOUBT)
    with pytest.raises(ProviderUnsure):
        twilio.status_of("SM1")


def test_a_message_that_twilio_does_not_know_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    twilio = a_twilio(lambda request: httpx.Response(404, json={"code": 20404}, request=request), monkeypatch)

    assert twilio.status_of("SM1") is None


def test_a_secret_that_twilio_does_not_know_is_read_again_for_the_next_message(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = iter(["old", "new"])
    seen = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["authorization"])
        return httpx.Response(401, json={"code": 20003}, request=request)

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", lambda _, request: answer(request))
    twilio = Twilio(lambda: json.dumps({"account_sid": "AC1", "auth_token": next(tokens)}), "https://api.example.com/")

    for _ in range(2):
        with pytest.raises(Exception, match="not_authenticated"):
            twilio.send(MESSAGE)

    assert len(set(seen)) == 2


def test_a_signature_of_odd_characters_is_a_wrong_one_and_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    twilio, _ = with_pages(monkeypatch)

    assert not twilio.is_signed("https://api.example.com/", {}, "café")


# -- the table of codes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "code", "refusal"),
    [
        (400, "21211", Refusal.FOR_GOOD),
        (400, "21610", Refusal.FOR_GOOD),
        (400, "29999", Refusal.FOR_GOOD),  # unknown: its own message only
        (400, "", Refusal.FOR_GOOD),
        (429, "", Refusal.FOR_NOW),
        (429, "20003", Refusal.FOR_NOW),
        (400, "21611", Refusal.FOR_NOW),  # the queue of the sender is full
        (401, "20003", Refusal.OF_THE_ROUTE),
        (403, "", Refusal.OF_THE_ROUTE),
        (404, "", Refusal.OF_THE_ROUTE),
        (400, "21606", Refusal.OF_THE_ROUTE),
    ],
)
def test_a_refusal_is_for_good_for_now_or_of_the_route(status: int, code: str, refusal: Refusal) -> None:
    assert refusal_of(status, code) is refusal


@pytest.mark.parametrize("code", CODES)
def test_every_cause_of_the_table_has_a_customers_words(code: str) -> None:
    cause, _ = CODES[code]

    assert label(cause) != cause.replace("_", " ").capitalize() or cause in ("opted_out", "account_not_active")
