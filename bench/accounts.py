"""Many accounts start a campaign at the same moment, in virtual time: which row is written most, and what meets at it.

`python bench/accounts.py [--accounts 100] [--leads 100] [--routes 1] [--per-minute 60000] [--seed 1] [--json]`.
--per-minute is of all routes together; accounts take the routes in turn. docs/scale.md has what it prints.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from paceline.keys import is_shared_row
from sandbox.contention.recording import Recording, RowUse, kind_of
from sandbox.customer import Customer, operator_of
from sandbox.dynamodb import Call
from sandbox.operations import Operation, Operations
from sandbox.testing.leads import make_leads, to_csv
from sandbox.world import Sandbox

TEXT = "Hi {{first_name|there}}, your quote is ready. Reply STOP to opt out."


@dataclass(frozen=True, slots=True)
class Found:
    """What was seen. seconds: of the clock, from the first start to the last message taken and to the last report."""

    accounts: int
    routes: int
    per_minute: int
    messages: int
    sending_seconds: float
    until_all_reports_seconds: float
    conflicts_per_1000: float
    admissions_per_1000: float
    admission_ms: float
    transitions_in_busiest_second: int
    pace_units_in_busiest_second: float
    largest_pace_write: float
    sends_at_once: int
    rows: list[dict[str, Any]]


class Peaks:
    """The busiest second of state transitions and of a pace row's write units, and the most senders at once."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.transitions: dict[int, int] = {}
        self.spans: list[tuple[int, int]] = []
        self.units: Counter[tuple[str, int]] = Counter()
        self.largest = 0.0
        scheduler = sandbox.scheduler

        def entered(*_: object) -> None:
            second = scheduler.microseconds // 1_000_000
            self.transitions[second] = self.transitions.get(second, 0) + 1

        def invoked(function: Any, started: int, billed_ms: int) -> None:
            if function.folder == "send":
                self.spans.append((started, started + billed_ms * 1000))

        def called(call: Call) -> None:
            for access in call.keys:
                if access.sk == "PACE" and call.write_units:  # written alone: the call's units are the row's
                    self.units[str(access.pk), call.ended // 1_000_000] += call.write_units  # type: ignore[assignment]
                    self.largest = max(self.largest, call.write_units)

        sandbox.engine.watchers.append(entered)
        sandbox.counters.watchers.append(called)
        sandbox.functions.watchers.append(invoked)

    def senders(self) -> int:
        edges = sorted([(at, 1) for at, _ in self.spans] + [(end, -1) for _, end in self.spans])
        most = now = 0
        for _, step in edges:
            now += step
            most = max(most, now)
        return most


def customers(sandbox: Sandbox, accounts: int, routes: int, per_minute: int) -> list[Customer]:
    """Create routes and accounts as an operator does; return a customer of each account."""
    admin = operator_of(sandbox)
    for number in range(routes):
        route = {"name": f"lane-{number}", "sender": f"+120255501{number:02}", "parts_per_minute": per_minute // routes}
        admin.post("/v1/admin/routes", route)
    found = []
    for number in range(accounts):
        admin.post("/v1/admin/accounts", {"account_id": f"a{number:03}", "credits": 1_000_000})
        key = admin.post("/v1/admin/keys", {"account_id": f"a{number:03}"})["api_key"]
        found.append(Customer(sandbox, str(key)))
    return found


def run(accounts: int, leads: int, routes: int, per_minute: int, seed: int) -> Found:
    with Sandbox(seed=seed) as sandbox:
        people = customers(sandbox, accounts, routes, per_minute)
        body = to_csv(make_leads(leads))
        ids = [one.create(body, message=TEXT, route=f"lane-{n % routes}") for n, one in enumerate(people)]
        recording, operations, peaks = Recording(), Operations.watch(sandbox), Peaks(sandbox)
        sandbox.counters.watchers.append(recording.take)
        began = sandbox.scheduler.time()
        starts = [
            sandbox.scheduler.spawn(_start, sandbox, customer.key, campaign)
            for customer, campaign in zip(people, ids, strict=True)
        ]
        for start in starts:
            sandbox.run_until(start)
        for campaign in ids:
            sandbox.run_until(sandbox.execution(campaign).done)
            assert sandbox.execution(campaign).status == "SUCCEEDED", campaign  # it fails where sums do not close
        return _found(sandbox, recording, operations, peaks, began, (accounts, routes, per_minute))


def _start(sandbox: Sandbox, key: str, campaign: str) -> None:
    answer = sandbox.network.request(
        "POST", f"{sandbox.outputs['ApiUrl']}/v1/campaigns/{campaign}/start", {"x-api-key": key}, b""
    )
    assert answer.status < 300, answer


def _found(
    sandbox: Sandbox,
    recording: Recording,
    operations: Operations,
    peaks: Peaks,
    began: float,
    of: tuple[int, int, int],
) -> Found:
    sent = len(sandbox.carrier.book)
    admits = operations.counts[Operation.LAMBDA_REQUESTS]["admit"]
    return Found(
        *of,
        messages=sent,
        sending_seconds=round(max(entry.at for entry in sandbox.carrier.book) / 1e6 - began, 1),
        until_all_reports_seconds=round(sandbox.scheduler.time() - began, 1),
        conflicts_per_1000=round(recording.conflicts * 1000 / sent, 2),
        admissions_per_1000=round(admits * 1000 / sent, 1),
        admission_ms=round(operations.function_ms["admit"] / admits, 1),
        transitions_in_busiest_second=max(peaks.transitions.values()),
        pace_units_in_busiest_second=max(peaks.units.values()),
        largest_pace_write=peaks.largest,
        sends_at_once=peaks.senders(),
        rows=[
            {
                "row": kind,
                "rows": len(uses),
                "writes_per_1000": round(sum(use.attempts for use in uses) * 1000 / sent, 1),
                "conflicts_per_1000": round(sum(use.conflicts for use in uses) * 1000 / sent, 2),
                "most_writes_of_one_row_in_a_second": max(use.busiest_second for use in uses),
            }
            for kind, uses in _shared(recording)
        ],
    )


def _shared(recording: Recording) -> list[tuple[str, list[RowUse]]]:
    """Return each kind of shared row with the use of its rows."""
    kinds: dict[str, list[RowUse]] = {}
    for key, use in recording.rows.items():
        if is_shared_row(key):
            kinds.setdefault(kind_of(*key), []).append(use)
    return sorted(kinds.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in {"accounts": 100, "leads": 100, "routes": 1, "per-minute": 60_000, "seed": 1}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = asdict(run(given.accounts, given.leads, given.routes, given.per_minute, given.seed))
    if given.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        if name != "rows":
            print(f"{name.replace('_', ' '):32}{value:>12,}")
    for row in found["rows"]:
        print(row)


if __name__ == "__main__":
    main()
