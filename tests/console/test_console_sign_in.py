"""Signing in at the console where no key is everybody's: who may see and change, and what a browser is given."""

from __future__ import annotations

import re
from http.cookies import SimpleCookie
from typing import Any

import httpx
import pytest
from starlette.responses import Response

from console.web.page import Act, Done, Page
from console.web.pages import ACTS, ONWARDS, PAGES
from console.web.sessions import COOKIE, IDLE_SECONDS, Sessions
from tests.builders.console import KEY, Browser, FakeApi, a_console, refusal

OTHER = "pk_ba9876543210_" + "o" * 43


def _accounts(request: httpx.Request) -> Any:
    if request.headers["x-api-key"] in (KEY, OTHER):
        return {"accounts": [], "next": None}
    return refusal(403, "That is for operators.")


def a_shared_console(**options: Any) -> Browser:
    return a_console(FakeApi({"GET /v1/admin/accounts": _accounts}), key="", **options)


def sign_in(browser: Browser, key: str = KEY, to: str = "/accounts", **form: Any) -> httpx.Response:
    answer: httpx.Response = browser.post("/sign-in", key=key, to=to, **form)
    return answer


def cookie_of(answer: httpx.Response) -> Any:
    return SimpleCookie(answer.headers["set-cookie"])[COOKIE]


def filled(path: str) -> str:
    """Return an address of a page or of what a form does."""
    return re.sub(r"{[^}]*}", "acme", path)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path)
def test_no_page_and_no_news_without_signing_in(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.web.app.EventSourceResponse", lambda *_, **__: Response())  # news have no end
    browser = a_shared_console()

    shown, live = browser.get(filled(page.path)), browser.get("/live" + filled(page.path))

    assert (shown.status_code, shown.headers["location"].partition("?")[0]) == (303, "/sign-in")
    assert live.status_code == 401
    assert browser.api.asked == []


@pytest.mark.parametrize("path", [one.path for one in ONWARDS])
def test_no_address_leads_on_without_signing_in(path: str) -> None:
    browser = a_shared_console()

    assert browser.get(filled(path)).headers["location"].partition("?")[0] == "/sign-in"
    assert browser.api.asked == []


@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.path)
def test_no_form_does_anything_without_signing_in(act: Act) -> None:
    browser = a_shared_console()

    answer = browser.post(filled(act.path), credits="5", once="a" * 32, campaign="spring", lead="17", reason="why")

    assert (answer.status_code, answer.headers["location"].partition("?")[0]) == (303, "/sign-in")
    assert browser.api.asked == []


def test_an_operators_key_opens_the_page_that_was_wanted() -> None:
    browser = a_shared_console()

    wanted = browser.get("/accounts").headers["location"]
    done = sign_in(browser)

    assert wanted == "/sign-in?to=%2Faccounts"
    assert done.headers["location"] == "/accounts"
    assert "There is no account yet" in browser.get("/accounts").text
    assert {one.headers["x-api-key"] for one in browser.api.asked} == {KEY}


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("", "That is no key of Paceline's"),
        ("pk_half", "That is no key of Paceline's"),
        ("<script>", "That is no key of Paceline's"),
        ("pk_000000000000_" + "c" * 43, "Your key is a customer's"),
    ],
    ids=["none", "half", "markup", "a customer's"],
)
def test_another_key_opens_nothing_and_is_not_shown_again(key: str, told: str) -> None:
    browser = a_shared_console()

    answer = sign_in(browser, key)
    page = browser.get(answer.headers["location"]).text

    assert told.replace("'", "&#39;") in page
    assert not key or key not in page.partition("<body")[2]
    assert browser.get("/accounts").status_code == 303


def test_a_session_that_somebody_prepared_is_not_the_one_that_is_signed_in() -> None:
    browser = a_shared_console()

    before = cookie_of(browser.get("/sign-in")).value
    after = cookie_of(sign_in(browser)).value
    thief = a_shared_console()
    browser.client.cookies.set(COOKIE, before)

    assert before != after
    assert len(after) >= 32
    assert browser.get("/accounts").status_code == 303
    assert thief.get("/accounts", cookie=f"{COOKIE}={after}").status_code == 303  # another console knows nothing of it


def test_nobody_brings_a_session_of_the_own_choosing() -> None:
    browser = a_shared_console()
    browser.client.cookies.set(COOKIE, "chosen")

    assert cookie_of(browser.get("/sign-in")).value != "chosen"


@pytest.mark.parametrize("is_secure", [False, True], ids=["http", "https"])
def test_no_script_reads_the_cookie_and_https_keeps_it(is_secure: bool) -> None:
    browser = a_shared_console(is_secure=is_secure, address=f"http{'s' * is_secure}://127.0.0.1:4601")

    cookie = cookie_of(browser.get("/sign-in"))

    assert cookie["httponly"]
    assert cookie["samesite"] == "lax"
    assert bool(cookie["secure"]) is is_secure


@pytest.mark.parametrize(
    "to",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "evil.example",
        "javascript:alert(1)",
        "/\t/evil.example",  # browsers leave the tab out
        "/\r\nset-cookie: a=b",
    ],
)
def test_signing_in_leads_nowhere_else(to: str) -> None:
    assert sign_in(a_shared_console(), to=to).headers["location"] == "/"


def test_the_form_itself_leads_nowhere_else() -> None:
    page = a_shared_console().client.get("/sign-in", params={"to": "https://evil.example/"}).text

    assert "evil.example" not in page


def test_a_form_of_another_page_signs_nobody_in() -> None:
    for given in ({"carrying": "another"}, {"headers": {"origin": "https://evil.example"}}):
        browser = a_shared_console()

        sign_in(browser, **given)

        assert browser.api.asked == []
        assert browser.get("/accounts").status_code == 303


def test_a_page_elsewhere_signs_nobody_out_by_a_cookie_in_place_of_theirs() -> None:
    """A post from elsewhere comes without the cookie: the answer must not set a new one."""
    for address in ("/sign-in", "/accounts/acme/credits", "/sign-out"):
        answer = a_console().post(address, carrying="another", headers={"origin": "https://evil.example"})

        assert "set-cookie" not in answer.headers


def test_ten_tries_a_minute_from_an_address() -> None:
    browser = a_shared_console()
    for _ in range(10):
        sign_in(browser, "pk_000000000000_" + "c" * 43)
    asked = len(browser.api.asked)

    answer = sign_in(browser)

    assert "Too many tries" in browser.get(answer.headers["location"]).text
    assert len(browser.api.asked) == asked == 10
    assert browser.get("/accounts").status_code == 303


def test_signing_out_forgets_the_key() -> None:
    browser = a_shared_console()
    sign_in(browser)
    cookie = browser.client.cookies[COOKIE]

    browser.post("/sign-out")
    browser.client.cookies.set(COOKIE, cookie)

    assert browser.get("/accounts").status_code == 303


def test_only_the_own_form_signs_out() -> None:
    browser = a_shared_console()
    sign_in(browser)

    browser.post("/sign-out", carrying="another")

    assert browser.get("/accounts").status_code == 200


def test_no_page_shows_a_key() -> None:
    browser = a_shared_console()
    sign_in(browser)

    page = browser.get("/accounts").text

    assert "0123456789ab" in page  # its public part, as the audit names it
    assert "kkkk" not in page


def test_what_somebody_is_told_is_told_to_nobody_else() -> None:
    browser = a_shared_console()
    sign_in(browser)
    first = browser.client.cookies[COOKIE]
    browser.client.cookies.clear()
    sign_in(browser, OTHER)
    browser.post("/accounts/acme/credits", carrying="another")

    other = browser.get("/accounts", cookie=f"{COOKIE}={first}").text

    assert "the page was too old" not in other
    assert "ba9876543210" not in other


def test_a_key_is_forgotten_after_twelve_hours_without_use() -> None:
    now = [0.0]
    sessions = Sessions("", lambda: now[0])
    signed_in = sessions.sign_in(sessions.of(""), KEY)

    now[0] += IDLE_SECONDS - 1
    within = sessions.of(signed_in.id).key
    now[0] += IDLE_SECONDS + 1

    assert within == KEY
    assert sessions.of(signed_in.id).key == ""


def test_a_session_has_a_token_of_its_own() -> None:
    done: list[str] = []
    act = Act("/do", "/accounts", lambda visit, form: done.append("done") or Done(""))  # type: ignore[func-returns-value]
    browser = a_shared_console(acts=[act])
    sign_in(browser)
    theirs = browser.token()
    browser.client.cookies.clear()
    sign_in(browser, OTHER)

    browser.post("/do", carrying=theirs)
    refused = list(done)
    browser.post("/do")

    assert (refused, done) == ([], ["done"])
