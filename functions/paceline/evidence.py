"""Whether a message of the provider's own book proves that one of ours, whose acceptance is in doubt, was accepted.

A book knows recipient, sender, text and time, not our id: a message that could as well be another of ours proves
nothing. The receipt that carries our id stays the better evidence, and comes anyway where the message was accepted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import islice

from paceline import keys
from paceline.accounts import account_ids
from paceline.departures import MOST_KEYS
from paceline.moments import from_us
from paceline.ports import Doubt, OutgoingMessage, Provider, ProviderRecord
from paceline.table import Row, Table

# Our clock and the provider's may differ by so much.
CLOCK_SLACK = timedelta(minutes=1)

# A sender lives for seconds after its claim; what the provider made later than this is another message.
LATEST = timedelta(minutes=5)


def look_up(
    table: Table, provider: Provider, account_id: str, message: OutgoingMessage, claimed_at: Sequence[datetime]
) -> ProviderRecord | None:
    """Ask the provider for a message that is in doubt; None where nothing is proved.

    claimed_at: once, or at two moments where it was claimed once more; the book is looked at around each.
    Raises: ProviderUnsure, where it does not answer now; TableThrottled.
    """
    recent = _recent(table, {account_id, *account_ids(table)}, message.phone_number)
    recent.pop(message.message_id, None)
    others = [(from_us(at), table.get(keys.message(*keys.parse_message_id(name))) or {}) for name, at in recent.items()]
    for moment in claimed_at:
        known = _known(others, Doubt(moment - CLOCK_SLACK, moment + LATEST))
        if known is None:
            continue
        record = provider.look_up(message, Doubt(moment - CLOCK_SLACK, moment + LATEST, known))
        if record is not None:
            return record
    return None


def _recent(table: Table, accounts: Iterable[str], phone_number: str) -> dict[str, int]:
    """Return the recent messages to a person, of all accounts: they share senders, and may say the same words."""
    asked = iter([keys.recipient(account_id, phone_number) for account_id in sorted(accounts)])
    found: dict[str, int] = {}
    while some := list(islice(asked, MOST_KEYS)):
        for row in table.get_many(some, ("recent",)):
            found |= row.get("recent", {})
    return found


def _known(others: Sequence[tuple[datetime, Row]], doubt: Doubt) -> set[str] | None:
    """Return the provider's ids of other messages to the person; None, where one is in doubt like this one.

    others: when each was claimed, and its row. What the book shows may be either then.
    """
    known = set()
    for claimed_at, row in others:
        first = row.get("first_claimed_at")
        if first and _is_near(datetime.fromisoformat(first), doubt):
            return None  # of a message that was claimed twice, the id of one text is not known
        if not _is_near(claimed_at, doubt):
            continue
        if not row.get("provider_message_id"):
            return None
        known.add(row["provider_message_id"])
    return known


def _is_near(moment: datetime, doubt: Doubt) -> bool:
    """Tell whether a message claimed then could be in the book at a time that is looked at here."""
    return doubt.since - LATEST <= moment <= doubt.until + CLOCK_SLACK
