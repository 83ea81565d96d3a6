"""Which model is the contract of what. A state's name, lower case with hyphens, names its files."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime, BaseModel

from paceline.admission import Admission
from paceline.closing import Closed
from paceline.looks import OpenMessages
from paceline.models import Batch, JsonObject, LeadCounts, Model, Stream
from paceline.reconciliation import Reconciled
from paceline.report.model import Credits, Difference, Outcomes, ReportStatus
from paceline.reporting import Published, ReportBuilt
from paceline.requests import (
    AdmitRequest,
    CampaignRequest,
    CloseRequest,
    CountOpenRequest,
    DryRunRequest,
    ExecutionInput,
    HoldRequest,
    NotifyRequest,
    PlannedCampaign,
    ReconcileRequest,
    ReportRequest,
    SendRequest,
)
from paceline.sending import Sent
from paceline.webhooks.notifying import Notified


class CampaignFinished(Model):
    """The detail of the event `Campaign Finished`."""

    campaign_id: str
    account_id: str
    status: ReportStatus
    reason: str
    version: int
    balanced: bool
    headline: str
    leads: LeadCounts
    outcomes: Outcomes
    credits: Credits
    difference: Difference | None
    report_bucket: str
    report_prefix: str


class CampaignFinishedWebhook(Model):
    """The body of a webhook's request at the end of a campaign. id: the same in every try."""

    id: str
    type: Literal["campaign.finished"]
    timestamp: AwareDatetime
    data: CampaignFinished


class TestedAccount(Model):
    account_id: str


class WebhookTest(Model):
    """The body of a request that a customer asked for, to try the webhook out."""

    id: str
    type: Literal["webhook.test"]
    timestamp: AwareDatetime
    data: TestedAccount


class HoldRegistered(Model):
    waits: bool


STATES: dict[str, tuple[type[BaseModel], type[BaseModel]]] = {
    "Plan Campaign": (CampaignRequest, PlannedCampaign),
    "Admit Batch": (AdmitRequest, Admission),
    "Send Message": (SendRequest, Sent),
    "Hold Batch": (HoldRequest, HoldRegistered),
    "Close Batch": (CloseRequest, Closed),
    "Count Open Messages": (CountOpenRequest, OpenMessages),
    "Reconcile Batch": (ReconcileRequest, Reconciled),
    "Build Report": (ReportRequest, ReportBuilt),
    "Build Next Report": (ReportRequest, ReportBuilt),
    "Publish Outcome": (ReportBuilt, Published),
    "Notify Customer": (NotifyRequest, Notified),
}
OTHERS: dict[str, type[BaseModel]] = {
    "events/campaign-finished": CampaignFinished,
    "webhooks/webhook-campaign-finished": CampaignFinishedWebhook,
    "webhooks/webhook-test": WebhookTest,
    "manifests/stream": Stream,
    "manifests/batch": Batch,
    "executions/campaign-input": ExecutionInput,
    "events/dry-run": DryRunRequest,
}


def file_name(state: str) -> str:
    return state.lower().replace(" ", "-")


def all_contracts() -> dict[str, JsonObject]:
    """Return every contract's schema by its path below `schemas/`, without the ending."""
    found: dict[str, JsonObject] = {}
    for state, (taken, given) in STATES.items():
        found[f"states/{file_name(state)}.input"] = taken.model_json_schema()
        found[f"states/{file_name(state)}.output"] = given.model_json_schema(mode="serialization")
    for name, model in OTHERS.items():
        found[name] = model.model_json_schema(mode="serialization")
    return found
