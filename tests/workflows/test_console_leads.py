"""The console's pages of leads, of a campaign in the sandbox: lives with nobody's number, not even in an address."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import httpx
import pytest

from paceline.adapters.s3 import S3Store
from tests.builders.campaigns import Office, a_file, an_office, id_of
from tests.builders.console import Browser, FakeApi, a_console, a_system
from tests.builders.core import phone_number

NAME = id_of("renewals")
LIFE = f"/leads?campaign={NAME}&lead="


def _messages(request: httpx.Request) -> httpx.Response:
    """Two pages of messages, as the API lists them."""
    after = int(request.url.params.get("after", "0"))
    listed = [
        {"lead_no": n, "route": "shared", "parts": 1, "status": "sent", "cause": "", "sent_at": None, "final_at": None}
        for n in range(after + 1, min(after + 50, 60) + 1)
    ]
    return httpx.Response(200, json={"messages": listed, "next": None if after else "50"})


@pytest.fixture(scope="module")
def office() -> Iterator[Office]:
    """A finished campaign of 60 leads, and a row of the file that repeats the first one's number."""
    with an_office() as made:
        made.start(a_file(60) + a_file(1).splitlines()[1] + b"\n")
        made.report()
        yield made


@pytest.fixture
def browser(office: Office) -> Browser:
    store = S3Store(boto3.client("s3"), office.sandbox.outputs["BucketName"])
    api = FakeApi({f"GET /v1/campaigns/{NAME}/messages": _messages})
    return a_console(api, system=a_system(table=office.table, store=store))


def number_of(lead_no: int) -> str:
    return phone_number(lead_no)


def test_a_life_is_told_by_number_and_by_row_with_four_digits(browser: Browser) -> None:
    by_number, by_row = browser.get(LIFE + "17").text, browser.get(LIFE + "row:18").text

    assert "the provider took it as" in by_number
    assert "What the rows do not tell" in by_number
    assert f"…{number_of(17)[-4:]}" in by_number
    assert number_of(17)[2:] not in by_number
    assert "Lead 17 (row 18," in by_row
    assert f'href="/leads/reveal?campaign={NAME}&amp;lead=17"' in by_number


def test_a_phone_number_is_posted_and_leads_to_an_address_without_it(browser: Browser) -> None:
    answer = browser.post("/leads", campaign=NAME, lead=number_of(17))

    assert (answer.status_code, answer.headers["location"]) == (303, LIFE + "17")
    assert number_of(17)[2:] not in str(answer.headers)


def test_a_phone_number_in_an_address_is_not_looked_up_nor_shown_again(browser: Browser) -> None:
    page = browser.client.get("/leads", params={"campaign": NAME, "lead": number_of(17)}).text

    assert "A phone number does not belong in an address" in page
    assert "Life of a lead" not in page
    assert number_of(17)[2:] not in page.partition("<main")[2].partition(">")[2]


def test_a_row_that_was_left_out_is_told_by_its_row(browser: Browser) -> None:
    page = browser.get(LIFE + "row:62").text

    assert "No message was planned for this lead" in page
    assert "a duplicate" in page
    assert "/leads/reveal" not in page


@pytest.mark.parametrize(
    ("lead", "told"),
    [("+12125550199", "The campaign has no such lead"), ("somebody", "Name the lead by its number")],
)
def test_who_is_not_found_is_said_without_the_number(browser: Browser, lead: str, told: str) -> None:
    answer = browser.post("/leads", campaign=NAME, lead=lead)

    assert answer.status_code == 404
    assert told in answer.text
    assert f'value="{NAME}"' in answer.text
    assert lead not in answer.text


@pytest.mark.parametrize("address", [f"{LIFE}999", "/leads?campaign=nothing&lead=1", "/leads?campaign=nothing"])
def test_what_is_not_there_is_said_beside_the_form(browser: Browser, address: str) -> None:
    page = browser.get(address).text

    assert 'role="alert"' in page.partition("<main")[2]
    assert 'name="campaign"' in page


def test_without_a_campaign_there_is_the_form_and_what_to_do(browser: Browser) -> None:
    assert "Which lead?" in browser.get("/leads").text
    assert "Which campaign?" in browser.post("/leads", campaign="", lead="17").text


def test_a_blank_lead_leads_to_the_campaigns_messages_page_by_page(browser: Browser) -> None:
    to = browser.post("/leads", campaign=NAME, lead="").headers["location"]
    first, second = browser.get(to).text, browser.get(f"{to}&page=2").text

    assert f'href="/leads?campaign={NAME}&amp;lead=17"' in first
    assert f'href="?campaign={NAME}&amp;page=2"' in first
    assert "Lead 60" in second
    assert not [one for one in range(1, 61) if number_of(one)[2:] in first + second]


def test_a_lead_is_looked_for_once_while_its_life_is_watched(browser: Browser, monkeypatch: Any) -> None:
    found: list[str] = []
    read = S3Store.get
    monkeypatch.setattr(S3Store, "get", lambda store, key: found.append(key) or read(store, key))

    browser.get(LIFE + "17")
    first = len(found)
    browser.get(LIFE + "17")

    assert len(found) - first < first
