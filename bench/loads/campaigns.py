"""Many campaigns started in one minute: does each reach its end, with every lead sent to once and nothing lost?"""

from __future__ import annotations

import csv
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any

import requests

from bench.campaign import lead_lines
from bench.loads.served import Client, Served, served
from paceline.cells import read_cell

LEADS_EACH, ACCOUNTS, CLIENTS = 3, 5, 16
# Run before anything is measured: what a first campaign loads is no campaign's memory.
WARMING = 10
CREDITS = 1_000_000
# In `shared` and `verizon` together; so that the campaigns, not the routes' caps, are the load.
PER_MINUTE = 6_000
# Real seconds; a campaign whose last receipt is late looks again after a quarter of an hour of the sandbox's clock.
MOST_SECONDS = 900
MESSAGE = "Hi {{first_name|there}}, your quote is ready."
# Of growth for a campaign, of many against fewer; the rest is how an allocator rounds, and with few that is all.
PROPORTION, FEWEST_TO_COMPARE = 1.25, 400
TAKEN = ("delivered", "undelivered", "unconfirmed")
Say = Callable[[str], None]


@dataclass(frozen=True)
class Started:
    """A campaign that was started, whose it is, and the lines of its lead file."""

    customer: Client
    campaign_id: str
    leads: list[str]


def measure(campaigns: int, speed: float, say: Say) -> dict[str, Any]:
    """Run two quarters of the campaigns after each other on one server, all at once on another; return what was found.

    growth: a campaign's memory from the half to the whole, over that from the first quarter to the second. The first
    ones cost nothing: they fill what the start of the process left free.
    """
    quarter = max(campaigns // 4, 1)
    some, many = _run([quarter, quarter], speed, say), _run([campaigns], speed, say)
    second = _kb_a_campaign(some["memory_mb"][-1] - some["memory_mb"][-2], quarter)
    rest = _kb_a_campaign(many["memory_mb"][-1] - some["memory_mb"][-1], max(campaigns - 2 * quarter, 1))
    growth = round(rest / max(second, 1.0), 2)
    faults = some.pop("faults") + many.pop("faults")
    if many["starts_clock_seconds"] > 60:
        faults.append(f"the starts took {many['starts_clock_seconds']} s of the sandbox's clock, not one minute")
    if growth > PROPORTION and campaigns >= FEWEST_TO_COMPARE:
        faults.append(f"a campaign's memory grows with their number: by {growth}")
    kept = {"second_quarter_kb_a_campaign": second, "half_to_all_kb_a_campaign": rest, "growth": growth}
    return {"some": some, "many": many, **kept, "faults": faults}


def _kb_a_campaign(megabytes: float, campaigns: int) -> float:
    return round(megabytes * 1024 / campaigns, 1)


def _run(waves: list[int], speed: float, say: Say) -> dict[str, Any]:
    """Start so many campaigns at once, and so many more when they have ended. starts_…: of the last wave."""
    with served("--speed", str(speed)) as server:
        customers = prepare(server, ACCOUNTS)
        files = _files(WARMING + sum(waves))
        started = _start(customers, files[:WARMING])
        wait_until_one_ended(customers)
        memory = [server.memory_mb()]
        for wave in waves:
            clock, began = server.clock(), time.perf_counter()
            started += _start(customers, files[len(started) : len(started) + wave])
            starts, clock_starts = time.perf_counter() - began, (server.clock() - clock).total_seconds()
            say(f"{wave} campaigns started in {starts:.0f} s, {clock_starts:.0f} s of the clock")
            statuses = wait_for_ends(customers, time.perf_counter() + MOST_SECONDS, say)
            ends = time.perf_counter() - began
            memory.append(server.memory_mb())
        return {
            "campaigns": waves,
            "starts_seconds": round(starts, 1),
            "starts_clock_seconds": round(clock_starts, 1),
            "ends_seconds": round(ends, 1),
            "statuses": dict(statuses),
            "accepted_by_provider": len(server.book()),
            "memory_mb": [round(one, 1) for one in memory],
            "peak_mb": round(server.peak_mb()),
            "faults": _faults(server, customers, started, statuses),
        }


def _start(customers: list[Client], files: list[list[str]]) -> list[Started]:
    """Start a campaign of each file, the accounts in turn."""

    def start(number: int) -> Started:
        customer, leads = customers[number % len(customers)], files[number]
        return Started(customer, start_campaign(customer, leads, leads[0][:12]), leads)

    with ThreadPoolExecutor(CLIENTS) as pool:
        return list(pool.map(start, range(len(files))))


def prepare(server: Served, accounts: int) -> list[Client]:
    """Widen the routes; create the accounts, each with credits and a key."""
    for route in ("shared", "verizon"):
        server.operator.ask("PATCH", f"/admin/routes/{route}", {"parts_per_minute": PER_MINUTE})
    customers = []
    for number in range(accounts):
        account = {"account_id": f"load-{number}", "credits": CREDITS}
        server.operator.post("/admin/accounts", account)
        made = server.operator.post("/admin/keys", {"account_id": account["account_id"]})
        customers.append(Client(server.address, made["api_key"]))
    return customers


def start_campaign(customer: Client, leads: list[str], name: str) -> str:
    """Create a campaign, upload its file by the form, start it; return its id."""
    body = {"name": name, "message": MESSAGE}
    campaign = customer.post("/campaigns", body, idempotency_key=f"{customer.key[-8:]}-{name}")["campaign_id"]
    post = customer.post(f"/campaigns/{campaign}/upload")
    content = "".join(["phone,first_name\n", *leads]).encode()
    requests.post(post["url"], data=post["fields"], files={"file": content}, timeout=120).raise_for_status()
    customer.post(f"/campaigns/{campaign}/start")
    return str(campaign)


def wait_for_ends(customers: list[Client], until: float, say: Say) -> Counter[str]:
    """Look at all campaigns until none runs, or real time is over; return how many have which status."""
    while True:
        statuses = Counter(one["status"] for customer in customers for one in _listed(customer))
        say(", ".join(f"{count} {status}" for status, count in sorted(statuses.items())))
        if set(statuses) <= {"finished", "failed", "cancelled"} or time.perf_counter() > until:
            return statuses
        time.sleep(2)


def _files(campaigns: int) -> list[list[str]]:
    """Return so many files of a few leads; no number is in two of them."""
    lines = islice(lead_lines(campaigns * LEADS_EACH), 1, None)
    return [list(islice(lines, LEADS_EACH)) for _ in range(campaigns)]


def wait_until_one_ended(customers: list[Client]) -> None:
    while not any(one["status"] == "finished" for customer in customers for one in _listed(customer)):
        time.sleep(1)


def _listed(customer: Client) -> list[dict[str, Any]]:
    return list(customer.pages("/campaigns", "campaigns"))


def _faults(server: Served, customers: list[Client], started: list[Started], statuses: Counter[str]) -> list[str]:
    """Compare what was asked for with the reports, the provider's book, the credits and the executions."""
    if statuses != {"finished": len(started)}:
        return [f"{len(started)} campaigns were started, and they are {dict(statuses)}"]
    faults: list[str] = []
    expected: Counter[str] = Counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        for sent, wrong in pool.map(_told, started):
            expected.update(sent)
            faults += wrong
    book = Counter(entry["to"] for entry in server.book())
    if book != expected:
        faults.append(f"the provider's book has {book.total()} messages, the reports say {expected.total()}")
    faults += [f"{number} was sent to {count} times" for number, count in book.items() if count > 1]
    for customer in customers:
        account = customer.get("/account")
        if account["reserved"] or account["available"] + account["consumed"] != CREDITS:
            faults.append(f"credits are not all there: {account}")
    return faults + _executions(server, len(started))


def _told(started: Started) -> tuple[list[str], list[str]]:
    """Return the numbers that a campaign's report says were taken by the provider, and what is wrong with it."""
    customer, campaign = started.customer, started.campaign_id
    report = customer.get(f"/campaigns/{campaign}/report")
    rows = list(csv.DictReader(requests.get(report["files"]["outcomes.csv"], timeout=120).text.splitlines()))
    outcomes = [(read_cell(row["phone_number"]), row["outcome"]) for row in rows]
    faults = [] if report["balanced"] else [f"{campaign}: the sums do not close"]
    if sorted(number for number, _ in outcomes) != sorted(line.partition(",")[0] for line in started.leads):
        faults.append(f"{campaign}: the report's leads are not those of the file")
    return [number for number, outcome in outcomes if outcome in TAKEN], faults


def _executions(server: Served, expected: int) -> list[str]:
    machine, token = server.facts["outputs"]["CampaignStateMachineArn"], {}
    statuses: Counter[str] = Counter()
    while True:
        page = server.workflows("ListExecutions", stateMachineArn=machine, maxResults=1000, **token)
        statuses.update(one["status"] for one in page["executions"])
        if "nextToken" not in page:
            break
        token = {"nextToken": page["nextToken"]}
    return [] if statuses == {"SUCCEEDED": expected} else [f"executions: {dict(statuses)}, {expected} expected"]
