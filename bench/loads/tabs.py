"""Twenty open tabs of a console: what one shows is asked for every second, while campaigns run."""

from __future__ import annotations

import threading
import time
from collections import Counter
from itertools import islice
from typing import Any

import requests

from bench.campaign import lead_lines
from bench.loads.campaigns import Say, prepare, start_campaign
from bench.loads.served import Client, Served, percentile_ms, served

TABS, CAMPAIGNS, LEADS_EACH = 20, 4, 500
# The console's page, where there is one; else the page that the server has.
PAGES = ("/console/", "/")
EVERY_SECONDS = 1.0
MOST_SECONDS = 300
# Campaigns' speed beside the tabs, of that without: a tab takes 22 ms of each second of the server's one core.
LEAST_RATIO = 0.5


def measure(say: Say) -> dict[str, Any]:
    """Run the same campaigns on a server of their own without tabs and with them; return figures and faults."""
    without, beside = _run(0, say), _run(TABS, say)
    ratio = round(without["seconds"] / beside["seconds"], 2)
    by_clock = round(without["clock_seconds"] / beside["clock_seconds"], 2)
    faults = without.pop("faults") + beside.pop("faults")
    faults += [f"campaigns had {ratio} of their speed beside {TABS} tabs"] * (ratio < LEAST_RATIO)
    ratios = {"speed_ratio": ratio, "speed_ratio_by_clock": by_clock}
    return {"tabs": TABS, "without": without, "beside": beside, **ratios, "faults": faults}


def _run(tabs: int, say: Say) -> dict[str, Any]:
    """seconds: of real time, until the provider has all messages. memory_mb: then, and with tabs 15 and 30 s later."""
    with served() as server:
        customer = prepare(server, 1)[0]
        lines = islice(lead_lines(CAMPAIGNS * LEADS_EACH), 1, None)
        files = [list(islice(lines, LEADS_EACH)) for _ in range(CAMPAIGNS)]
        stop, waits, statuses = threading.Event(), list[float](), Counter[int]()
        began, clock = time.perf_counter(), server.clock()
        campaigns = [start_campaign(customer, file, f"tabs-{n}") for n, file in enumerate(files)]
        threads = [
            threading.Thread(target=_tab, args=(server, customer, campaigns[n % CAMPAIGNS], stop, waits, statuses))
            for n in range(tabs)
        ]
        for thread in threads:
            thread.start()
        while not (done := _accepted(customer, campaigns)) and time.perf_counter() - began < MOST_SECONDS:
            time.sleep(1)
        seconds, clock_seconds = time.perf_counter() - began, (server.clock() - clock).total_seconds()
        memory = [server.memory_mb()]
        for _ in range(2 * (tabs > 0)):
            time.sleep(15)
            memory.append(server.memory_mb())
        stop.set()
        for thread in threads:
            thread.join()
        say(f"{tabs} tabs: {seconds:.0f} s, {len(waits)} requests")
        return {
            "seconds": round(seconds, 1),
            "clock_seconds": round(clock_seconds, 1),
            "requests": len(waits),
            "p50_ms": percentile_ms(waits, 50),
            "p99_ms": percentile_ms(waits, 99),
            "memory_mb": [round(one) for one in memory],
            "faults": [*_lost(server, files), *([] if done else ["the campaigns did not send all in time"])]
            + [f"a tab was answered {status}, {count} times" for status, count in statuses.items() if status >= 400],
        }


def _accepted(customer: Client, campaigns: list[str]) -> bool:
    """Tell whether every message has left for the provider."""
    return all(
        sum(count for status, count in customer.get(f"/campaigns/{one}")["messages"].items() if status != "claimed")
        >= LEADS_EACH
        for one in campaigns
    )


def _lost(server: Served, files: list[list[str]]) -> list[str]:
    book = Counter(entry["to"] for entry in server.book())
    asked = {line.partition(",")[0] for file in files for line in file}
    faults = [
        f"{number} was sent to {count} times" for number, count in book.items() if count > 1 or number not in asked
    ]
    # The carrier refuses one number in 500, and those are not in its book.
    return faults + [f"only {len(book)} of {len(asked)} numbers are in the book"] * (len(book) < 0.97 * len(asked))


def _tab(
    server: Served,
    customer: Client,
    campaign: str,
    stop: threading.Event,
    waits: list[float],
    statuses: Counter[int],
) -> None:
    """Be a tab: ask for everything that it shows, then wait for the next second."""
    machine = server.facts["outputs"]["CampaignStateMachineArn"]
    execution = machine.replace(":stateMachine:", ":execution:") + f":{campaign}"
    page = next(one for one in PAGES if requests.get(server.address + one, timeout=120).ok)
    while not stop.is_set():
        began = time.perf_counter()
        answers = [customer.ask("GET", f"{server.address}{page}")]
        answers += [customer.ask("GET", path) for path in ("/campaigns", f"/campaigns/{campaign}", "/routes")]
        waits += [one.seconds for one in answers]
        statuses.update(one.status for one in answers)
        for operation, parameters in (
            ("ListExecutions", {"stateMachineArn": machine, "maxResults": 50}),
            ("GetExecutionHistory", {"executionArn": execution, "reverseOrder": True, "maxResults": 100}),
        ):
            asked = time.perf_counter()
            server.workflows(operation, **parameters)
            waits.append(time.perf_counter() - asked)
        stop.wait(max(EVERY_SECONDS - (time.perf_counter() - began), 0))
