"""Revealing a lead's number: with a reason, by its form alone, in that answer alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders.console import Browser, FakeApi, a_console, hidden, refusal

NUMBER, TEXT = "+12025550142", "Hi <b>Ann</b>, call us."
ADDRESS = "/v1/admin/campaigns/spring/leads/17/reveal"
FORM = {"campaign": "spring", "lead": "17", "reason": "Complaint 812 of Ann"}


@pytest.fixture
def browser() -> Browser:
    told = {"campaign_id": "spring", "lead_no": 17, "phone_number": NUMBER, "text": TEXT}
    return a_console(FakeApi({f"POST {ADDRESS}": told, "GET /v1/campaigns/spring": {"account_id": "acme"}}))


def test_the_form_asks_why_and_shows_nothing_yet(browser: Browser) -> None:
    page = browser.get("/leads/reveal?campaign=spring&lead=17").text

    assert "written to the account&#39;s trail" in page
    assert hidden(page)["lead"] == "17"
    assert "data-live" not in page
    assert browser.api.writes() == []


def test_the_number_is_in_the_answer_alone_and_the_look_is_in_the_trail(browser: Browser) -> None:
    answer = browser.post("/leads/reveal", **FORM)

    assert NUMBER in answer.text
    assert "Hi &lt;b&gt;Ann&lt;/b&gt;, call us." in answer.text
    assert 'in <a href="/accounts/acme">the trail of acme</a>' in answer.text
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    assert "data-live" not in answer.text
    assert [(what, body) for what, body, _ in browser.api.writes()] == [(f"POST {ADDRESS}", {"reason": FORM["reason"]})]
    assert NUMBER not in browser.get("/leads/reveal?campaign=spring&lead=17").text


@pytest.mark.parametrize("reason", ["", "   ", "ab", "x" * 201])
def test_without_a_reason_nothing_is_revealed(browser: Browser, reason: str) -> None:
    answer = browser.post("/leads/reveal", **{**FORM, "reason": reason})

    assert (answer.status_code, browser.api.writes()) == (422, [])
    assert 'id="problem-reason"' in answer.text


@pytest.mark.parametrize("form", [{"lead": "row:18"}, {"lead": "../../keys"}, {"campaign": ""}, {"lead": "9" * 400}])
def test_only_a_lead_s_number_is_asked_for(browser: Browser, form: dict[str, str]) -> None:
    answer = browser.post("/leads/reveal", **{**FORM, **form})

    assert (answer.status_code, browser.api.writes()) == (422, [])


def test_a_refusal_is_told_and_the_reason_is_not_lost(browser: Browser) -> None:
    browser.api.answers[f"POST {ADDRESS}"] = refusal(404, "Lead 17 asked to be forgotten.")

    answer = browser.post("/leads/reveal", **FORM)

    assert answer.status_code == 404
    assert "asked to be forgotten" in answer.text
    assert f'value="{FORM["reason"]}"' in answer.text


@pytest.mark.parametrize(
    ("carrying", "headers"), [("another", {}), (None, {"origin": "https://evil.example"})], ids=["token", "origin"]
)
def test_no_page_elsewhere_reveals_anything(browser: Browser, carrying: Any, headers: dict[str, str]) -> None:
    answer = browser.post("/leads/reveal", carrying=carrying, headers=headers, **FORM)

    assert (answer.status_code, browser.api.writes()) == (303, [])
