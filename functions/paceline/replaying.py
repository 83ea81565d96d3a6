"""Replaying the inbox: receipts that were stored, and perhaps not applied, are applied once more by their own rule.

Reconciliation does the same at each of its looks. This is for who cannot wait for one, or where none is to come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from paceline import keys
from paceline.batches import batch_summaries
from paceline.late import unreported
from paceline.ports import Workflow
from paceline.receipts import Receipt, receipt_of, would_change
from paceline.receiving import take_receipt
from paceline.table import Table


@dataclass(frozen=True, slots=True)
class Replay:
    """What a campaign's inbox has. stored: callbacks; unread: those whose meaning nobody knew.

    due: receipts that would change their message's row. unreported: of messages whose late change no report has taken
    up: the workflow is asked for one again.
    """

    stored: int
    unread: int
    due: tuple[Receipt, ...]
    unreported: tuple[Receipt, ...]


def look_into_inbox(table: Table, inbox: Table, campaign_id: str) -> Replay:
    """Compare each stored receipt of a campaign with its message. inbox: the table that has the receipts."""
    stored = unread = 0
    due: list[Receipt] = []
    late: list[Receipt] = []
    waiting = unreported(table, campaign_id)
    for summary in batch_summaries(table, campaign_id):
        batch_id = summary["sk"].removeprefix("BATCH#")
        partition = keys.batch_partition(campaign_id, batch_id)
        messages = {row["lead_no"]: row for row in table.query(partition, keys.MESSAGES)}
        for lead_no, receipt in _receipts(inbox, campaign_id, batch_id):
            stored += 1
            if receipt is None:
                unread += 1
            elif lead_no in messages and would_change(messages[lead_no], receipt):
                due.append(receipt)
            elif (batch_id, lead_no) in waiting:
                late.append(receipt)
    return Replay(stored, unread, tuple(due), tuple(late))


def apply_again(table: Table, workflow: Workflow, receipts: Iterable[Receipt], now: datetime) -> None:
    """Apply receipts as if they came now. Safe to repeat. Raises: TransactionConflict, TableThrottled."""
    for receipt in receipts:
        take_receipt(table, workflow, receipt, now)


def _receipts(inbox: Table, campaign_id: str, batch_id: str) -> Iterator[tuple[int, Receipt | None]]:
    partition, prefix = keys.inbox_of_batch(campaign_id, batch_id)
    for row in inbox.query(partition, prefix):
        lead_no = int(row["sk"].split("#")[1])
        yield lead_no, receipt_of(row, keys.message_id(campaign_id, batch_id, lead_no))
