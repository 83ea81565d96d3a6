"""Making a table safe that was restored from a backup: it does not know what was sent since, nor who said STOP.

A campaign that goes on by such rows sends again what it has sent. So every campaign that had not ended is cancelled,
and the opt-outs that the old table has are brought over, before anything reads the restored one.
"""

from __future__ import annotations

from collections.abc import Iterator

from paceline import keys, rows
from paceline.audit import Signature, account_subject, audit_row, transact
from paceline.campaigns import OVER
from paceline.models import Campaign
from paceline.opt_outs import OptOut, export_opt_outs, opt_out
from paceline.status import CampaignStatus
from paceline.table import Table, TransactionRefused, Update


def account_ids(table: Table) -> list[str]:
    return [row["sk"] for row in table.query(keys.account_names())]


def unfinished(table: Table) -> Iterator[Campaign]:
    """Yield every campaign of every account that had not ended, those too that had not been started."""
    for account_id in account_ids(table):
        for listed in table.query(keys.account_campaigns(account_id)):
            row = table.get(keys.campaign(listed["campaign_id"]))
            if row is not None and (campaign := rows.to_campaign(row)).status not in OVER:
                yield campaign


def call_off(table: Table, campaign: Campaign, by: Signature) -> bool:
    """Cancel a campaign, whatever it was, with a row in its account's trail. Return whether it was as it was read."""
    before = campaign.status.value
    values = {"to": CampaignStatus.CANCELLED.value, "before": before}
    update = Update(keys.campaign(campaign.campaign_id), "SET #status = :to", values, condition="#status = :before")
    difference = {f"status of campaign {campaign.campaign_id}": {"before": before, "after": values["to"]}}
    try:
        transact(table, [update, audit_row(account_subject(campaign.account_id), by, difference)])
    except TransactionRefused:
        return False
    return True


def missing_opt_outs(restored: Table, old: Table) -> Iterator[tuple[str, OptOut]]:
    """Yield (account, opt-out) of those that the old table has and the restored one has not."""
    for account_id in account_ids(restored):
        known = {one.phone_number for one in export_opt_outs(restored, account_id)}
        missing = (one for one in export_opt_outs(old, account_id) if one.phone_number not in known)
        yield from ((account_id, one) for one in missing)


def bring_over(restored: Table, account_id: str, one: OptOut) -> None:
    """Note an opt-out of the old table in the restored one, with its time. Raises: as `opt_out`."""
    opt_out(restored, account_id, one.phone_number, one.opted_out_at, "import")
