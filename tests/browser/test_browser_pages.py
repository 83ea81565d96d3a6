"""Every page, in both themes, on a desktop and on a phone: nothing keeps anybody from using it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.browser.campaigns import ask, finish, make_route, start_campaign
from tests.browser.person import Person
from tests.server.server_process import Server, until


@dataclass(frozen=True)
class Stage:
    """Campaigns, each as its name says."""

    done: str
    held: str
    running: str
    machine: str

    def execution(self, campaign: str) -> str:
        return f"/executions/{self.machine.replace(':stateMachine:', ':execution:')}:{campaign}"


@pytest.fixture(scope="module")
def stage(server: Server) -> Iterator[Stage]:
    make_route(server, "tiny", parts_per_day=5)
    make_route(server, "slow", parts_per_minute=2)
    done = start_campaign(server, "Done", 12, "shared")
    held = start_campaign(server, "Held", 12, "tiny")
    running = start_campaign(server, "Running", 200, "slow")
    finish(server, done)
    until(lambda: ask(server, "GET", f"/campaigns/{held}").get("held_by"), seconds=20)
    yield Stage(done, held, running, server.machine_arn)
    ask(server, "POST", f"/campaigns/{running}/cancel")  # what goes on in the back would slow down other tests


def test_pages_of_campaigns_can_be_used_by_all(person: Person, stage: Stage) -> None:
    found = {}
    for path, says in {
        "/": "Running",
        "/?q=nothing-has-this": "",
        f"/campaigns/{stage.running}": "Running",
        f"/campaigns/{stage.held}": "Held:",
        f"/campaigns/{stage.done}": "Report",
        f"/leads?campaign={stage.done}": "Messages of",
        f"/leads?campaign={stage.done}&lead=3": "Life of a lead",
        f"/leads/reveal?campaign={stage.done}&lead=3": "",
    }.items():
        person.goes_to(path)
        person.sees(says)
        found[path] = person.cannot_use_anywhere()

    assert {path: told for path, told in found.items() if told} == {}


def test_pages_of_executions_can_be_used_by_all(person: Person, stage: Stage) -> None:
    found = {}
    person.goes_to(stage.execution(stage.running))
    person.sees("Send Streams")
    found["running"] = person.cannot_use_anywhere()
    person.goes_to(stage.execution(stage.done))
    person.page.locator("summary").first.click()
    found["done"] = person.cannot_use_anywhere()
    for link in ("SendStreams", None, "SendBatches"):
        links = person.page.get_by_role("link", name=link) if link else person.page.locator("th a.id")
        links.first.click()
        person.sees("SendBatches" if link is None else "Its children")
    found["a Map Run"] = person.cannot_use_anywhere()

    assert {path: told for path, told in found.items() if told} == {}


def test_pages_of_routes_and_accounts_can_be_used_by_all(person: Person, stage: Stage) -> None:
    found = {}
    for path in PLAIN:
        person.goes_to(path)
        found[path] = person.cannot_use_anywhere()

    assert {path: told for path, told in found.items() if told} == {}


PLAIN = (
    *("/routes", "/routes/tiny", "/routes/tiny/change", "/accounts", "/accounts/acme", "/accounts/acme/change"),
    *("/accounts/acme/credits", "/accounts/acme/keys/new", "/accounts/acme/opt-outs", "/leads"),
)
