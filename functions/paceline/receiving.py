"""A receipt that a provider sent, from whichever door it came: applied, and where it is late, seen to."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from paceline import keys
from paceline.audit import MAX_TRIES
from paceline.campaigns import get_campaign
from paceline.errors import TransactionConflict
from paceline.late import is_noted
from paceline.ports import Workflow
from paceline.receipts import Effect, Receipt, apply_receipt
from paceline.table import Table


def take_receipt(table: Table, workflow: Workflow, receipt: Receipt, now: datetime) -> None:
    """Apply a receipt that a provider sent; where it came after the campaign's report, see to the next version of that.

    One that was killed after it had noted a late change is repeated, and finds the note. Raises: as `apply_receipt`.
    """
    effect = _applied(table, receipt, now)
    if effect is Effect.LATE or (effect is Effect.NONE and is_noted(table, receipt.message_id)):
        campaign = get_campaign(table, keys.parse_message_id(receipt.message_id)[0])
        if campaign.reports_begun:
            workflow.revise(campaign.campaign_id, campaign.reports_begun)


def _applied(table: Table, receipt: Receipt, now: datetime) -> Effect:
    """Apply a receipt, again at once where another one of the same message holds its row for milliseconds."""
    for _ in range(MAX_TRIES - 1):
        with suppress(TransactionConflict):
            return apply_receipt(table, receipt, now)
    return apply_receipt(table, receipt, now)
