"""What an act answers with in a page of its own: there once, in no address, and not live."""

from __future__ import annotations

from collections.abc import Mapping

from console.web.page import Act, Shown, Visit
from tests.builders.console import a_console


def _say(visit: Visit, form: Mapping[str, str]) -> Shown:
    return Shown("problem.html", {"title": "Not taken", "told": form["word"], "back": "/"}, 422)


SAY = Act("/say", "/", _say)


def test_an_acts_answer_is_a_page_that_is_neither_live_nor_kept() -> None:
    browser = a_console(acts=[SAY])

    answer = browser.post("/say", word="<b>typed</b>")

    assert answer.status_code == 422
    assert answer.headers["cache-control"] == "no-store"
    assert "&lt;b&gt;typed&lt;/b&gt;" in answer.text
    assert "data-live" not in answer.text
    assert "<title>Not taken · Paceline</title>" in answer.text


def test_without_the_token_an_act_is_not_done() -> None:
    browser = a_console(acts=[SAY])

    answer = browser.post("/say", carrying="another", word="typed")

    assert (answer.status_code, answer.headers["location"]) == (303, "/")
