"""The start of a campaign: the dry run, the start itself, and the plan that its workflow makes first."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import BinaryIO

from paceline import keys
from paceline.accounts import get_account
from paceline.campaigns import get_campaign, get_plan, keep_plan, note_started, set_status
from paceline.carriers import TableCarriers
from paceline.excluded import by_reason
from paceline.models import Campaign, JsonObject, Plan
from paceline.opt_outs import TableOptOuts
from paceline.planning import plan_campaign
from paceline.ports import ObjectStore, Workflow
from paceline.requests import PlannedCampaign
from paceline.routes import all_routes
from paceline.status import CampaignStatus
from paceline.table import Table, Update
from paceline.windows import both

# A campaign that waits (for credits, for a cap, for a window) waits at most so long; what is left then is skipped.
DEFAULT_SENDING_DAYS = 30


# What a campaign keeps of its account from its start on.
_TERMS = {"sending_window", "charging", "in_doubt"}


@dataclass(frozen=True, slots=True)
class _DryRunStore:
    """The store of a dry run: reads are real, writes go nowhere."""

    store: ObjectStore
    bucket: str
    kept: dict[str, bytes] = field(default_factory=dict)

    def open(self, key: str) -> BinaryIO:
        return self.store.open(key)

    def get(self, key: str, first_byte: int | None = None, last_byte: int | None = None) -> bytes:
        return self.store.get(key, first_byte, last_byte)

    def put(self, key: str, body: bytes, content_type: str = "application/json") -> None:
        """Write nothing, and keep the list of who is excluded for as long as the dry run lasts."""
        if key.endswith("/rejects.csv"):
            self.kept[key] = body


def dry_run(table: Table, store: ObjectStore, campaign: Campaign) -> Plan:
    """Return the plan that a start now would make, and keep nothing of it. Raises: as `plan_campaign`."""
    return dry_run_by_reason(table, store, campaign)[0]


def dry_run_by_reason(table: Table, store: ObjectStore, campaign: Campaign) -> tuple[Plan, list[JsonObject]]:
    """Return the plan as `dry_run` does, and the excluded by reason with the first rows of each."""
    dry = _DryRunStore(store, store.bucket)
    plan = _planned(table, dry, _on_accounts_terms(table, campaign))
    return plan, by_reason(dry.kept[plan.rejects_key])


def start_campaign(table: Table, workflow: Workflow, campaign: Campaign, now: datetime) -> Campaign:
    """Start the campaign's workflow; the same again finds the one that runs. Raises: RequestInvalid.

    From here on the campaign's window is what its account's leaves of it, and its policies are its account's of now.
    """
    terms = _on_accounts_terms(table, campaign)
    started = set_status(table, campaign.campaign_id, CampaignStatus.RUNNING, {CampaignStatus.CREATED})
    start_at = started.start_at or now
    send_by = started.send_by or start_at + timedelta(days=DEFAULT_SENDING_DAYS)
    _keep_terms(table, terms)  # this and the times before the workflow reads them
    note_started(table, campaign.campaign_id, "", start_at, send_by)
    times = {"start_at": start_at, "send_by": send_by}
    arn = workflow.start(campaign.campaign_id)
    note_started(table, campaign.campaign_id, arn, start_at, send_by)
    agreed = {name: getattr(terms, name) for name in _TERMS}
    return started.model_copy(update=times | agreed | {"execution_arn": arn})


def _keep_terms(table: Table, terms: Campaign) -> None:
    values = terms.model_dump(mode="json", include=_TERMS)
    expression = "SET " + ", ".join(f"#{name} = :{name}" for name in values)
    table.update(Update(keys.campaign(terms.campaign_id), expression, values))


def _on_accounts_terms(table: Table, campaign: Campaign) -> Campaign:
    """Return the campaign with the hours in which its account's window is open too, and with its account's policies.

    Raises: RequestInvalid.
    """
    account = get_account(table, campaign.account_id)
    narrower = account.sending_window
    window = both(campaign.sending_window, narrower) if narrower else campaign.sending_window
    own = {"charging": account.charging, "in_doubt": account.in_doubt}
    return campaign.model_copy(update={"sending_window": window, **own})


def _planned(table: Table, store: ObjectStore, campaign: Campaign) -> Plan:
    return plan_campaign(
        campaign,
        all_routes(table),
        store,
        TableOptOuts(table),
        carriers=TableCarriers(table),
        rules=get_account(table, campaign.account_id).routing,
    )


def plan_started_campaign(table: Table, store: ObjectStore, campaign_id: str, now: datetime) -> PlannedCampaign:
    """Plan the campaign, once; a repeated call returns the plan that was kept. Raises: as `plan_campaign`."""
    campaign = get_campaign(table, campaign_id)
    plan = get_plan(table, campaign_id)
    if plan is None:
        plan = keep_plan(table, campaign_id, _planned(table, store, campaign))
    return PlannedCampaign(
        campaign_id=campaign_id,
        start_at=campaign.start_at or now,
        accepted=plan.leads.accepted,
        streams=len(plan.streams),
        manifest_bucket=store.bucket,
        streams_manifest_key=plan.streams_manifest_key,
    )
