"""What the workflow's states give to their functions: references and numbers, never a phone number or a text."""

from __future__ import annotations

from typing import Any

from pydantic import AwareDatetime, BaseModel

from paceline.looks import OpenBatch
from paceline.models import Batch, Charging, Hold, Model


class Notification(BaseModel):
    """The part of a notification of Amazon SNS that is read. Message: what was published, and when."""

    Message: str
    Timestamp: AwareDatetime | None = None


class NotificationRecord(BaseModel):
    Sns: Notification


class NotificationsRequest(BaseModel):
    """What a topic sends to a function. Not strict: the rest is SNS's."""

    Records: tuple[NotificationRecord, ...]


class CampaignRequest(Model):
    campaign_id: str


class DryRunRequest(Model):
    campaign_id: str
    dry_run_id: str


class AdmitRequest(Model):
    """turn: the slot that a batch which was told to come back may count on."""

    batch: Batch
    round: int
    turn: AwareDatetime | None


class SendRequest(Model):
    """given_at: when the slots of the round were given."""

    batch: Batch
    round: int
    lead_no: int
    slot: AwareDatetime
    given_at: AwareDatetime


class CloseRequest(Model):
    batch: Batch
    round: int


class HoldRequest(Model):
    token: str
    batch: Batch
    hold: Hold


class ReconcileRequest(Model):
    """open: an item of the look's manifest. due_at: the receipt deadline."""

    open: OpenBatch
    due_at: AwareDatetime
    charging: Charging


class CountOpenRequest(Model):
    campaign_id: str
    look: int
    since: AwareDatetime


class ReportRequest(Model):
    """revision: of an execution that late receipts began: how many reports there were."""

    campaign_id: str
    failure: dict[str, Any] | None = None
    revision: int | None = None


class ExecutionInput(Model):
    """What an execution starts with. revision: only where late receipts ask for another report."""

    campaign_id: str
    revision: int | None = None


class NotifyRequest(Model):
    """failure: of the tries before, where no more are to follow."""

    campaign_id: str
    report_prefix: str
    failure: dict[str, Any] | None = None


class PlannedCampaign(Model):
    """The answer of `Plan Campaign`: what the workflow needs of a plan."""

    campaign_id: str
    start_at: AwareDatetime
    accepted: int
    streams: int
    manifest_bucket: str
    streams_manifest_key: str
