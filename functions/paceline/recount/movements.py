"""What rows say was moved on the rows that batches share: each movement was one transaction's, and is never undone.

So where no movement came between two looks at the rows, a shared row that was read between the looks must be their sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date

from paceline import keys
from paceline.models import Batch
from paceline.table import Row

Number = tuple[keys.Key, str]
"""A number of a shared row: the row's key, and the attribute."""

Amounts = dict[Number, int]
Movements = dict[str, Amounts]
"""By a name that tells one movement from every other."""

# So many sums are looked at for whether movements that are under way explain a number.
MOST_SUMS = 20_000


def taken(account_id: str, batch: Batch, lease: Row, parts: int) -> Amounts:
    """Return what a lease of so many parts moves; a negative number gives back."""
    day = date.fromisoformat(lease["day"])
    amounts = {(keys.account(account_id), "reserved"): parts, (keys.route_day(batch.route, day), "used"): parts}
    if lease["counts_account_day"]:
        amounts[keys.account_day(account_id, day), "used"] = parts
    return amounts


def of_batch(account_id: str, batch: Batch, leases: Mapping[int, Row], summary: Row) -> Movements:
    """Return the movements of a batch: its leases, their give-backs, its settlement."""
    found: Movements = {}
    name = f"{batch.campaign_id} {batch.batch_id}"
    for round_no, lease in leases.items():
        found[f"{name} lease {round_no}"] = taken(account_id, batch, lease, lease["parts"])
        if "closed_at" in lease:
            found[f"{name} give-back {round_no}"] = taken(account_id, batch, lease, -lease.get("unused", 0))
    if "settled_at" in summary:
        account = keys.account(account_id)
        held, consumed = summary["held_parts"], summary["consumed"]
        found[f"{name} settlement"] = {(account, "reserved"): -held, (account, "consumed"): consumed}
    return found


def of_trail(account_id: str, trail: Iterable[Row]) -> Movements:
    """Return the purchases that the trail of operators' changes has; none where it does not begin with the account."""
    account, found, begins = keys.account(account_id), {}, False
    for row in trail:
        bought = row["changes"].get("bought")
        if bought is None:
            continue
        begins = begins or bought["before"] is None
        found[f"{account_id} purchase {row['sk']}"] = {(account, "bought"): bought["after"] - (bought["before"] or 0)}
    return found if begins else {}


def total(movements: Movements) -> Amounts:
    """Return the sum of movements."""
    sums: Amounts = {}
    for amounts in movements.values():
        for number, amount in amounts.items():
            sums[number] = sums.get(number, 0) + amount
    return sums


def between(before: Movements, after: Movements) -> list[Amounts]:
    """Return what came between two looks, each movement that is new or another."""
    found = []
    for name, amounts in after.items():
        was = before.get(name, {})
        change = {number: amounts.get(number, 0) - was.get(number, 0) for number in amounts.keys() | was.keys()}
        if change := {number: amount for number, amount in change.items() if amount}:
            found.append(change)
    return found


def may_be(base: tuple[int, ...], moves: Iterable[tuple[int, ...]], found: tuple[int, ...]) -> bool:
    """Tell whether `found` is the base and some of the moves. Yes, too, where there are too many to look at."""
    sums = {base}
    for move in moves:
        sums |= {tuple(a + b for a, b in zip(one, move, strict=True)) for one in sums}
        if len(sums) > MOST_SUMS:
            return True
    return found in sums
