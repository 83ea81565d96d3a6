"""One batch held against its messages: what its leases gave back, what it holds, what is charged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from paceline import keys
from paceline.batches import Ledger
from paceline.closing import unused_parts
from paceline.models import Batch, Campaign
from paceline.recount.differences import Correction, Difference, Note, RowChange
from paceline.recount.movements import Amounts, taken
from paceline.rows import key_of
from paceline.settlement import amounts
from paceline.status import FINAL, CampaignStatus
from paceline.table import Row

# Campaigns whose workflow has come to its end. A cancelled one's still gives back and waits for receipts.
_ENDED = frozenset({CampaignStatus.FINISHED, CampaignStatus.FAILED})


@dataclass(frozen=True, slots=True)
class BatchRows:
    """A batch and its rows, as read one after the other. late: leads whose late receipt no report has taken up."""

    campaign: Campaign
    batch: Batch
    ledger: Ledger
    summary: Row
    late: frozenset[int] = frozenset()


@dataclass(slots=True)
class BatchCheck:
    """What differs in one batch; the changes that would mend it, and what they would move on shared rows."""

    differences: list[Difference] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    changes: dict[keys.Key, tuple[dict[str, Any], dict[str, Any]]] = field(default_factory=dict)
    moves: Amounts = field(default_factory=dict)

    def correction(self, title: str) -> Correction | None:
        """Return what mends all that can be mended here, or None."""
        rows = tuple(RowChange(key, before, after) for key, (before, after) in self.changes.items())
        return Correction(title, rows, {number: n for number, n in self.moves.items() if n}) if rows else None

    def change(self, row: Row, name: str, after: Any) -> None:
        before_values, after_values = self.changes.setdefault(key_of(row), ({}, {}))
        before_values[name], after_values[name] = row.get(name), after

    def move(self, moves: Mapping[Any, int]) -> None:
        for number, amount in moves.items():
            self.moves[number] = self.moves.get(number, 0) + amount


def check_batch(rows: BatchRows) -> BatchCheck:
    """Return what differs in a batch between its messages and what was made of them."""
    check = BatchCheck()
    for lease in rows.ledger.leases.values():
        _check_lease(rows, lease, check)
    _check_rounds(rows, check)
    if "final_at" in rows.summary:
        _check_outcomes(rows, check)
        _check_amounts(rows, check)
    else:
        _check_not_stranded(rows, check)
    return check


def name_of(batch: Batch) -> str:
    return f"batch {batch.batch_id}"


def _check_lease(rows: BatchRows, lease: Row, check: BatchCheck) -> None:
    """A closed lease has given back what no message of its round used; once the batch is final it is closed."""
    unused, where = unused_parts(lease, rows.ledger), f"{name_of(rows.batch)}, round {lease['round']}"
    is_closed = "closed_at" in lease
    gave_back = lease.get("unused", 0) if is_closed else 0
    if is_closed and gave_back == unused:
        return
    if not is_closed and "final_at" not in rows.summary:
        return
    used = lease["parts"] - unused
    why = f"it leased {lease['parts']} parts, and messages of the round used {used}"
    if not is_closed:
        why += "; the batch is final, and nobody will close the lease any more"
    check.differences.append(Difference(where, "parts given back", unused, gave_back, why, is_repairable=unused >= 0))
    if unused < 0:
        return
    check.change(lease, "unused", unused)
    if not is_closed:
        check.change(lease, "closed_at", rows.summary["final_at"])
    account_id = rows.campaign.account_id
    check.move(taken(account_id, rows.batch, lease, gave_back - unused))
    check.move({(keys.account(account_id), "available"): unused - gave_back})


def _check_rounds(rows: BatchRows, check: BatchCheck) -> None:
    """Every message that left had a lease."""
    rounds = rows.ledger.leases
    left = [m for m in rows.ledger.messages.values() if m.round not in rounds and m.is_claimed_in_round]
    if parts := sum(message.parts for message in left):
        why = f"{len(left)} messages say that they left in a round that has no lease"
        check.differences.append(Difference(name_of(rows.batch), "parts without a lease", 0, parts, why, False))


def _check_outcomes(rows: BatchRows, check: BatchCheck) -> None:
    messages = rows.ledger.messages.values()
    if missing := rows.batch.leads - len(messages):
        why = f"the batch was planned with {rows.batch.leads} leads and is final"
        check.differences.append(Difference(name_of(rows.batch), "leads without a message", 0, missing, why, False))
    if still_open := sum(message.status not in FINAL for message in messages):
        why = "the batch's row says that it is final"
        check.differences.append(Difference(name_of(rows.batch), "messages not final", 0, still_open, why, False))


def _check_amounts(rows: BatchRows, check: BatchCheck) -> None:
    """What a final batch's row says it holds and consumes, against its messages."""
    summary, is_settled = rows.summary, "settled_at" in rows.summary
    owed = amounts(rows.ledger.messages.values(), rows.campaign.charging)
    held, consumed = owed["held_parts"], owed["consumed"] - summary.get("waived", 0)
    if consumed != summary["consumed"] and rows.late:
        leads = ", ".join(map(str, sorted(rows.late)[:5]))
        text = f"late receipts (lead {leads}) change {summary['consumed']} consumed parts to {consumed}"
        check.notes.append(Note(name_of(rows.batch), f"{text}: the next report moves the credits"))
        consumed = summary["consumed"]
    for what, name, expected in (("parts held", "held_parts", held), ("parts consumed", "consumed", consumed)):
        if summary[name] != expected:
            why = "counted from its messages" + ("" if name == "held_parts" else f", {_policy(rows.campaign)}")
            check.differences.append(Difference(name_of(rows.batch), what, expected, summary[name], why))
            check.change(summary, name, expected)
    if is_settled:
        back = (held - consumed) - (summary["held_parts"] - summary["consumed"])
        account = keys.account(rows.campaign.account_id)
        moves = {
            "reserved": summary["held_parts"] - held,
            "consumed": consumed - summary["consumed"],
            "available": back,
        }
        check.move({(account, name): amount for name, amount in moves.items()})
        _check_totals(rows, consumed, check)


def _check_totals(rows: BatchRows, consumed: int, check: BatchCheck) -> None:
    """What the report adds up: reserved = consumed + released."""
    reserved = sum(lease["parts"] for lease in rows.ledger.leases.values())
    totals = (("reserved", reserved, "the sum of its leases"), ("released", reserved - consumed, "reserved - consumed"))
    for name, expected, why in totals:
        found = rows.summary.get(name, 0)
        if found != expected:
            what = f"parts {name}, as its report counts them"
            check.differences.append(Difference(name_of(rows.batch), what, expected, found, why))
            check.change(rows.summary, name, expected)


def _policy(campaign: Campaign) -> str:
    charging = campaign.charging
    if charging.charged == "delivered":
        return "where what reached a handset is charged"
    return "where what the provider took is charged" + ("" if charging.filtered else ", but not what a filter stopped")


def _check_not_stranded(rows: BatchRows, check: BatchCheck) -> None:
    """Nothing is held for a campaign that has come to its end."""
    if rows.campaign.status not in _ENDED:
        return
    leases = rows.ledger.leases.values()
    held = sum(lease["parts"] - (lease.get("unused", 0) if "closed_at" in lease else 0) for lease in leases)
    if held:
        still_open = sum(message.status not in FINAL for message in rows.ledger.messages.values())
        why = (
            f"the campaign is {rows.campaign.status.value} and this batch was never settled ({still_open} of its "
            "messages have no outcome): redrive its execution, whose reconciliation settles it"
        )
        check.differences.append(Difference(name_of(rows.batch), "parts reserved", 0, held, why, False))
