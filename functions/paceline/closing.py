"""Closing a round: what its lease did not use is given back, and what is left of the batch is counted."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from datetime import date, datetime

from paceline import keys, rows
from paceline.batches import Ledger, read_ledger, summarize
from paceline.campaigns import get_campaign
from paceline.departures import departed, in_doubt, is_of_round
from paceline.failing import verdict
from paceline.holds import release_after_give_back
from paceline.minutes import parts_by_minute
from paceline.models import Batch, Campaign, Model
from paceline.moments import iso
from paceline.ports import Workflow
from paceline.routes import route_now
from paceline.table import Action, ConditionFailed, Row, Table, TransactionRefused, Update

# Of a batch's summary: a closing whose caller let it go knows fewer leases, and less of what they hold.
KNOWS_ALL_LEASES = "attribute_not_exists(#reserved) OR #reserved <= :limit"


class Closed(Model):
    """The answer of `Close Batch`. left: leads without a message, or whose is due once more. next_round: theirs."""

    left: int
    next_round: int


def close_round(table: Table, workflow: Workflow, batch: Batch, round_no: int, now: datetime) -> Closed:
    """Close the round once, however often it is asked. Raises: TransactionConflict, TableThrottled."""
    _announce(table, batch, round_no, now)
    ledger = read_ledger(table, batch.campaign_id, batch.batch_id)
    lease = ledger.leases.get(round_no)
    if lease is not None:
        unused = _given_back(lease, ledger)
        campaign = get_campaign(table, batch.campaign_id)
        if "closed_at" not in lease:
            _give_back(table, campaign, batch, lease, ledger, now)
        if unused:  # again, where another try gave it back: that one may not have lived to say so
            release_after_give_back(table, workflow, campaign.account_id, batch.route)
    done = [message for lead_no, message in ledger.messages.items() if ledger.is_done(lead_no)]
    left = batch.leads - len(done)
    reserved = sum(lease["parts"] for lease in ledger.leases.values())
    statuses = Counter(message.status.value for message in done)
    summarize(
        table,
        batch.campaign_id,
        batch.batch_id,
        now,
        condition=KNOWS_ALL_LEASES,
        limit=reserved,
        status="sent" if left == 0 else "waiting",
        hold=None,  # of an admission whose caller let it go
        messages=dict(statuses),
        left=left,
        round=round_no,
        reserved=reserved,
        released=sum(_given_back(lease, ledger) for lease in ledger.leases.values()),
        by_minute=parts_by_minute(ledger),
    )
    return Closed(left=left, next_round=max(ledger.leases, default=round_no) + 1)


def _announce(table: Table, batch: Batch, round_no: int, now: datetime) -> None:
    """Say in the lease that the round is being closed, before its messages are counted.

    A sender whose caller let it go may still be about to claim. It looks at the lease after its claim: either that
    claim is counted here, or the sender sees this and gives it up. Else a text could go on credits given back.
    """
    key = keys.lease(batch.campaign_id, batch.batch_id, round_no)
    condition = "attribute_exists(#pk) AND attribute_not_exists(#closing_at)"
    with suppress(ConditionFailed):
        table.update(Update(key, "SET #closing_at = :now", {"now": iso(now)}, condition=condition))


def _given_back(lease: Row, ledger: Ledger) -> int:
    """Return what a lease gave back, or does now: a claim that was counted may have been given up since."""
    return int(lease["unused"]) if "closed_at" in lease else unused_parts(lease, ledger)


def unused_parts(lease: Row, ledger: Ledger) -> int:
    """Return the parts of a round's lease that none of its messages was claimed for and none is in doubt for."""
    used = sum(message.parts for message in ledger.messages.values() if is_of_round(message, lease["round"]))
    used += sum(parts for _, parts in in_doubt(lease))
    return int(lease["parts"]) - used


def _give_back(table: Table, campaign: Campaign, batch: Batch, lease: Row, ledger: Ledger, now: datetime) -> None:
    """Close the lease, and in the same transaction return what it did not use to the account and the day.

    The lease keeps when the round's messages left: the pace of a minute later is made of that.
    """
    unused, account_id = unused_parts(lease, ledger), campaign.account_id
    closing = {"closed_at": iso(now), "unused": unused, "departed": departed(lease, ledger.messages.values())}
    if unused:
        closing |= verdict(lease, ledger, campaign, batch, route_now(table, batch.route)[1], now)
    close = Update(
        rows.key_of(lease),
        "SET " + ", ".join(f"#{name} = :{name}" for name in closing),
        closing,
        condition="attribute_exists(#pk) AND attribute_not_exists(#closed_at)",
    )
    actions: list[Action] = [close]
    if unused:
        values = {"n": unused, "minus": -unused}
        day = date.fromisoformat(lease["day"])
        actions.append(Update(keys.account(account_id), "ADD #available :n, #reserved :minus", values))
        actions.append(Update(keys.route_day(batch.route, day), "ADD #used :minus", {"minus": -unused}))
        if lease["counts_account_day"]:
            actions.append(Update(keys.account_day(account_id, day), "ADD #used :minus", {"minus": -unused}))
    try:
        table.transact(actions)
    except TransactionRefused:  # closed by another try of this step, with the same numbers
        return
