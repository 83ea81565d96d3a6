"""A server with its console, once for a test worker; a Chromium for each file of tests; a person for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.installed import ARGUMENTS, CHROMIUM, need_a_browser
from tests.browser.person import Person, person_at
from tests.server.server_process import Server, start_server

# A minute a second: what a person does takes seconds, so a campaign still runs when they have done it.
SPEED = 60
expect.set_options(timeout=10_000)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Return a Chromium. While it is there an event loop runs in this thread: no test of other files could run one."""
    need_a_browser()
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    need_a_browser()
    running = start_server("--speed", str(SPEED), has_console=True)
    yield running
    running.stop()


@pytest.fixture
def visitor(browser: Browser) -> Iterator[Callable[[str], Person]]:
    """Return a function that gives somebody at the console of an address; nobody may have met a complaint."""
    people: list[Person] = []

    def come(console: str) -> Person:
        people.append(person_at(browser, console))
        return people[-1]

    yield come
    complaints = [one for person in people for one in person.complaints]
    for person in people:
        person.page.context.close()
    assert complaints == []


@pytest.fixture
def person(visitor: Callable[[str], Person], server: Server) -> Person:
    return visitor(server.console)
