"""Signing in, where the console has no key of its own; and what a new system shows."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.person import Person
from tests.server.server_process import ROOT, Server, start_server

COMMAND = [sys.executable, "-c", "from console.cli import main; main()", "console", "--port", "0", "--json"]
Visitor = Callable[[str], Person]


@pytest.fixture
def shared_console(server: Server) -> Iterator[str]:
    """A console at which everybody signs in."""
    command = [*COMMAND, "--endpoint-url", server.address]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)  # noqa: S603 (our own command)
    assert process.stdout is not None
    yield str(json.loads(process.stdout.readline())["console"]).rstrip("/")
    process.terminate()
    process.communicate(timeout=20)


def test_whoever_signs_in_comes_to_the_page_they_asked_for(
    visitor: Visitor, shared_console: str, server: Server
) -> None:
    person = visitor(shared_console)
    person.goes_to("/")
    expect(person.page).to_have_url(f"{shared_console}/sign-in?to=%2F")
    unusable = person.cannot_use_anywhere()

    person.page.keyboard.type(server.facts["customer_key"])
    person.page.keyboard.press("Enter")
    person.sees("Your key is a customer's")
    person.page.keyboard.type(server.facts["operator_key"])
    person.page.keyboard.press("Enter")
    expect(person.page).to_have_url(f"{shared_console}/")
    person.page.get_by_role("button", name="Sign out").click()

    expect(person.page.get_by_label("Operator's key")).to_be_visible()
    assert unusable == {}


def test_a_new_system_says_that_there_is_nothing_yet(visitor: Visitor) -> None:
    new = start_server(has_console=True)
    try:
        person = visitor(new.console)
        person.goes_to("/")
        person.sees("No campaigns")
        unusable = person.cannot_use_anywhere()
        person.page.close()
    finally:
        new.stop()

    assert unusable == {}
