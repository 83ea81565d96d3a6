"""The web console beside a campaign that runs: `bench/console.py` for a person, `--json` for a program.

`paceline up` at wall clock with a campaign under way, its console, and Chromium, which is not bench's: `make browser`.
A page's time is from the start of the navigation until its content is drawn (First Contentful Paint; where it first
said that it loads, until what it says was there), with an empty cache. Live: how long after the API first answered with
a change the open page shows it; the API is asked every 50 ms. What tabs cost is the processor time of the sandbox's
process beside so many open pages of the campaign.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "functions")]

import requests  # noqa: E402 (the path comes first)
from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402

from bench.intake import lead_lines  # noqa: E402
from bench.loads.served import Client, Served, served  # noqa: E402
from tests.browser.installed import ARGUMENTS, CHROMIUM, lacking  # noqa: E402

MOST_SECONDS = 1.0
PATIENCE = 30.0
# When a page that came whole was drawn; one that first said that it loads, when what it says was there.
DRAWN = """() => {
  const painted = performance.getEntriesByName('first-contentful-paint')[0]?.startTime
  if (!painted || document.querySelector('[data-loading]')) return (window.wasLoading = Boolean(painted)) && 0
  return window.wasLoading ? performance.now() : painted
}"""


def start(server: Served, leads: int) -> str:
    """Start a campaign by two routes; return its id once it sends."""
    customer = server.customer
    created = customer.post("/campaigns", {"name": "Renewals", "message": "Hi {{first_name|there}}, call us."})
    campaign = str(created["campaign_id"])
    post = customer.post(f"/campaigns/{campaign}/upload")
    requests.post(post["url"], data=post["fields"], files={"file": _file(leads)}, timeout=120).raise_for_status()
    customer.post(f"/campaigns/{campaign}/start")
    while not sent(customer, campaign):
        time.sleep(1)
    return campaign


def _file(leads: int) -> bytes:
    """Return the story's lead file where it has that many; otherwise one that bench/intake.py makes."""
    if leads == 25_000:
        return gzip.decompress((ROOT / "events" / "leads-25000.csv.gz").read_bytes())
    return "".join(lead_lines(leads)).encode()


def sent(customer: Client, campaign: str) -> int:
    """Return how many messages have left, or are in the sender's hands."""
    messages: dict[str, int] = customer.get(f"/campaigns/{campaign}")["messages"]
    return sum(messages.values())


def pages_of(server: Served, campaign: str) -> dict[str, str]:
    """Return every kind of page, by name."""
    machine = str(server.facts["outputs"]["CampaignStateMachineArn"])
    execution = f"{machine.replace(':stateMachine:', ':execution:')}:{campaign}"
    run = server.workflows("ListMapRuns", executionArn=execution)["mapRuns"][0]["mapRunArn"]
    return {
        "campaigns": "/",
        "campaign": f"/campaigns/{campaign}",
        "execution": f"/executions/{execution}",
        "map run": f"/map-runs/{run}",
        "routes": "/routes",
        "route": "/routes/shared",
        "accounts": "/accounts",
        "account": "/accounts/acme",
        "messages": f"/leads?campaign={campaign}",
        "lead": f"/leads?campaign={campaign}&lead=1",
    }


def first_page(browser: Browser, address: str, times: int) -> dict[str, float]:
    """Return how long a page takes whom the console has not seen before."""
    taken = []
    for _ in range(times):
        with _a_page(browser) as page:
            page.goto(address, wait_until="load")
            while not (drawn := page.evaluate(DRAWN)):  # the page's policy lets nothing wait in it
                time.sleep(0.01)
            taken.append(float(drawn) / 1000)
    return _figures(taken)


def _is_shown(page: Page, where: str, text: str) -> bool:
    script = "([where, text]) => document.querySelector(where).innerText.includes(text)"
    return bool(page.evaluate(script, [where, text]))


def lag(page: Page, where: str, api: Callable[[], str], change: Callable[[], None], times: int) -> dict[str, float]:
    """Return how far the page is behind the API. api: returns the text that is `where` once the page is up to date."""
    taken = []
    for _ in range(times):
        before = api()
        change()
        told_at, seen_at, now = 0.0, 0.0, before
        end = time.monotonic() + PATIENCE
        while not seen_at and time.monotonic() < end:
            if not told_at and (now := api()) != before:
                told_at = time.monotonic()
            if told_at and _is_shown(page, where, now):
                seen_at = time.monotonic()
            time.sleep(0.05)
        taken.append(seen_at - told_at if seen_at else PATIENCE)
    return _figures(taken)


def live(browser: Browser, server: Served, campaign: str, times: int) -> dict[str, Any]:
    """Return how far pages are behind: a pause or a resume, and a cap."""
    caps = iter(range(241, 1000))
    operator, customer = server.operator, server.customer

    def status() -> str:
        return str(customer.get(f"/campaigns/{campaign}")["status"])

    def turn() -> None:
        customer.post(f"/campaigns/{campaign}/{'pause' if status() == 'running' else 'resume'}")

    def cap() -> str:
        [found] = [one for one in operator.get("/routes")["routes"] if one["name"] == "shared"]
        return f"{found['parts_per_minute']:,}"

    def raise_cap() -> None:
        body = {"parts_per_minute": next(caps)}
        assert operator.ask("PATCH", "/admin/routes/shared", body).status == 200

    with _a_page(browser) as page:
        page.goto(f"{server.console}/campaigns/{campaign}")
        paused = lag(page, "h1", status, turn, times)
        if status() == "paused":
            turn()
    with _a_page(browser) as page:
        page.goto(f"{server.console}/routes/shared")
        return {"pause or resume": paused, "cap": lag(page, "main", cap, raise_cap, times)}


def tabs(browser: Browser, server: Served, campaign: str, seconds: float) -> dict[str, float]:
    """Return the sandbox's processor seconds a second beside 0, 1 and 5 open pages of the campaign."""
    found = {}
    for count in (0, 1, 5):
        contexts = [browser.new_context() for _ in range(count)]
        for context in contexts:
            context.new_page().goto(f"{server.console}/campaigns/{campaign}")
        time.sleep(3)
        before, began = server.cpu_seconds(), time.monotonic()
        time.sleep(seconds)
        found[str(count)] = round((server.cpu_seconds() - before) / (time.monotonic() - began), 3)
        for context in contexts:
            context.close()
    return found


@contextmanager
def _a_page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    try:
        yield context.new_page()
    finally:
        context.close()


def _figures(taken: list[float]) -> dict[str, float]:
    return {"p50": round(statistics.median(taken), 3), "max": round(max(taken), 3)}


def measure(leads: int, times: int) -> dict[str, Any]:
    """Measure all of it beside a campaign of so many leads."""
    load = os.getloadavg()[0]
    with served(has_console=True) as server, sync_playwright() as playwright:
        campaign = start(server, leads)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        pages = {
            name: first_page(browser, server.console + path, times) for name, path in pages_of(server, campaign).items()
        }
        behind = live(browser, server, campaign, times)
        cost = tabs(browser, server, campaign, 10)
        left = sent(server.customer, campaign)
        browser.close()
    worst = max(one["max"] for one in [*pages.values(), *behind.values()])
    figures = {"page_seconds": pages, "behind_seconds": behind, "sandbox_cpu_beside_tabs": cost, "sent": left}
    return {"leads": leads, "load": round(load, 2), **figures, "met": worst <= MOST_SECONDS}


def _table(result: dict[str, Any]) -> str:
    rows = [("page", name, one) for name, one in result["page_seconds"].items()]
    rows += [("behind", name, one) for name, one in result["behind_seconds"].items()]
    lines = [f"{kind:7} {name:16} {one['p50']:7.3f} s {one['max']:7.3f} s" for kind, name, one in rows]
    cost = ", ".join(f"{count} tabs {cpu:.0%}" for count, cpu in result["sandbox_cpu_beside_tabs"].items())
    head = f"{result['leads']:,} leads, load {result['load']}                 p50       max"
    return "\n".join([head, *lines, f"the sandbox's processor time: {cost}"])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--json", action="store_true", help="one JSON object")
    arguments.add_argument("--leads", type=int, default=25_000)
    arguments.add_argument("--times", type=int, default=20, help="how often each is measured")
    given = arguments.parse_args()
    if "Chromium" in lacking():
        raise SystemExit("Chromium is not installed: make browser")
    result = measure(given.leads, given.times)
    print(json.dumps(result) if given.json else _table(result))


if __name__ == "__main__":
    main()
