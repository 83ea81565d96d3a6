"""Whether a person can be forgotten now: not while a campaign that has them may still write, or needs the number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from paceline import keys
from paceline.campaigns import OVER, get_campaign
from paceline.forgetting.search import Traces
from paceline.models import Campaign
from paceline.moments import iso
from paceline.starting import needed_until
from paceline.status import CampaignStatus
from paceline.table import Table

# After the last deadline come the last looks and the report.
_LAST_LOOKS = timedelta(days=1)
# A late word waits so long at most for its report: a quarter of an hour, and the function's own time.
_LATE_REPORT = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Busy:
    """A campaign that still needs the person, and until when at the latest."""

    campaign_id: str
    status: str
    until: datetime

    def __str__(self) -> str:
        why = "runs" if self.status not in OVER else "waits for its report"
        return (
            f"Campaign {self.campaign_id} has the person and still {why}, until {iso(self.until)[:16]}Z at the latest."
        )


def busy(table: Table, found: Iterable[Traces], now: datetime) -> list[Busy]:
    """Return the campaigns of the traces that are not over."""
    campaigns = (get_campaign(table, one.campaign_id) for traces in found for one in traces.campaigns)
    return [one for campaign in campaigns for one in _busy(table, campaign, now)]


def _busy(table: Table, campaign: Campaign, now: datetime) -> Iterator[Busy]:
    if campaign.status is CampaignStatus.CREATED:
        return
    until = needed_until(campaign, campaign.created_at) + _LAST_LOOKS
    waits_for_report = campaign.status in OVER and not campaign.report_version and now < until
    if campaign.status not in OVER or waits_for_report:
        yield Busy(campaign.campaign_id, campaign.status.value, until)
    elif (due := _report_due(table, campaign)) is not None and now < due:
        yield Busy(campaign.campaign_id, campaign.status.value, due)


def _report_due(table: Table, campaign: Campaign) -> datetime | None:
    """Return by when the report is made that takes up the last late word, where there is one."""
    notes = table.query(*keys.late_notes(campaign.campaign_id))
    waiting = [datetime.fromisoformat(note["at"]) for note in notes if "version" not in note]
    return max(waiting) + _LATE_REPORT if waiting else None
