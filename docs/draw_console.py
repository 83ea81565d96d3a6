"""Draws docs/images/console-*.png: every page of the console, light and dark, on a desktop and on a phone.

    docs/draw_console.py [PAGE …]    Chromium is needed: make browser

The sandbox begins at its usual moment with its usual seed; how far a campaign is when it is drawn depends on the
machine.
"""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "functions")]

from PIL import Image  # noqa: E402 (the path comes first)
from playwright.sync_api import Browser, sync_playwright  # noqa: E402

from tests.browser.campaigns import finish, make_route, start_campaign  # noqa: E402
from tests.browser.installed import ARGUMENTS, CHROMIUM, lacking  # noqa: E402
from tests.browser.person import DESKTOP, PHONE, THEMES  # noqa: E402
from tests.server.server_process import Server, start_server  # noqa: E402

FOLDER = ROOT / "docs" / "images"
SPEED = 20
# A page that is longer is cut: nobody reads a picture of forty screens.
MOST_SCREENS = 2.0
COLOURS = 128


def stage(server: Server) -> dict[str, str]:
    """Make campaigns that run, are held and are done; return the page of each name."""
    make_route(server, "tiny", parts_per_day=5)
    done = start_campaign(server, "Spring renewals", 40, "shared")
    finish(server, done)
    held = start_campaign(server, "Auto quotes", 30, "tiny")
    make_route(server, "regional", parts_per_minute=40)
    running = start_campaign(server, "Home renewals", 1000, "regional")
    time.sleep(15)
    execution = f"/executions/{server.machine_arn.replace(':stateMachine:', ':execution:')}"
    return {
        "campaigns": "/",
        "campaign": f"/campaigns/{running}",
        "campaign-held": f"/campaigns/{held}",
        "campaign-done": f"/campaigns/{done}",
        "execution": f"{execution}:{running}",
        "routes": "/routes",
        "route": "/routes/tiny",
        "route-change": "/routes/tiny/change",
        "accounts": "/accounts",
        "account": "/accounts/acme",
        "leads": f"/leads?campaign={done}",
        "lead": f"/leads?campaign={done}&lead=3",
    }


def draw(browser: Browser, console: str, name: str, path: str) -> None:
    """Draw a page in each theme, on each screen."""
    for screen, (width, height) in (("desktop", DESKTOP), ("phone", PHONE)):
        for theme in THEMES:
            settings: Any = {"color_scheme": theme, "viewport": {"width": width, "height": height}}
            context = browser.new_context(**settings, timezone_id="America/New_York")
            page = context.new_page()
            page.goto(console + path)
            page.wait_for_timeout(900)  # the first news: it knows the browser's zone
            long = int(page.evaluate("document.documentElement.scrollHeight"))
            clip: Any = {"x": 0, "y": 0, "width": width, "height": min(long, int(height * MOST_SCREENS))}
            shot = page.screenshot(full_page=True, clip=clip)
            save(shot, FOLDER / f"console-{name}-{theme}-{screen}.png")
            context.close()


def save(shot: bytes, path: Path) -> None:
    """Write a picture with few colours: a quarter of its size, and nobody sees it."""
    picture = Image.open(io.BytesIO(shot)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    picture.save(path, optimize=True)


def main(*names: str) -> None:
    if "Chromium" in lacking():
        raise SystemExit("Chromium is not installed: make browser")
    server = start_server("--speed", str(SPEED), has_console=True)
    try:
        pages = stage(server)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            for name in names or pages:
                draw(browser, server.console, name, pages[name])
            browser.close()
    finally:
        server.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
