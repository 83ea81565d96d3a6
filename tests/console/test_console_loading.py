"""A page that takes long says that it loads; what it needs is asked at the same time."""

from __future__ import annotations

import threading
from typing import Any

import click
import pytest

from console.web.page import Page, Visit
from console.web.together import together
from tests.builders.console import a_console


def a_slow_page(let_go: threading.Event, *, is_live: bool = True) -> Page:
    def read(visit: Visit) -> dict[str, Any]:
        let_go.wait(10)
        return {"title": "Routes", "routes": []}

    return Page("/slow", "routes.html", read, is_live=is_live)


def test_a_live_page_that_takes_long_says_at_once_that_it_loads() -> None:
    let_go = threading.Event()
    browser = a_console(pages=[a_slow_page(let_go)], patience=0.05)

    answer = browser.get("/slow")
    let_go.set()

    assert answer.status_code == 200
    assert "data-loading" in answer.text
    assert 'data-live="/live/slow"' in answer.text


def test_a_page_that_is_not_live_is_waited_for() -> None:
    let_go = threading.Event()
    threading.Timer(0.3, let_go.set).start()

    answer = a_console(pages=[a_slow_page(let_go, is_live=False)], patience=0.05).get("/slow")

    assert "data-loading" not in answer.text
    assert "<h1>Routes</h1>" in answer.text


def test_looks_go_on_at_the_same_time_and_keep_their_order() -> None:
    meeting = threading.Barrier(3, timeout=5)

    found = together(*(lambda number=number: (meeting.wait(), number)[1] for number in range(3)))

    assert found == [0, 1, 2]


@pytest.mark.parametrize("fails", [0, 1, 2])
def test_a_look_that_fails_is_told_once_all_have_ended(fails: int) -> None:
    ended: list[int] = []

    def look(number: int) -> int:
        if number == fails:
            raise click.ClickException("no")
        ended.append(number)
        return number

    with pytest.raises(click.ClickException):
        together(*(lambda number=number: look(number) for number in range(3)))

    assert len(ended) == 2 if fails else len(ended) >= 2
