"""A look at one person's number by an operator: found, noted in the account's trail, and only then told."""

from __future__ import annotations

from paceline.audit import Signature, account_subject, audit_row, transact
from paceline.batches import find_lead
from paceline.campaigns import get_plan
from paceline.errors import ObjectNotFound
from paceline.leads.numbers import batch_with
from paceline.models import Batch, Campaign, Lead, Plan
from paceline.ports import ObjectStore
from paceline.remaining import batches_of
from paceline.retention import no_longer_kept
from paceline.table import Table

# What the trail calls it, in the place of a field that changed.
REVEALED = "lead revealed"


def reveal_lead(
    table: Table, store: ObjectStore, campaign: Campaign, lead_no: int, reason: str, signature: Signature
) -> Lead:
    """Return an accepted lead, number and text, once it is in the account's trail who looked and why.

    The trail never has the number. Raises: ObjectNotFound, where there is no such lead or it is no longer kept, with
    nothing noted; and what the trail's write raises, with nothing told.
    """
    lead = _lead(table, store, campaign, lead_no)
    noted = {"campaign_id": campaign.campaign_id, "lead_no": lead_no, "reason": reason}
    subject = account_subject(campaign.account_id)
    transact(table, [audit_row(subject, signature, {REVEALED: {"before": None, "after": noted}})])
    return lead


def _lead(table: Table, store: ObjectStore, campaign: Campaign, lead_no: int) -> Lead:
    plan = get_plan(table, campaign.campaign_id)
    if plan is None:
        raise ObjectNotFound("The campaign is not planned yet: it has no leads.", campaign_id=campaign.campaign_id)
    batch = _batch_of(store, campaign, plan, lead_no)
    lead = find_lead(store, batch, lead_no)
    if lead is None:
        raise no_longer_kept(campaign, "leads")
    if lead.is_forgotten:
        raise ObjectNotFound(f"Lead {lead_no} asked to be forgotten.", campaign_id=campaign.campaign_id)
    return lead


def _batch_of(store: ObjectStore, campaign: Campaign, plan: Plan, lead_no: int) -> Batch:
    """Return a lead's batch, by the numbers beside the leads: nobody else's phone number is read."""
    batches = batches_of(store, plan)
    if len(batches) < plan.batches:
        raise no_longer_kept(campaign, "leads")
    for leads_key in dict.fromkeys(batch.leads_key for batch in batches):
        try:
            batch_id = batch_with(store, leads_key, lead_no)
        except ObjectNotFound:
            raise no_longer_kept(campaign, "leads") from None
        if batch_id is not None:
            return next(batch for batch in batches if batch.batch_id == batch_id)
    told = f"The campaign has no accepted lead {lead_no}; rejects.csv has the rows that were left out."
    raise ObjectNotFound(told, campaign_id=campaign.campaign_id, lead_no=lead_no)
