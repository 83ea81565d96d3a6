"""Pages of a history: the same events whichever way and however many at once, and no more made than are shown."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox import workflow_views as views
from sandbox.engine import history as histories
from sandbox.engine.errors import InvalidToken
from sandbox.engine.history import History
from sandbox.scheduler import Scheduler
from sandbox.world import START

EVENTS = 25


@pytest.fixture(params=[False, True], ids=["running", "over"])
def log(request: pytest.FixtureRequest) -> History:
    made = History(Scheduler(START, "virtual"))
    for number in range(EVENTS):
        made.add("PassStateEntered", number, {"name": f"Step {number + 1}"})
    if request.param:
        made.close()
    return made


def ids_of(log: History, **parameters: Any) -> list[list[int]]:
    """Return the ids of every page."""
    pages, token = [], {}
    while True:
        events, token = views.history_page(log, parameters | token)
        pages.append([event["id"] for event in events])
        if not token:
            return pages


@pytest.mark.parametrize("size", [1, 5, 10, 24, 25, 26, 1000])
@pytest.mark.parametrize("is_reverse", [False, True])
def test_pages_together_are_the_whole_history(log: History, size: int, is_reverse: bool) -> None:
    pages = ids_of(log, maxResults=size, reverseOrder=is_reverse)

    whole = [number for page in pages for number in page]
    assert whole == (list(range(EVENTS, 0, -1)) if is_reverse else list(range(1, EVENTS + 1)))
    assert [len(page) for page in pages[:-1]] == [size] * (len(pages) - 1)
    assert 0 < len(pages[-1]) <= size


def test_what_is_new_does_not_move_the_pages_that_follow() -> None:
    log = History(Scheduler(START, "virtual"))
    for number in range(EVENTS):
        log.add("PassStateEntered", number, {"name": "Step"})
    first, token = views.history_page(log, {"maxResults": 5, "reverseOrder": True})
    log.add("PassStateEntered", EVENTS, {"name": "New"})

    second, _ = views.history_page(log, {"maxResults": 5, "reverseOrder": True, **token})

    assert [event["id"] for event in (*first, *second)] == list(range(EVENTS, EVENTS - 10, -1))


@pytest.mark.parametrize("is_reverse", [False, True])
def test_a_page_makes_only_what_it_shows(log: History, is_reverse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    shown = histories._shown
    monkeypatch.setattr(histories, "_shown", lambda number, *event: made.append(number) or shown(number, *event))

    views.history_page(log, {"maxResults": 3, "reverseOrder": is_reverse})

    assert len(made) == 3


@pytest.mark.parametrize(
    "token", ["", "bm9uZQ==", "MA==", "OTk=", "wrong"], ids=["empty", "none", "0", "99", "no base64"]
)
def test_a_token_of_somewhere_else_is_refused(log: History, token: str) -> None:
    with pytest.raises(InvalidToken):
        views.history_page(log, {"nextToken": token})
