"""The start of a campaign, and the plan that its workflow makes first."""

from __future__ import annotations

from datetime import datetime, timedelta

from paceline import keys
from paceline.accounts import get_account
from paceline.campaigns import get_campaign, get_plan, keep_plan, note_started, set_status
from paceline.carriers import TableCarriers
from paceline.metrics import Metric, count
from paceline.models import Campaign, Plan
from paceline.opt_outs import TableOptOuts
from paceline.planning import plan_campaign
from paceline.ports import ObjectStore, Workflow
from paceline.requests import PlannedCampaign
from paceline.retention import kept_until
from paceline.routes import all_routes
from paceline.status import CampaignStatus
from paceline.table import Table, Update
from paceline.windows import both

# A campaign that waits (for credits, for a cap, for a window) waits at most so long; what is left then is skipped.
DEFAULT_SENDING_DAYS = 30


# What a campaign keeps of its account from its start on.
_TERMS = {"sending_window", "charging", "in_doubt", "kept_until"}


def start_campaign(table: Table, workflow: Workflow, campaign: Campaign, now: datetime, days: int) -> Campaign:
    """Start the campaign's workflow; the same again finds the one that runs. Raises: RequestInvalid.

    One that is paused or cancelled by now stays so: its start may have been killed before the workflow began.
    days: for how many what the campaign knows of people is kept; it must be over by then.

    From here on the campaign's window is what its account's leaves of it, and its policies are its account's of now.
    """
    kept = campaign.kept_until or kept_until(now, days, needed_until(campaign, now))
    terms = on_accounts_terms(table, campaign).model_copy(update={"kept_until": kept})
    started = get_campaign(table, campaign.campaign_id)
    was_begun = started.status is CampaignStatus.CANCELLED and started.execution_arn is None
    if started.status is not CampaignStatus.PAUSED and not was_begun:
        started = set_status(table, campaign.campaign_id, CampaignStatus.RUNNING, {CampaignStatus.CREATED})
    start_at, send_by = started.start_at or now, _send_by(started, now)
    _keep_terms(table, terms)  # this and the times before the workflow reads them
    note_started(table, campaign.campaign_id, "", start_at, send_by)
    times = {"start_at": start_at, "send_by": send_by}
    arn = workflow.start(campaign.campaign_id)
    note_started(table, campaign.campaign_id, arn, start_at, send_by)
    agreed = {name: getattr(terms, name) for name in _TERMS}
    return started.model_copy(update=times | agreed | {"execution_arn": arn})


def _send_by(campaign: Campaign, now: datetime) -> datetime:
    return campaign.send_by or (campaign.start_at or now) + timedelta(days=DEFAULT_SENDING_DAYS)


def needed_until(campaign: Campaign, now: datetime) -> datetime:
    """Return the latest moment at which the campaign's last receipt may be due."""
    return _send_by(campaign, now) + timedelta(hours=campaign.receipt_deadline_hours)


def _keep_terms(table: Table, terms: Campaign) -> None:
    values = terms.model_dump(mode="json", include=_TERMS)
    expression = "SET " + ", ".join(f"#{name} = :{name}" for name in values)
    table.update(Update(keys.campaign(terms.campaign_id), expression, values))


def on_accounts_terms(table: Table, campaign: Campaign) -> Campaign:
    """Return the campaign with the hours in which its account's window is open too, and with its account's policies.

    Raises: RequestInvalid.
    """
    account = get_account(table, campaign.account_id)
    narrower = account.sending_window
    window = both(campaign.sending_window, narrower) if narrower else campaign.sending_window
    own = {"charging": account.charging, "in_doubt": account.in_doubt}
    return campaign.model_copy(update={"sending_window": window, **own})


def planned_now(table: Table, store: ObjectStore, campaign: Campaign, prefix: str | None = None) -> Plan:
    """Return the campaign's plan by the routes, opt-outs, carriers and rules of now. Raises: as `plan_campaign`."""
    return plan_campaign(
        campaign,
        all_routes(table),
        store,
        TableOptOuts(table),
        carriers=TableCarriers(table),
        rules=get_account(table, campaign.account_id).routing,
        prefix=prefix,
    )


def plan_started_campaign(table: Table, store: ObjectStore, campaign_id: str, now: datetime) -> PlannedCampaign:
    """Plan the campaign, once; a repeated call returns the plan that was kept. Raises: as `plan_campaign`.

    Each call writes below a prefix of its own: one whose answer was lost may still be at work, and somebody may have
    opted out between the two, so that their batches differ.
    """
    campaign = get_campaign(table, campaign_id)
    plan = get_plan(table, campaign_id)
    if plan is None:
        plan = keep_plan(table, campaign_id, planned_now(table, store, campaign, _own_prefix(campaign_id, now)))
        short = plan.parts - get_account(table, campaign.account_id).available
        if short > 0:
            count(Metric.CREDITS_SHORT, short)
    return PlannedCampaign(
        campaign_id=campaign_id,
        start_at=campaign.start_at or now,
        accepted=plan.leads.accepted,
        streams=len(plan.streams),
        manifest_bucket=store.bucket,
        streams_manifest_key=plan.streams_manifest_key,
    )


def _own_prefix(campaign_id: str, now: datetime) -> str:
    return f"campaigns/{campaign_id}/plans/{now:%Y%m%dT%H%M%S.%f}"
