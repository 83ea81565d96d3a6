"""An operator's way with a campaign: watched as it goes, held by a cap, the cap raised, paused, resumed, its report."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.campaigns import ask, make_campaign, make_route
from tests.browser.person import Person
from tests.server.server_process import Server

LEADS, CAP, PER_MINUTE = 400, 100, 20


def figure(person: Person, name: str) -> int:
    """Return a figure of the campaign's page."""
    text = person.page.locator("dl.figures div", has=person.page.locator("dt", has_text=re.compile(f"^{name}$")))
    return int(text.locator("dd").inner_text().replace(",", ""))


def grows(person: Person, name: str) -> None:
    """Wait until a figure has grown twice."""
    seen = [figure(person, name)]
    for _ in range(100):
        if (now := figure(person, name)) != seen[-1]:
            seen.append(now)
        if len(seen) == 3:
            assert seen == sorted(seen)
            return
        person.page.wait_for_timeout(100)
    raise AssertionError(f"{name} stayed at {seen}")


def decide(person: Person, opens: str, decision: str) -> None:
    """Open a dialog and decide, with the keyboard alone."""
    person.page.get_by_role("button", name=opens, exact=True).focus()
    person.page.keyboard.press("Enter")
    dialog = person.page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    expect(dialog.get_by_role("button").first).to_be_focused()  # what changes nothing comes first
    person.page.keyboard.press("Tab")
    expect(dialog.get_by_role("button", name=decision)).to_be_focused()
    person.page.keyboard.press("Enter")


def test_a_campaign_is_watched_held_let_go_paused_resumed_and_reported(person: Person, server: Server) -> None:
    make_route(server, "journey", parts_per_minute=PER_MINUTE, parts_per_day=CAP)
    campaign = make_campaign(server, "Journey", LEADS, "journey")

    # It is watched from its start.
    person.goes_to("/")
    person.page.get_by_role("link", name=re.compile("Journey")).first.click()
    person.sees("Not started")
    person.page.evaluate("window.isTheSame = true")
    ask(server, "POST", f"/campaigns/{campaign}/start")
    expect(person.page.locator("dl.figures")).to_be_visible()
    grows(person, "sent")

    # A cap holds it; the page says which, and until when.
    held = person.page.get_by_role("region", name="What holds it")
    expect(held).to_contain_text("cap", ignore_case=True, timeout=20_000)
    expect(held).to_contain_text("journey")
    assert figure(person, "sent") == CAP
    assert person.page.evaluate("window.isTheSame")
    assert person.cannot_use_anywhere() == {}

    # The cap is raised; the hold ends in the page that was open.
    operator = Person(person.page.context.new_page(), person.console)
    operator.goes_to("/routes/journey")
    operator.page.get_by_role("link", name="Change caps").click()
    operator.page.get_by_label("Parts a day").fill("100000")
    operator.page.keyboard.press("Enter")
    operator.sees("100 → 100,000")
    operator.page.locator("main form button").first.click()
    operator.sees("100,000")
    expect(held).to_have_count(0, timeout=10_000)
    grows(person, "sent")
    assert person.page.evaluate("window.isTheSame")

    # It is paused and resumed, with the keyboard.
    decide(person, "Pause", "Pause it")
    person.sees("paused")
    expect(person.page.get_by_role("button", name="Pause", exact=True)).to_have_count(0)
    decide(person, "Resume", "Resume it")
    expect(person.page.get_by_role("button", name="Pause", exact=True)).to_be_visible()

    # Its report is there.
    ask(server, "PATCH", "/admin/routes/journey", {"parts_per_minute": 3000}, key="operator_key")  # no need to wait on
    expect(person.page.get_by_role("region", name="Report")).to_contain_text("Version 1", timeout=40_000)
    assert figure(person, "sent") == LEADS
    with person.page.context.expect_page() as opened:
        report = person.page.get_by_role("region", name="Report")
        report.get_by_role("link", name=re.compile("^Report")).click()
    expect(opened.value.locator("body")).to_contain_text("messages have an outcome")
    assert operator.complaints == []
    assert person.page.url.endswith(campaign)
