"""Counts what a campaign in the sandbox writes, row by row and function by function: `python docs/count_rows.py`.

The table in docs/rows.md is what it prints. Options: --leads FILE, --per-minute N, --seed N.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from console.plan import DEFAULT_MESSAGE
from console.run import most_in_window
from sandbox.customer import set_up
from sandbox.dynamodb import Call
from sandbox.world import Sandbox

LEADS = Path(__file__).resolve().parents[1] / "events" / "leads-1000.csv"
WRITES = {"Put", "Update", "Delete", "ConditionCheck"}


def kind_of(pk: str, sk: str) -> str:
    """Return the kind of row, as docs/rows.md names it."""
    first, second = pk.split("#")[0], sk.split("#")[0]
    if first in ("INBOX", "HOLD", "KEY", "RECIPIENT", "ROUTES"):
        return first.lower()
    return {"DAY": f"{first.lower()} day", "PACE": "route pace"}.get(second, second.lower())


class Count:
    """Attempts to write, refused ones too, by kind of row and (function, action); refusals by a conflict, by kind."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.attempts: dict[str, Counter[tuple[str, str]]] = {}
        self.conflicts: Counter[str] = Counter()
        self._sandbox = sandbox
        self._functions = {physical: logical for logical, physical in sandbox.names.items()}
        self._callers: dict[int, str] = {}
        self._call = sandbox.dynamodb.call
        sandbox.dynamodb.call = self._note_caller  # type: ignore[method-assign]
        sandbox.dynamodb._on_call = self.take

    def _note_caller(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """A transaction is reported at its commit, by nobody's invocation: so keep who began it, and when."""
        if invocation := self._sandbox.functions.running():
            name = self._functions[invocation.function.name].removesuffix("Function")
            self._callers[self._sandbox.scheduler.microseconds] = name
        return self._call(operation, parameters)

    def take(self, call: Call) -> None:
        self._sandbox.counters.take(call)
        caller = self._callers.get(call.started, "?")
        reasons = call.reasons or [call.outcome] * len(call.keys)
        for access, reason in zip(call.keys, reasons, strict=False):
            if access.action in WRITES:
                kind = kind_of(str(access.pk), str(access.sk))
                self.attempts.setdefault(kind, Counter())[caller, access.action] += 1
                self.conflicts[kind] += "TransactionConflict" in reason


def show(count: Count, sandbox: Sandbox) -> None:
    """Print the table, and what the whole campaign cost."""
    sends, counters = len(sandbox.carrier.book), sandbox.counters
    print(f"{sends:,} messages accepted by the carrier; attempts to write, per 1,000 of them:\n")
    print("| row | attempts | conflicts | by |\n|---|---|---|---|")
    for kind, writers in sorted(count.attempts.items()):
        by = ", ".join(f"{who} {action} {number * 1000 / sends:.0f}" for (who, action), number in writers.most_common())
        print(f"| {kind} | {writers.total() * 1000 / sends:.0f} | {count.conflicts[kind] * 1000 / sends:.1f} | {by} |")
    accepted = [(at, parts) for at, parts, _ in sandbox.carrier.parts_accepted()]
    print(f"""
shared-row writes  {counters.shared_row_writes * 1000 / sends:.0f} per 1,000 messages
conflicts          {counters.conflicts}
state transitions  {sandbox.engine.transitions / sends:.2f} per message
sending            {(accepted[-1][0] - accepted[0][0]) / 1e6:,.0f} s from the first message to the last
most in 60 s       {most_in_window(accepted, 60_000_000)} parts, all routes""")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--leads", type=Path, default=LEADS)
    arguments.add_argument("--per-minute", type=int, default=240)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    with Sandbox(seed=given.seed) as sandbox:
        customer = set_up(sandbox, credits=1_000_000, parts_per_minute=given.per_minute)
        campaign_id = customer.create(given.leads.read_bytes(), file_name=given.leads.name, message=DEFAULT_MESSAGE)
        count = Count(sandbox)
        customer.post(f"/v1/campaigns/{campaign_id}/start")
        sandbox.run_until(sandbox.execution(campaign_id).done)
        show(count, sandbox)


if __name__ == "__main__":
    main()
