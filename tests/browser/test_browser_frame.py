"""The frame of every page: it is live, says what is not there, and no page elsewhere can bring a script in."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.campaigns import ask
from tests.browser.person import Person
from tests.server.server_process import Server


def test_a_page_shows_what_is_new_without_being_loaded_again(person: Person, server: Server) -> None:
    person.goes_to("/")
    person.page.evaluate("window.isTheSame = true")

    created = ask(server, "POST", "/campaigns", {"name": "Brand new", "message": "Hi"})

    person.sees(created["campaign_id"])
    assert person.page.evaluate("window.isTheSame")


def test_an_address_without_a_page_says_where_pages_are(person: Person) -> None:
    person.goes_to("/nowhere", status=404)

    person.sees("There is no such page")
    assert person.cannot_use() == []


def test_the_theme_is_kept(person: Person) -> None:
    person.goes_to("/")
    ground = person.page.locator("body")
    colour = "getComputedStyle(document.body).backgroundColor"
    light = person.page.evaluate(colour)

    person.page.locator("#theme").click()
    person.page.locator("#theme").click()
    person.goes_to("/")

    expect(person.page.locator("html")).to_have_attribute("data-theme", "dark")
    assert person.page.evaluate(colour) != light
    expect(ground).to_have_css("color", re.compile("rgb"))


def test_a_script_in_a_page_is_refused(person: Person) -> None:
    person.goes_to("/")

    person.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.ran = true\">')")
    person.page.wait_for_timeout(300)

    assert not person.page.evaluate("window.ran")
    assert any("Content Security Policy" in one for one in person.complaints)
    person.complaints.clear()
