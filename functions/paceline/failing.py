"""A sender that fails whatever it is given: its batch asks again at growing distances, and gives up in the end.

A function that lacks a permission fails at every message. Rounds in which nothing could be sent, one after the other,
are its mark; rounds that a 429, a pause, a closed window or a lowered cap ended are not, and count for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from paceline.batches import Ledger
from paceline.models import Batch, Campaign, Lead
from paceline.moments import to_us
from paceline.routes import Signals
from paceline.status import CampaignStatus, Cause
from paceline.table import Row
from paceline.windows import is_open

# The waits are 5, 10, 20 seconds and so on: a deployment that goes wrong is mended in minutes, so early ones are short.
FIRST_WAIT = timedelta(seconds=5)
LONGEST_WAIT = timedelta(minutes=15)

# With these waits about two hours: time for somebody to see `sender_failed` and to mend it.
MOST_FAILURES = 16


def verdict(
    lease: Row, ledger: Ledger, campaign: Campaign, batch: Batch, signals: Signals, now: datetime
) -> dict[str, object]:
    """Return what a closed lease says of its round: {} of one in which a message found its fate; else `failed`, or
    `excused` with the cause that kept its messages back.
    """
    its_own = (message for message in ledger.messages.values() if message.round == lease["round"])
    if "in_doubt" in lease or any(ledger.is_done(message.lead_no) for message in its_own):
        return {}
    excuse = _excuse(lease, campaign, batch, signals, now)
    return {"excused": excuse.value} if excuse else {"failed": True}


def _excuse(lease: Row, campaign: Campaign, batch: Batch, signals: Signals, now: datetime) -> Cause | None:
    if "given_at" not in lease:
        return Cause.PACE  # its day ended before it had slots
    given_at = datetime.fromisoformat(lease["given_at"])
    if max(signals.throttled_until, signals.misconfigured_until) > to_us(given_at):
        return Cause.PROVIDER_THROTTLED
    if signals.caps_lowered_at > to_us(given_at):
        return Cause.PACE
    resumed = [pause.resumed_at or now for pause in campaign.pauses]
    if campaign.status is not CampaignStatus.RUNNING or any(end >= given_at for end in resumed):
        return Cause.PAUSED
    return None if is_open(campaign.sending_window, batch.zones, now) else Cause.SENDING_WINDOW


def failures(leases: Mapping[int, Row]) -> tuple[int, datetime | None]:
    """Return how many rounds failed since one last sent something, and when the last of them was closed."""
    count, last = 0, None
    for _, lease in sorted(leases.items(), reverse=True):
        if lease.get("excused") or "closed_at" not in lease:
            continue
        if not lease.get("failed"):
            break
        count, last = count + 1, last or datetime.fromisoformat(lease["closed_at"])
    return count, last


def asks_again_at(count: int, last: datetime) -> datetime:
    """Return when the next round may begin. last: when the last of `count` failed ones was closed."""
    return last + min(FIRST_WAIT * (1 << (count - 1)), LONGEST_WAIT)


def probe(leads: Sequence[Lead], count: int) -> list[Lead]:
    """Return what a round tries after `count` failed ones: one lead, another each time, for one may be at fault."""
    if not count:
        return list(leads)
    return [leads[count % len(leads)]]
