"""Somebody at the console with a real browser, who notices whatever the browser complains of."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, Page, expect

from tests.browser.installed import AXE

DESKTOP, PHONE = (1280, 800), (390, 844)
THEMES = ("light", "dark")
# Of what axe-core calls an impact, from the worst: these two keep somebody from using a page.
_SERIOUS = ("critical", "serious")


@dataclass
class Person:
    """A browser of somebody's own. complaints: errors on the browser's console, refusals by the page's policy among
    them, and exceptions of scripts.
    """

    page: Page
    console: str
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", lambda message: self._hear(message.type, message.text))
        self.page.on("pageerror", lambda error: self._hear("error", str(error)))

    def _hear(self, kind: str, text: str) -> None:
        if kind == "error":
            self.complaints.append(text)

    def goes_to(self, path: str, status: int = 200) -> None:
        """Open a page of the console, and wait until it is live, where it is a live one."""
        answer = self.page.goto(self.console + path)
        assert answer is not None
        assert status == answer.status, answer.text()
        if status >= 400:  # a browser complains of an answer that was asked for
            self.complaints = [one for one in self.complaints if f"status of {status}" not in one]
            return
        if self.page.locator("#live").count():
            expect(self.page.locator("#live")).to_have_attribute("data-state", "on")

    def sees(self, text: str | re.Pattern[str], seconds: float = 5) -> None:
        """Wait until the page says something."""
        expect(self.page.locator("body")).to_contain_text(text, timeout=seconds * 1000)

    def in_theme(self, theme: Any, size: tuple[int, int]) -> Person:
        """Look in this theme, on a screen of this size."""
        self.page.emulate_media(color_scheme=theme)
        self.page.set_viewport_size({"width": size[0], "height": size[1]})
        return self

    def cannot_use_anywhere(self) -> dict[str, list[str]]:
        """Return what `cannot_use` finds, by theme and screen; nothing where it finds nothing."""
        found = {}
        for theme in THEMES:
            for name, size in (("desktop", DESKTOP), ("phone", PHONE)):
                found[f"{theme}, {name}"] = self.in_theme(theme, size).cannot_use()
        return {where: told for where, told in found.items() if told}

    def cannot_use(self) -> list[str]:
        """Return what axe-core finds that keeps somebody from using the page, and whether it is wider than the
        screen.
        """
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text() + "; 0")
        found = self.page.evaluate("axe.run({resultTypes: ['violations']}).then(found => found.violations)")
        told = [f"{one['id']}: {_where(one)}" for one in found if one["impact"] in _SERIOUS]
        beyond = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        return told + ([f"wider than the screen by {beyond} px"] if beyond > 0 else [])


def _where(violation: dict[str, Any]) -> str:
    nodes = violation["nodes"]
    return f"{nodes[0]['html'][:200]} and {len(nodes) - 1} more: {nodes[0]['failureSummary']}"


def person_at(browser: Browser, console: str) -> Person:
    """Return somebody new, with nothing remembered from others. The zone is one that is hours away from UTC."""
    context = browser.new_context(viewport={"width": DESKTOP[0], "height": DESKTOP[1]}, timezone_id="America/New_York")
    return Person(context.new_page(), console)
