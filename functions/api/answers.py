"""What the routes answer, for the OpenAPI document. A test holds real answers to it; no answer is changed by it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict

from paceline.models import Account, LeadCounts, Pause, RouteName, SendingWindow
from paceline.status import CampaignStatus, MessageStatus


class Answer(BaseModel):
    """More fields may come; those that are named here stay."""

    model_config = ConfigDict(extra="allow")


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


class CampaignAnswer(CampaignSummary):
    """headline: while receipts are waited for, the sentence that sums it up.

    messages: by status. held_by: what holds batches now. lost_to: minutes by cause. binding: what binds now.
    """

    headline: str
    message: str
    route: RouteName | None = None
    sending_window: SendingWindow
    max_messages_per_recipient_24h: int | None = None
    weight: int
    smart_punctuation: str
    receipt_deadline_hours: int
    pauses: list[Pause]
    plan: PlanSummary | None = None
    messages: dict[str, int]
    held_by: list[dict[str, Any]]
    lost_to: dict[str, Any] | list[Any]
    binding: dict[str, Any] | None = None
    finish_at: AwareDatetime | None = None
    finish_reason: dict[str, Any] | None = None
    notifications: list[NotificationAnswer] | None = None


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


class CreditsNeeded(Answer):
    needed: int
    available: int


class ExcludedLeads(Answer):
    """The leads of one reason. row_numbers: the first, as a spreadsheet shows them (the heading is row 1)."""

    kind: str
    reason: str
    explanation: str
    leads: int
    row_numbers: list[int]


class PlanAnswer(PlanSummary):
    """What a start now would do. streams: by route and time zones. caps: every one that applies."""

    excluded: list[ExcludedLeads]
    streams: list[dict[str, Any]]
    credits: CreditsNeeded
    send_by: AwareDatetime
    binding_caps: list[dict[str, Any]]
    campaigns_ahead: list[dict[str, Any]]
    caps: list[dict[str, Any]]
    finish_at: AwareDatetime | None = None
    finish_reason: dict[str, Any] | None = None


class ReportAnswer(Answer):
    """The outcome report. files: addresses that are good for an hour."""

    files: dict[str, str]


class MessageAnswer(Answer):
    """One message; neither its number nor its text. cause: why it did not arrive, or blank."""

    lead_no: int
    batch_id: str
    route: str
    parts: int
    status: MessageStatus
    cause: str
    claimed_at: AwareDatetime | None
    sent_at: AwareDatetime | None
    final_at: AwareDatetime | None


class MessagesAnswer(Answer):
    """One page, by lead number. next: `after` of the next page; null: this is the last."""

    messages: list[MessageAnswer]
    next: str | None


class OptOutEntry(Answer):
    """source: `message` (the person wrote STOP), `import` or `api`."""

    phone_number: str
    opted_out_at: AwareDatetime
    source: str


class OptOutsAnswer(Answer):
    """One page, by number. next: `after` of the next page; null: this is the last."""

    opt_outs: list[OptOutEntry]
    next: str | None


class RefusedNumber(Answer):
    """row_number: the place in the list that was posted, from 1."""

    row_number: int
    reason: str


class ImportedAnswer(Answer):
    """added: new on the list. known: were on it. refused: no numbers that we send to."""

    added: int
    known: int
    refused: list[RefusedNumber]


class RouteAnswer(Answer):
    """caps: each with its limit, today's use, and who changed it when."""

    name: RouteName
    provider: str
    sender: str
    parts_per_minute: int
    parts_per_day: int | None
    time_zone: str
    is_enabled: bool
    caps: dict[str, dict[str, Any]]
    revision: int
    parts_used_today: int
    day_ends_at: AwareDatetime


class RoutesAnswer(Answer):
    routes: list[RouteAnswer]


class ChangedRouteAnswer(RouteAnswer):
    """released_batches: how many that waited for the route go on."""

    released_batches: int


class ChangedAccountAnswer(Account):
    """released_batches: how many that waited for the account go on."""

    released_batches: int


class WebhookAnswer(Answer):
    """webhook_secret: shown where it is new, and then never again. old_secret_ends_at: both sign until then."""

    webhook_url: str | None
    webhook_generation: int
    old_secret_ends_at: AwareDatetime | None
    webhook_secret: str | None


class WebhookTestAnswer(Answer):
    """delivered: the server answered 2xx. http_status: null where no answer came. reason: why not, blank if it was."""

    webhook_id: str
    delivered: bool
    http_status: int | None
    reason: str


class ChangeEntry(Answer):
    """One change: at, by which key (its id and name), field → before and after."""

    at: AwareDatetime
    by: str
    by_name: str
    changes: dict[str, Any]
    request_id: str


class AccountChangesAnswer(Answer):
    account_id: str
    changes: list[ChangeEntry]


class RouteChangesAnswer(Answer):
    route: str
    changes: list[ChangeEntry]


class NewKeyAnswer(Answer):
    """api_key: shown this once."""

    api_key: str
    key_id: str
    name: str
    account_id: str
    scope: str


class KeyAnswer(Answer):
    key_id: str
    account_id: str
    scope: str
    name: str
    created_at: AwareDatetime | None
    created_by: str | None
    revoked_at: AwareDatetime | None
    revoked_by: str | None


class KeysAnswer(Answer):
    account_id: str
    keys: list[KeyAnswer]
