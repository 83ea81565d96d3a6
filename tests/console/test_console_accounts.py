"""Accounts in the web console: shown with nobody's whole number and no key, and changed once each time it is wanted."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.builders.console import Browser, FakeApi, a_console, a_system, hidden, refusal

DAY = {"time_zone": "America/New_York", "used": 123, "limit": 800, "resets_at": "2026-09-03T04:00:00Z"}
ACCOUNT = {
    "account_id": "acme",
    "name": "<b>Acme</b>",
    "available": 900,
    "reserved": 60,
    "consumed": 40,
    "bought": 1000,
    "compliance_status": "approved",
    "operational_status": "active",
    "parts_per_day": 800,
    "sending_window": None,
    "routing": {"carriers": {}, "otherwise": None},
    "help_text": "",
    "charging": {"charged": "submitted", "filtered": True},
    "in_doubt": "never_resend",
    "webhook_url": None,
    "day_use": [DAY],
}
KEYS = [
    {
        "key_id": "aaaa1111",
        "name": "<i>CI</i>",
        "created_at": "2026-09-02T16:00:00Z",
        "created_by": "operator",
        "revoked_at": None,
        "revoked_by": None,
    },
    {
        "key_id": "bbbb2222",
        "name": "",
        "created_at": "2026-09-02T16:00:00Z",
        "created_by": "operator",
        "revoked_at": "2026-09-02T17:00:00Z",
        "revoked_by": "0123456789ab",
    },
]
CHANGES = [
    {
        "at": "2026-09-02T16:00:00Z",
        "by": "0123456789ab",
        "by_name": "Ada",
        "changes": {"key aaaa1111": {"before": None, "after": {"scope": "customer", "name": "<i>CI</i>"}}},
    }
]
NO_ENTRY = dict.fromkeys(
    ("bought", "by", "by_name", "campaign_id", "name", "status", "reserved", "consumed", "released", "waived")
)
USED = {
    "campaign_id": "spring",
    "name": "<i>Spring",
    "status": "running",
    "reserved": 60,
    "consumed": 40,
    "released": 7,
}
LEDGER = [
    NO_ENTRY | USED | {"at": "2026-09-02T16:00:00Z", "kind": "campaign", "waived": 0},
    NO_ENTRY | {"at": "2026-09-01T16:00:00Z", "kind": "bought", "bought": 1000, "by": "operator", "by_name": "Ada"},
]


class Rows:
    """The rows of a table, by key."""

    def __init__(self, rows: dict[tuple[str, str], dict[str, Any]]) -> None:
        self.rows = rows

    def get(self, key: tuple[str, str]) -> dict[str, Any] | None:
        return self.rows.get(key)


def a_browser(**account: Any) -> Browser:
    found = ACCOUNT | account
    known: dict[str, Any] = {
        "GET /v1/admin/accounts": {"accounts": [found], "next": None},
        "GET /v1/admin/accounts/acme": found,
        "GET /v1/admin/accounts/acme/changes": {"changes": CHANGES},
        "GET /v1/admin/accounts/acme/ledger": {"entries": LEDGER, "next": None},
        "GET /v1/admin/keys": {"keys": KEYS},
        "PATCH /v1/admin/accounts/acme": found | {"released_batches": 3},
        "POST /v1/admin/accounts/acme/credits": found | {"available": 3400, "released_batches": 3},
        "POST /v1/admin/keys": {"api_key": "pk_made_secretsecret", "key_id": "cccc3333", "name": "x"},
        "POST /v1/admin/keys/aaaa1111/revoke": KEYS[0],
    }
    row = {("ACCOUNT#acme", "ACCOUNT"): {"revision": 4}}
    return a_console(FakeApi(known), system=a_system(table=Rows(row)))


def without_token(page: str) -> dict[str, str]:
    return {name: value for name, value in hidden(page).items() if name != "token"}


def test_accounts_are_listed_with_their_credits() -> None:
    page = a_browser().get("/accounts").text

    assert '<a href="/accounts/acme">' in page
    assert "&lt;b&gt;Acme&lt;/b&gt;" in page
    assert '<td class="number" data-name="Available">900</td>' in page


@pytest.mark.parametrize(
    ("search", "told"), [("ACM", "/accounts/acme"), ("<script>", "No account&#39;s id or name has")]
)
def test_accounts_are_searched_by_id_and_name(search: str, told: str) -> None:
    page = a_browser().client.get("/accounts", params={"search": search}).text.partition("<main")[2]

    assert told in page.replace("No account's", "No account&#39;s")
    assert "<script>" not in page


def test_no_account_is_said() -> None:
    browser = a_console(FakeApi({"GET /v1/admin/accounts": {"accounts": [], "next": None}}))

    assert "There is no account yet" in browser.get("/accounts").text


def test_an_account_shows_a_sum_that_closes_its_day_and_its_ledger() -> None:
    page = a_browser().get("/accounts/acme").text

    assert '<span class="sign" aria-hidden="true">=</span>' in page
    assert "does not close" not in page
    assert "America/New_York: 123 of 800 used" in page
    assert '<a href="/campaigns/spring">' in page
    assert "scope customer, name &lt;i&gt;CI&lt;/i&gt;" in page


@pytest.mark.parametrize("consumed", [39, 41])
def test_a_sum_that_does_not_close_is_said(consumed: int) -> None:
    page = a_browser(consumed=consumed).get("/accounts/acme").text

    assert "The sum does not close" in page
    assert "≠" in page


def test_a_ledger_reads_every_batch_so_it_is_asked_for_once_in_a_while() -> None:
    browser = a_browser()

    pages = [browser.get("/accounts/acme").text for _ in range(3)]

    assert "&lt;i&gt;Spring" in pages[0]
    assert '<td class="number" data-name="Released">7</td>' in pages[0]
    assert len([one for one in browser.api.asked if one.url.path.endswith("/ledger")]) <= 2  # the while may just end
    assert {one.url.params["limit"] for one in browser.api.asked if one.url.path.endswith("/ledger")} == {"10"}


def test_an_account_that_is_not_there_is_said() -> None:
    answer = a_browser().get("/accounts/nobody")

    assert answer.status_code == 404
    assert "There is nothing at /v1/admin/accounts/nobody." in answer.text


# -- opt-outs --


def _opt_outs(request: httpx.Request) -> httpx.Response:
    """Two pages, whose place is a number in disguise, as the API's is."""
    start = 50 if request.url.params.get("after") == "IisxMjAyNTU1MDE0OSI" else 0
    listed = [
        {"phone_number": f"+1202555{100 + n:04}", "opted_out_at": "2026-09-02T16:00:00Z", "source": "import"}
        for n in range(start, min(start + 50, 80))
    ]
    return httpx.Response(200, json={"opt_outs": listed, "next": None if start else "IisxMjAyNTU1MDE0OSI"})


def test_opt_outs_show_four_digits_and_no_address_holds_a_number_not_even_in_disguise() -> None:
    browser = a_browser()
    browser.api.answers["GET /v1/opt-outs"] = _opt_outs

    first, second = (browser.get(f"/accounts/acme/opt-outs?page={page}").text for page in (1, 2))
    afresh = a_browser()
    afresh.api.answers["GET /v1/opt-outs"] = _opt_outs

    assert "…0100" in first
    assert 'href="?page=2"' in first
    assert "…0150" in second
    assert "…0150" in afresh.get("/accounts/acme/opt-outs?page=2").text
    for page in (first, second):
        assert "2025550" not in page
        assert "IisxMjAy" not in page


@pytest.mark.parametrize("page", ["0", "-1", "x", "9" * 400, "٢", "3"])
def test_a_page_that_is_not_there_is_the_nearest_one(page: str) -> None:
    browser = a_browser()
    browser.api.answers["GET /v1/opt-outs"] = _opt_outs

    assert browser.client.get("/accounts/acme/opt-outs", params={"page": page}).status_code == 200


# -- changes --

TYPED = {
    "name": "Acme Insurance",
    "parts_per_day": "",
    "operational_status": "suspended",
    "compliance_status": "approved",
    "in_doubt": "never_resend",
}


def test_a_change_is_shown_and_then_made_to_the_revision_that_was_seen() -> None:
    browser = a_browser()

    review = browser.post("/accounts/acme/change", revision="4", **TYPED).text
    done = browser.post("/accounts/acme/change/confirmed", **without_token(review))

    assert "operational status: active → suspended" in review
    assert "parts per day: 800 → none" in review
    assert "name: &lt;b&gt;Acme&lt;/b&gt; → Acme Insurance" in review
    assert done.headers["location"] == "/accounts/acme"
    [(what, body, headers)] = browser.api.writes()
    assert (what, headers["if-match"]) == ("PATCH /v1/admin/accounts/acme", "4")
    assert body == {**TYPED, "parts_per_day": None}


def test_a_status_that_there_is_not_is_refused() -> None:
    browser = a_browser()

    answer = browser.post("/accounts/acme/change", revision="4", **{**TYPED, "operational_status": "gone"})

    assert (answer.status_code, browser.api.writes()) == (422, [])
    assert "Choose one of" in answer.text


# -- credits --


def test_credits_are_added_once_however_often_the_page_is_sent() -> None:
    browser = a_browser()

    review = browser.post("/accounts/acme/credits", credits="2,500").text
    for _ in range(2):
        done = browser.post("/accounts/acme/credits/confirmed", **without_token(review))

    assert "available: 900 → 3,400" in review
    assert done.headers["location"] == "/accounts/acme"
    assert {json.dumps(body) for _, body, _ in browser.api.writes()} == {'{"credits": 2500}'}
    [once] = {headers["idempotency-key"] for _, _, headers in browser.api.writes()}
    another = hidden(browser.post("/accounts/acme/credits", credits="2,500").text)["once"]
    assert once != f"console-{another}"


def test_credits_that_may_be_added_or_not_are_tried_again_by_the_same_word() -> None:
    browser = a_browser()
    review = browser.post("/accounts/acme/credits", credits="5").text
    browser.api.answers["POST /v1/admin/accounts/acme/credits"] = refusal(503, "It may be done or not.")

    again = browser.post("/accounts/acme/credits/confirmed", **without_token(review))

    assert again.status_code == 503
    assert "It may be done or not." in again.text
    assert hidden(again.text)["once"] == hidden(review)["once"]


@pytest.mark.parametrize("credits", ["", "0", "-1", "1e9", "lots"])
def test_what_is_no_number_of_credits_is_said(credits: str) -> None:
    browser = a_browser()

    answer = browser.post("/accounts/acme/credits", credits=credits)

    assert (answer.status_code, browser.api.writes()) == (422, [])
    assert "Write a whole number from 1" in answer.text


# -- keys --


def test_a_new_key_is_in_its_answer_alone() -> None:
    browser = a_browser()
    form = without_token(browser.get("/accounts/acme/keys/new").text)

    made = browser.post("/accounts/acme/keys/new", **form, name="CI")

    assert "pk_made_secretsecret" in made.text
    assert made.headers["cache-control"] == "no-store"
    assert "data-live" not in made.text
    assert [body for _, body, _ in browser.api.writes()] == [{"account_id": "acme", "name": "CI"}]
    for address in ("/accounts/acme", "/accounts/acme/keys/new"):
        assert "secretsecret" not in browser.get(address).text


def test_a_form_that_is_sent_twice_makes_one_key() -> None:
    browser = a_browser()
    form = without_token(browser.get("/accounts/acme/keys/new").text)

    browser.post("/accounts/acme/keys/new", **form, name="CI")
    again = browser.post("/accounts/acme/keys/new", **form, name="CI")

    assert len(browser.api.writes()) == 1
    assert again.status_code == 303
    assert "was made by that form already" in browser.get("/accounts/acme").text


def test_a_key_is_revoked_after_a_question() -> None:
    browser = a_browser()

    question = browser.post("/accounts/acme/keys/aaaa1111/revoke")
    before = browser.api.writes()
    done = browser.post("/accounts/acme/keys/aaaa1111/revoke/confirmed")

    assert "It cannot be undone" in question.text
    assert before == []
    assert [what for what, _, _ in browser.api.writes()] == ["POST /v1/admin/keys/aaaa1111/revoke"]
    assert done.headers["location"] == "/accounts/acme"


def test_a_revoked_key_has_no_button_and_a_refusal_is_told() -> None:
    browser = a_browser()
    browser.api.answers["POST /v1/admin/keys/aaaa1111/revoke"] = refusal(422, "This is the key that you call with.")

    browser.post("/accounts/acme/keys/aaaa1111/revoke/confirmed")
    page = browser.get("/accounts/acme").text

    assert "This is the key that you call with." in page
    assert "/keys/aaaa1111/revoke" in page
    assert "/keys/bbbb2222/revoke" not in page


@pytest.mark.parametrize(
    "address",
    ["change", "change/confirmed", "credits", "credits/confirmed", "keys/new", "keys/aaaa1111/revoke/confirmed"],
)
def test_a_form_without_its_token_changes_nothing(address: str) -> None:
    browser = a_browser()

    answer = browser.post(f"/accounts/acme/{address}", carrying="another", credits="5", once="a" * 32, **TYPED)

    assert (answer.status_code, browser.api.writes()) == (303, [])
