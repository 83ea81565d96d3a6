"""The shapes that cross a boundary: what customers post, what rows hold, what states pass on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, time
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    WithJsonSchema,
)

from paceline.status import CampaignStatus, Cause, Excluded, MessageStatus, Resend

_ACCOUNT_ID = "[a-z0-9][a-z0-9-]{1,39}"
AccountId = Annotated[str, Field(pattern=f"^{_ACCOUNT_ID}$")]
# 71 at most: what a customer chooses, and the ending that makes it the account's own. An execution's name takes 80.
CampaignId = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{2,70}$")]
ChosenId = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{2,59}$")]
ProviderName = Literal["twilio", "end_user_messaging"]
RouteName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]


def is_account_id(text: str) -> bool:
    """Tell whether an account can have this id; what cannot must not become part of a key."""
    return re.fullmatch(_ACCOUNT_ID, text, re.ASCII) is not None


# More than any carrier takes; what is above would fit no number of the table.
MOST_PARTS = 1_000_000_000
# Strict: pydantic would take true for 1.
Parts = Annotated[int, Field(strict=True, ge=1, le=MOST_PARTS)]
Weight = Annotated[int, Field(strict=True, ge=1, le=10)]


Numbers = Annotated[tuple[Annotated[str, Field(pattern=r"^\+[1-9][0-9]{6,14}$")], ...], Field(max_length=100)]


class Model(BaseModel):
    """Frozen, and strict about unknown fields: a misspelt field is an error, never a default.

    Its errors say nothing of what was given: they end in logs.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


def _spelled_as_clock_time(given: Any) -> Any:
    """Refuse what pydantic would take for a time of day too: seconds since midnight, or one with an offset."""
    if isinstance(given, time) or (isinstance(given, str) and re.fullmatch(_CLOCK, given, re.ASCII)):
        return given
    raise ValueError("write it as HH:MM or HH:MM:SS, without an offset: it is the recipient's own time")


_CLOCK = "([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?"
ClockTime = Annotated[
    time,
    BeforeValidator(_spelled_as_clock_time),
    WithJsonSchema({"type": "string", "pattern": f"^{_CLOCK}$"}),
]


class SendingWindow(Model):
    """The hours, in the recipient's local time, in which a message may go. `closes` before `opens` crosses midnight."""

    opens: ClockTime = time(8)
    closes: ClockTime = time(21)


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"{name!r} is no IANA time zone; write it like America/New_York") from None
    return name


class Route(Model):
    """A sending route with its caps. Caps count parts; None means no cap.

    concurrency: how many sends may be under way at once. provider: for good, since messages that are on their way are
    known to it alone. sender: its own word for a number or a pool of them. inbound_accounts: whose leads answer to the
    sender, or to one of inbound_numbers where that is a pool: the provider's inbound messages may not say it.
    """

    name: RouteName
    provider: ProviderName = "twilio"
    sender: Annotated[str, Field(min_length=1, max_length=100)] = "+12025550100"
    inbound_accounts: Annotated[tuple[AccountId, ...], Field(max_length=100)] = ()
    inbound_numbers: Numbers = ()
    parts_per_minute: Parts = 240
    parts_per_day: Parts | None = None
    concurrency: Parts | None = None
    time_zone: Annotated[str, AfterValidator(_known_zone)] = "America/New_York"
    carriers: Annotated[tuple[Annotated[str, Field(max_length=100)], ...], Field(max_length=200)] = ()
    is_enabled: StrictBool = True


class RoutingRules(Model):
    """An account's own way to routes. carriers: carrier → route; otherwise: instead of `shared`, where it is given."""

    carriers: Annotated[dict[Annotated[str, Field(max_length=100)], RouteName], Field(max_length=200)] = {}
    otherwise: RouteName | None = None


class Charging(Model):
    """What an account pays for, fixed for a campaign when it starts.

    charged: `submitted`: every message that the provider took; `delivered`: those that reached a handset. filtered:
    whether what a carrier's filter stopped is paid for among the submitted.
    """

    charged: Literal["submitted", "delivered"] = "submitted"
    filtered: StrictBool = True


InDoubt = Literal["never_resend", "resend_once"]
"""What to do about a message that may or may not have left: wait for evidence, or send it again, once, all the same."""


class Account(Model):
    """A customer's account and its credits (1 credit = 1 part).

    sending_window: its campaigns send only while it is open too. help_text: the answer to HELP; blank: the provider's.
    webhook_url: where the end of a campaign is told; None: nowhere. webhook_generation: which secret signs it.
    """

    account_id: str
    name: str = ""
    available: int = 0
    reserved: int = 0
    consumed: int = 0
    bought: int = 0
    compliance_status: Literal["approved", "pending", "refused"] = "approved"
    operational_status: Literal["active", "suspended"] = "active"
    parts_per_day: Annotated[int, Field(ge=1)] | None = None
    sending_window: SendingWindow | None = None
    routing: RoutingRules = RoutingRules()
    help_text: Annotated[str, Field(max_length=320)] = ""
    charging: Charging = Charging()
    in_doubt: InDoubt = "never_resend"
    webhook_url: str | None = None
    webhook_generation: int = 0
    webhook_rotated_at: AwareDatetime | None = None


class Pause(Model):
    """One pause of a campaign. paused_by, resumed_by: ids of API keys; None while it lasts."""

    paused_at: AwareDatetime
    paused_by: str = ""
    resumed_at: AwareDatetime | None = None
    resumed_by: str | None = None


class Campaign(Model):
    """One campaign: a message for the leads of one file. weight: its share of a route that others send on too.

    smart_punctuation: whether typographic quotes, dashes and dots are made GSM-7 where that spares a text UCS-2.
    sending_ended_at: from then on only receipts are waited for. reports_begun: how many reports were begun; a receipt
    that comes after that belongs to the next. report_version: of the last one that was published (0: none). kept_until:
    when its leads, messages and reports are deleted (None: it was not started).
    """

    campaign_id: CampaignId
    account_id: str
    name: str
    message: str
    leads_key: str
    route: RouteName | None = None
    status: CampaignStatus = CampaignStatus.CREATED
    created_at: AwareDatetime
    start_at: AwareDatetime | None = None
    send_by: AwareDatetime | None = None
    sending_window: SendingWindow = SendingWindow()
    max_messages_per_recipient_24h: Annotated[int, Field(ge=1)] | None = None
    weight: Weight = 1
    smart_punctuation: Literal["keep", "to_gsm7"] = "keep"
    receipt_deadline_hours: Annotated[int, Field(ge=1, le=168)] = 72
    charging: Charging = Charging()
    in_doubt: InDoubt = "never_resend"
    sending_ended_at: AwareDatetime | None = None
    reports_begun: int = 0
    report_version: int = 0
    execution_arn: str | None = None
    kept_until: AwareDatetime | None = None
    pauses: tuple[Pause, ...] = ()


class LeadCounts(Model):
    """Leads in = rejected + duplicates + opted out + accepted."""

    total: int = Field(default=0, alias="in")
    rejected: int = 0
    duplicates: int = 0
    opted_out: int = 0
    accepted: int = 0

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    @property
    def are_closed(self) -> bool:
        return self.total == self.rejected + self.duplicates + self.opted_out + self.accepted


class Stream(Model):
    """The batches of one campaign on one route with one sending window; one item of the streams manifest.

    zones: every IANA time zone of the stream's recipients; the window must be open in all of them.
    manifest_key: a JSON array of `Batch`. concurrency: how many of its batches run at once. unused_parts: of the
    route's minutes, at their ends, where the next text is too long for what is left.
    """

    campaign_id: str
    stream: str
    route: str
    zones: tuple[str, ...]
    batches: int
    leads: int
    parts: int
    manifest_bucket: str
    manifest_key: str
    concurrency: Annotated[int, Field(ge=1)]
    unused_parts: int = 0


class Batch(Model):
    """Up to N leads of one stream, planned once; one item of a stream's manifest.

    The leads are the JSON lines in bytes first_byte..last_byte (inclusive) of the object leads_key.
    """

    campaign_id: str
    batch_id: str
    route: str
    zones: tuple[str, ...]
    leads: int
    parts: int
    leads_key: str
    first_byte: int
    last_byte: int


class Plan(Model):
    """What planning decided, once. Keys name objects in the leads bucket.

    phone_column: the heading of the column whose numbers are sent to. punctuation_messages: those that only typographic
    punctuation makes UCS-2, and punctuation_parts what that costs; or spared, where the campaign asked for `to_gsm7`.
    """

    leads: LeadCounts
    parts: int = 0
    batches: int = 0
    streams: tuple[Stream, ...] = ()
    streams_manifest_key: str = ""
    batches_manifest_key: str = ""
    rejects_key: str = ""
    phone_column: str = ""
    punctuation_messages: int = 0
    punctuation_parts: int = 0
    rejected_reasons: dict[str, int] = {}
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Lead:
    """One accepted lead, as a line of a batch's object: everything that a send needs.

    lead_no: 1 for the first row of the file below its heading. parts: SMS segments of `text`. row_number: as a
    spreadsheet shows it (0: unknown).
    """

    lead_no: int
    phone_number: str
    text: str
    parts: int
    row_number: int = 0

    @property
    def is_forgotten(self) -> bool:
        """Tell whether the person asked to be forgotten: number and text are gone."""
        return not self.phone_number


@dataclass(frozen=True, slots=True)
class ExcludedLead:
    """A row that was not accepted. row_number: as a spreadsheet shows it (the heading is row 1).

    reason: a stable code; explanation: the same for the customer, in one sentence. phone_number: E.164, blank where
    the row was rejected.
    """

    lead_no: int
    row_number: int
    kind: Excluded
    reason: str
    phone_number: str = ""
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One message's row, as the ledger holds it. Times are aware UTC; parts are credits.

    sent_at: just before the provider was called. answered_at: when its answer was seen; it left in between.
    first_claimed_at: of its first try, where it was claimed once more.
    """

    lead_no: int
    batch_id: str
    route: str
    round: int
    parts: int
    status: MessageStatus
    cause: str = ""
    slot: datetime | None = None
    claimed_at: datetime | None = None
    sent_at: datetime | None = None
    answered_at: datetime | None = None
    final_at: datetime | None = None
    provider_message_id: str = ""
    resend: Resend = Resend.NO
    first_claimed_at: datetime | None = None

    @property
    def is_due(self) -> bool:
        """Tell whether it is left to be sent once more: nothing was heard of its first try."""
        return self.resend is Resend.DUE and self.status is MessageStatus.UNKNOWN

    @property
    def is_claimed_in_round(self) -> bool:
        """Tell whether the lease of its round stands for it; else its first try's does, or none."""
        return self.status is not MessageStatus.SKIPPED and self.resend not in (Resend.DUE, Resend.REFUSED)


class Hold(Model):
    """Why a batch waits, since when and until when (None: until a signal). used/limit: the evidence."""

    cause: Cause
    since: AwareDatetime
    until: AwareDatetime | None = None
    used: int | None = None
    limit: int | None = None


JsonObject = dict[str, Any]
