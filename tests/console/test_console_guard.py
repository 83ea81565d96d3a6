"""What every answer of the console carries, and by which names it is called."""

from __future__ import annotations

import pytest

from tests.builders.console import FakeApi, a_console

EMPTY = {"GET /v1/routes": {"routes": []}}


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:4601", "127.0.0.1.evil.example", "", "[", "0x7f000001", "user@127.0.0.1.x"]
)
@pytest.mark.parametrize("address", ["/routes", "/live/routes", "/static/console.js", "/sign-in"])
def test_a_name_that_is_none_of_the_consoles_reads_nothing(host: str, address: str) -> None:
    browser = a_console(FakeApi(EMPTY))

    answer = browser.get(address, host=host)

    assert answer.status_code == 421
    assert "--allow-host" in answer.text
    assert "set-cookie" not in answer.headers
    assert browser.api.asked == []


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:4601", "localhost:1234", "LOCALHOST"])
def test_its_own_names_are_taken_with_any_port(host: str) -> None:
    assert a_console(FakeApi(EMPTY)).get("/routes", host=host).status_code == 200


@pytest.mark.parametrize("address", ["/routes", "/nowhere", "/static/console.js", "/sign-in"])
def test_every_answer_forbids_what_a_page_needs_not(address: str) -> None:
    headers = a_console(FakeApi(EMPTY)).get(address).headers

    policy = dict(one.strip().partition(" ")[::2] for one in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["form-action"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"


def test_pages_are_not_kept_by_browsers_and_proxies() -> None:
    browser = a_console(FakeApi(EMPTY))

    assert browser.get("/routes").headers["cache-control"] == "no-store"
    assert browser.get("/nowhere").headers["cache-control"] == "no-store"


def test_a_form_larger_than_any_of_ours_does_nothing() -> None:
    browser = a_console(FakeApi(EMPTY))

    answer = browser.post("/accounts/acme/credits/confirmed", credits="5", once="a" * 32, more="x" * 70_000)

    assert (answer.status_code, browser.api.writes()) == (303, [])


def test_an_address_without_a_page_says_so_and_runs_nothing() -> None:
    answer = a_console(FakeApi(EMPTY)).get("/<script>alert(1)</script>")

    assert answer.status_code == 404
    assert "<script>alert" not in answer.text
