"""The workflow's drawing in a browser, behind the console's own policy and with its own live news."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from console.web import guard
from console.web.rendering import _ENVIRONMENT, frame
from console.workflow.counts import Counts, StateCount
from tests.browser.person import Person
from tests.builders.workflow import BATCHES, ITEMS, some_counts, the_graph

CONSOLE = "http://console.test"
STATIC = Path(guard.__file__).parent / "static"
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
USE = '{% from "_workflow.html" import workflow with context %}<h1>A campaign</h1>{{ workflow(graph, counts) }}'

BEFORE = some_counts({f"{ITEMS}/Wait For Slot": StateCount(3, None, None), "Plan Campaign": StateCount(succeeded=1)})
AFTER = some_counts(
    {
        f"{ITEMS}/Wait For Slot": StateCount(0, None, None),
        f"{ITEMS}/Send Message": StateCount(2, None, None, retrying=1),
        BATCHES: StateCount(2, 5, 1, pending=92, total=100),
        "Plan Campaign": StateCount(failed=1),
    }
)


def content_of(counts: Counts) -> str:
    return _ENVIRONMENT.from_string(USE).render(graph=the_graph(), counts=counts, zone=None)


def document() -> str:
    return frame(
        title="A campaign",
        theme="",
        session=SimpleNamespace(key=None),
        site=SimpleNamespace(system=SimpleNamespace(name="a test")),
        is_shared=False,
        path="/",
        live="/live",
        told=[],
        trouble=None,
        content=content_of(BEFORE),
    )


class Site:
    """Answers for the console: the page, its files, and its news once a test has some."""

    def __init__(self) -> None:
        self.news: list[Counts] = []

    def answer(self, route: Route) -> None:
        path = route.request.url.removeprefix(CONSOLE).partition("?")[0]
        if path.startswith("/static/"):
            file = STATIC / path.removeprefix("/static/")
            route.fulfill(path=file, content_type=TYPES[file.suffix])
        elif path == "/live":
            lines = content_of(self.news.pop()).splitlines() if self.news else []
            event = "event: page\n" + "".join(f"data: {line}\n" for line in lines) + "\n" if lines else ": none\n\n"
            route.fulfill(body=f"retry: 200\n\n{event}", content_type="text/event-stream")
        else:
            policy = {"content-security-policy": guard._POLICY}
            route.fulfill(body=document(), content_type="text/html", headers=policy)


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
def page(browser: Browser, site: Site) -> Any:
    page = browser.new_page()
    person = Person(page, CONSOLE)
    page.route(f"{CONSOLE}/**", site.answer)
    page.goto(CONSOLE)
    yield page
    page.context.close()
    assert [one for one in person.complaints if "/live" not in one] == []


def state(page: Page, name: str) -> Any:
    return page.locator(f'a.wf-state[data-name="{name}"]')


def test_every_state_is_drawn_once_within_the_picture(page: Page) -> None:
    expect(page.locator("a.wf-state")).to_have_count(len(the_graph().nodes))
    outside = page.evaluate("""() => {
        const all = document.querySelector(".workflow-scroll svg").getBoundingClientRect();
        return [...document.querySelectorAll(".wf-box")].filter((box) => {
            const { left, right, top, bottom } = box.getBoundingClientRect();
            return left < all.left || right > all.right || top < all.top || bottom > all.bottom;
        }).length;
    }""")

    assert outside == 0


def test_no_state_covers_another_but_a_map_its_own(page: Page) -> None:
    covering = page.evaluate("""() => {
        const found = [...document.querySelectorAll("a.wf-state:not(.wf-map) > .wf-box")];
        const boxes = found.map((one) => one.getBoundingClientRect());
        const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
        return boxes.some((one, n) => boxes.slice(n + 1).some((other) => meet(one, other)));
    }""")

    assert not covering


def test_news_change_the_numbers_and_not_the_drawing(page: Page, site: Site) -> None:
    expect(state(page, "Wait For Slot")).to_have_class("wf-state wait is-running")
    page.evaluate("document.querySelector('.workflow-scroll svg').isTheSame = true")
    page.evaluate("document.querySelector('.workflow-scroll').scrollTop = 77")

    site.news = [AFTER]

    expect(state(page, "Send Message")).to_have_class("wf-state task is-running")
    expect(state(page, "Send Message")).to_contain_text("2 now")
    expect(state(page, "Send Message")).to_contain_text("↻ 1")
    expect(state(page, "Wait For Slot")).to_have_class("wf-state wait")
    expect(state(page, "Plan Campaign")).to_have_class("wf-state task is-failed")
    expect(state(page, "Send Batches")).to_contain_text("5 done · 1 failed · 92 to come")
    assert page.evaluate("document.querySelector('.workflow-scroll svg').isTheSame")
    assert page.evaluate("document.querySelector('.workflow-scroll').scrollTop") == 77


def test_a_state_is_reached_by_keyboard_and_leads_to_its_history(page: Page) -> None:
    state(page, "Admit Batch").focus()
    page.keyboard.press("Enter")

    page.wait_for_url(f"{CONSOLE}/?state=Admit%20Batch")


def test_what_runs_is_in_view_and_the_whole_is_a_press_away(page: Page) -> None:
    expect(state(page, "Wait For Slot")).to_be_in_viewport()

    page.get_by_role("button", name="Whole picture").click()

    assert page.evaluate("""() => {
        const { scrollHeight, clientHeight, scrollWidth, clientWidth } = document.querySelector(".workflow-scroll");
        return scrollHeight <= clientHeight + 1 && scrollWidth <= clientWidth + 1;
    }""")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390], ids=["desktop", "phone"])
def test_nobody_is_kept_from_using_it(page: Page, theme: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.evaluate(f"document.documentElement.dataset.theme = {json.dumps(theme)}")
    expect(page.locator("a.wf-state").first).to_be_visible()
    too_wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")

    assert Person(page, CONSOLE).cannot_use() == []
    assert not too_wide
