"""The shape of report.json: `Report.model_dump(mode="json", by_alias=True)`."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime

from paceline.models import LeadCounts, Model

ReportStatus = Literal["finished", "cancelled", "failed"]


class Outcomes(Model):
    """Messages by outcome. The names and their order are those of the page and of every table."""

    delivered: int = 0
    undelivered: int = 0
    failed: int = 0
    skipped: int = 0
    unconfirmed: int = 0

    @property
    def total(self) -> int:
        return self.delivered + self.undelivered + self.failed + self.skipped + self.unconfirmed


class Credits(Model):
    """The campaign's credits (1 credit = 1 part), as the account's ledger has them: reserved = consumed + released."""

    reserved: int = 0
    consumed: int = 0
    released: int = 0


class Term(Model):
    """One side, or one part of a side, of a sum."""

    name: str
    count: int


class Sum(Model):
    """One equation that must hold: left = the terms of right, added. off: what is wrong, in words ("" if it closes)."""

    unit: Literal["leads", "credits"]
    left: Term
    right: tuple[Term, ...]
    closes: bool
    off: str = ""


class RouteReport(Model):
    """What one route did. parts: of the messages that were sent (sent_at is known). Times: of those messages.

    parts_per_minute_cap: None when the route has no known cap.
    """

    outcomes: Outcomes
    parts: int = 0
    first_sent_at: AwareDatetime | None = None
    last_sent_at: AwareDatetime | None = None
    parts_per_minute_cap: int | None = None


class PauseReport(Model):
    """One pause. paused_by, resumed_by: ids of API keys. resumed_at: None where the campaign ended in it.

    sent_after: messages handed to the provider after the pause was accepted; last_sent_after_seconds: the last of them.
    """

    paused_at: AwareDatetime
    paused_by: str = ""
    resumed_at: AwareDatetime | None = None
    resumed_by: str | None = None
    sent_after: int = 0
    last_sent_after_seconds: float | None = None


class Difference(Model):
    """What late receipts changed since another version. Counts are this version's minus that one's; zeros are left out.

    leads: whose outcome or cause is another; changes.csv lists them. waived: credits that late deliveries cost and the
    account no longer had.
    """

    since_version: int
    leads: int
    outcomes: dict[str, int]
    credits: dict[str, int]
    waived: int = 0


class Report(Model):
    """The end of a campaign, in numbers. It holds no phone number and no text.

    version: 1 for the first report; late receipts make the next, with its difference from the one before.
    causes: outcome → cause → messages. lost_to: cause → seconds in which that cause held batches.
    provider_differences: messages of which the provider's own book said more than its receipts had; differences.csv
    lists them. sent_per_minute: route → [minute, parts], ascending, only the minutes in which something was sent.
    max_sent_in_60_seconds: route → the most parts in any window [t, t + 60 s), to the microsecond.
    """

    campaign_id: str
    name: str
    account_id: str
    version: int
    generated_at: AwareDatetime
    status: ReportStatus
    reason: str = ""
    started_at: AwareDatetime
    finished_at: AwareDatetime
    headline: str
    balanced: bool
    leads: LeadCounts
    outcomes: Outcomes
    causes: dict[str, dict[str, int]]
    credits: Credits
    sums: tuple[Sum, ...]
    by_route: dict[str, RouteReport]
    lost_to: dict[str, float]
    provider_differences: int = 0
    pauses: tuple[PauseReport, ...] = ()
    sent_per_minute: dict[str, tuple[tuple[AwareDatetime, int], ...]]
    max_sent_in_60_seconds: dict[str, int]
    difference: Difference | None = None
    plan_warnings: tuple[str, ...] = ()
    rejected_reasons: dict[str, int]
