"""Whether a message of the provider's own book proves that one of ours, whose acceptance is in doubt, was accepted.

A book knows recipient, sender, text and time, not our id: a message that could as well be another of ours proves
nothing. The receipt that carries our id stays the better evidence, and comes anyway where the message was accepted.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from paceline import keys
from paceline.moments import from_us
from paceline.ports import Doubt, OutgoingMessage, Provider, ProviderRecord
from paceline.table import Table

# Our clock and the provider's may differ by so much.
CLOCK_SLACK = timedelta(minutes=1)

# A sender lives for seconds after its claim; what the provider made later than this is another message.
LATEST = timedelta(minutes=5)


def look_up(
    table: Table,
    provider: Provider,
    account_id: str,
    message: OutgoingMessage,
    claimed_at: datetime,
    first_claimed_at: datetime | None = None,
) -> ProviderRecord | None:
    """Ask the provider for a message that is in doubt; None where nothing is proved.

    first_claimed_at: of its first try, where it was claimed once more. Raises: ProviderUnsure, where it does not answer
    now; TableThrottled.
    """
    person = table.get(keys.recipient(account_id, message.phone_number)) or {}
    doubt = Doubt((first_claimed_at or claimed_at) - CLOCK_SLACK, claimed_at + LATEST)
    known = set()
    for message_id, at in person.get("recent", {}).items():
        if message_id == message.message_id:
            continue
        other = table.get(keys.message(*keys.parse_message_id(message_id))) or {}
        first = other.get("first_claimed_at")
        if first and _is_near(datetime.fromisoformat(first), doubt):
            return None  # of a message that was claimed twice, the id of one text is not known
        if not _is_near(from_us(at), doubt):
            continue
        if not other.get("provider_message_id"):
            return None  # in doubt like this one: what the book shows may be either
        known.add(other["provider_message_id"])
    return provider.look_up(message, Doubt(doubt.since, doubt.until, known))


def _is_near(moment: datetime, doubt: Doubt) -> bool:
    """Tell whether a message claimed then could be in the book at a time that is looked at here."""
    return doubt.since - LATEST <= moment <= doubt.until + CLOCK_SLACK
