"""For how long what is known of people is kept. The only place that writes `expires_at`, by which DynamoDB deletes.

What a campaign keeps of people ends together: its objects by the bucket's rules, its messages' rows by the moment that
its start notes. Opt-outs have no end.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from paceline.errors import ObjectNotFound, RequestInvalid
from paceline.models import Campaign

# A raw callback, for a replay: receipts later than that are not known to come.
INBOX = timedelta(days=30)
# A client that was down over a long weekend may still ask again.
IDEMPOTENCY = timedelta(days=7)


def expiry(at: datetime | None) -> dict[str, int]:
    """Return the attribute that lets DynamoDB delete a row after this moment (within days of it); None: it has none."""
    return {} if at is None else {"expires_at": int(at.timestamp())}


def kept_until(started_at: datetime, days: int, needed_until: datetime) -> datetime:
    """Return until when a campaign that is started now keeps what it knows of people.

    needed_until: its receipt deadline at the latest. Raises: RequestInvalid, where that and a month of late words would
    come after its leads are gone.
    """
    ends = started_at + timedelta(days=days)
    if needed_until + INBOX > ends:
        too_long = (needed_until + INBOX - ends).days + 1
        raise RequestInvalid(
            f"Leads are kept for {days} days, and the campaign would need its own for longer: end its sending "
            f"{too_long} day{'s' * (too_long > 1)} earlier, by `send_by` or `start_at`.",
            field="send_by",
        )
    return ends


def no_longer_kept(campaign: Campaign, what: str) -> ObjectNotFound:
    """Return the error for what a campaign kept of people, once that is gone. what: in words, as "reports"."""
    told = f"were kept until {campaign.kept_until:%Y-%m-%d}" if campaign.kept_until else "are no longer kept"
    return ObjectNotFound(f"The campaign's {what} {told}.", campaign_id=campaign.campaign_id)
