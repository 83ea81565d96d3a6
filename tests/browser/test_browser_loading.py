"""A page that is long in coming: it says that it loads, and what it says comes by itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
import uvicorn
from playwright.sync_api import expect

from console.reach import Where, reach
from console.web.app import console_app
from console.web.site import Site
from sandbox.server.listening import listen
from tests.browser.person import Person
from tests.server.server_process import Server


@pytest.fixture
def hasty(server: Server) -> Iterator[str]:
    """Return the address of a console that waits for no look before it answers."""
    where = Where(endpoint_url=server.address)
    site = Site(where, reach(where), server.address, str(server.facts["operator_key"]), 0.2)
    app = console_app(site, frozenset({"127.0.0.1"}), patience=0)
    listening = listen("127.0.0.1", 0)
    web = uvicorn.Server(uvicorn.Config(app, ws="none", lifespan="off", log_level="error", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=web.run, kwargs={"sockets": [listening]})
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    web.should_exit = True
    thread.join(10)


def test_what_a_page_says_comes_by_itself(hasty: str, visitor: Callable[[str], Person]) -> None:
    person = visitor(hasty)

    person.goes_to("/routes")

    expect(person.page.get_by_role("heading", level=1)).to_have_text("Routes")
    expect(person.page).to_have_title("Routes · Paceline")
    expect(person.page.locator("[data-loading]")).to_have_count(0)


def test_a_page_that_cannot_be_shown_says_why(hasty: str, visitor: Callable[[str], Person]) -> None:
    person = visitor(hasty)

    person.page.goto(f"{hasty}/routes/nowhere")

    expect(person.page.locator("#trouble")).to_contain_text("nowhere")
    expect(person.page.locator("[data-loading]")).to_have_text("It cannot be shown now; it is tried again.")
