"""What left in each minute: kept in a batch's summary by the write that closes a round, added up for who looks."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator

from paceline.batches import Ledger
from paceline.models import JsonObject, Message
from paceline.moments import from_us, to_us
from paceline.pacing import MINUTE_US
from paceline.status import MessageStatus
from paceline.table import Row

# What a picture of the pace shows: two hours.
MOST_MINUTES = 120


def parts_by_minute(ledger: Ledger) -> str:
    """Return the parts that left of a batch, by the minute since 1970 in which the provider's answer was seen.

    One JSON text: whoever looks reads thousands of these rows, and a map takes longer. Made anew from the whole ledger
    each time, so that a closing that is repeated counts nothing twice. A message in doubt counts as one that left, when
    it was claimed; what the provider refused does not.
    """
    found: Counter[int] = Counter()
    for moment, parts in _left(ledger):
        found[moment // MINUTE_US] += parts
    return json.dumps(dict(sorted(found.items())), separators=(",", ":"))


def _left(ledger: Ledger) -> Iterator[tuple[int, int]]:
    for lease in ledger.leases.values():
        yield from lease.get("in_doubt", ())
    for message in ledger.messages.values():
        if message.is_claimed_in_round and not _is_refused(message):
            moment = message.answered_at or message.claimed_at
            assert moment is not None  # a claim has one
            yield to_us(moment), message.parts


def _is_refused(message: Message) -> bool:
    return message.status is MessageStatus.FAILED and not message.provider_message_id


def pace_of(summaries: Iterable[Row]) -> list[JsonObject]:
    """Return the parts that left by minute and route, of the newest 120 minutes that have any, the oldest first."""
    found: Counter[tuple[int, str]] = Counter()
    for summary in summaries:
        for minute, parts in by_minute(summary).items():
            found[int(minute), summary["route"]] += parts
    newest = set(sorted({minute for minute, _ in found})[-MOST_MINUTES:])
    shown = sorted(one for one in found if one[0] in newest)
    return [{"minute": _iso(minute), "route": route, "parts": found[minute, route]} for minute, route in shown]


def by_minute(summary: Row) -> dict[str, int]:
    """Return minute → parts of a batch, of its rounds that are closed."""
    found: dict[str, int] = json.loads(summary.get("by_minute", "{}"))
    return found


def _iso(minute: int) -> str:
    return f"{from_us(minute * MINUTE_US):%Y-%m-%dT%H:%M:%SZ}"
