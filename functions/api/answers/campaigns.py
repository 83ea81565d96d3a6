"""Answers about campaigns: one, many, the upload, the report."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import AwareDatetime

from api.answers import Answer
from paceline.models import LeadCounts, Pause, RouteName, SendingWindow
from paceline.status import CampaignStatus


class PlanSummary(Answer):
    """What planning decided. rejected_reasons: leads by reason."""

    leads: LeadCounts
    parts: int
    batches: int
    warnings: list[str]
    rejected_reasons: dict[str, int]
    phone_column: str


class CampaignSummary(Answer):
    campaign_id: str
    account_id: str
    name: str
    status: CampaignStatus
    created_at: AwareDatetime
    start_at: AwareDatetime | None = None
    send_by: AwareDatetime | None = None


class NotificationAnswer(Answer):
    """One version of the report told to the webhook. status: `trying` while more tries follow. reason: of the last."""

    version: int
    webhook_id: str | None
    status: Literal["delivered", "trying", "gave_up"]
    attempts: int
    last_attempt_at: AwareDatetime | None
    http_status: int | None
    reason: str


class RouteProgress(Answer):
    """What the plan gives a route, and what became of that as of each batch's last step. per_minute: its cap now.

    parts_sent: what left in rounds that are closed; a message in doubt counts. messages: by status.
    """

    route: str
    leads: int
    parts: int
    messages: dict[str, int]
    held_batches: int
    per_minute: int | None
    parts_sent: int


class MinuteOfRoute(Answer):
    """The parts that left by a route in a minute. A batch's round counts once it is closed."""

    minute: AwareDatetime
    route: str
    parts: int


class CampaignAnswer(CampaignSummary):
    """headline: while receipts are waited for, the sentence that sums it up.

    messages: by status. held_by: what holds batches now. lost_to: minutes by cause. binding: what binds now.
    kept_until: when its leads, messages and reports are deleted. as_of: the moment of this answer. pace: of the newest
    120 minutes that have any, the oldest first. A GET of one campaign alone has as_of, by_route and pace.
    """

    headline: str
    message: str
    route: RouteName | None = None
    sending_window: SendingWindow
    max_messages_per_recipient_24h: int | None = None
    weight: int
    smart_punctuation: str
    receipt_deadline_hours: int
    kept_until: AwareDatetime | None = None
    pauses: list[Pause]
    plan: PlanSummary | None = None
    messages: dict[str, int]
    held_by: list[dict[str, Any]]
    lost_to: dict[str, Any] | list[Any]
    binding: dict[str, Any] | None = None
    finish_at: AwareDatetime | None = None
    finish_reason: dict[str, Any] | None = None
    notifications: list[NotificationAnswer] | None = None
    as_of: AwareDatetime | None = None
    by_route: list[RouteProgress] | None = None
    pace: list[MinuteOfRoute] | None = None


class PausedAnswer(CampaignAnswer):
    """Nothing is handed to the provider later than pause_bound_seconds after paused_at."""

    paused_at: AwareDatetime
    pause_bound_seconds: int


class CampaignsAnswer(Answer):
    """One page, the newest first. next: `after` of the next page; null: this is the last."""

    campaigns: list[CampaignSummary]
    next: str | None


class UploadAnswer(Answer):
    """Post `fields` and then the file, as multipart/form-data, to `url`."""

    url: str
    fields: dict[str, str]


class ReportAnswer(Answer):
    """The outcome report. files: addresses that are good for an hour."""

    files: dict[str, str]
