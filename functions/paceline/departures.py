"""When the messages of earlier rounds left: what the pace's sliding log is made of.

A closed round says it in its lease, in one attribute that its closing writes anyway. Of a round that is still open the
messages' own rows say it, and for those that have none the latest moment at which they may still leave.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from paceline import keys
from paceline.models import Message
from paceline.moments import to_us
from paceline.pacing import LATENESS_US, MINUTE_US, SEND_US, UNSURE_US, Round
from paceline.rows import key_of, to_message
from paceline.table import Row, Table

Departure = tuple[int, int]
"""(the latest moment at which it may have left, microseconds since 1970; parts)."""

# The last closed one is among so many.
RECENT_ROUNDS = 4

# A round of fewer messages, or one that took hardly longer than its slots, says nothing of how long a send takes.
FEWEST_TO_LEARN = 5
LEARN_US = 2_000_000

# What BatchGetItem takes at once.
MOST_KEYS = 100


def round_ref(campaign_id: str, batch_id: str, round_no: int) -> str:
    """Return the name of a batch's round, as the pace row has it."""
    return f"{campaign_id}#{batch_id}#{round_no}"


def _lease_key(ref: str) -> keys.Key:
    campaign_id, batch_id, round_no = ref.split("#")
    return keys.lease(campaign_id, batch_id, int(round_no))


def departed(lease: Row, messages: Iterable[Message]) -> str:
    """Return when the messages of a closed round left, as its lease keeps it: milliseconds after its first slot.

    A number for a message of one part, [milliseconds, parts] for a larger one; rounded up, in order.
    """
    slots = lease.get("slots")
    if not slots:
        return "[]"
    known = [_departure(message) for message in messages if is_of_round(message, lease["round"])]
    left = sorted(known + in_doubt(lease))
    found = [(-(-(moment - slots[0]) // 1000), parts) for moment, parts in left]
    return json.dumps([after if parts == 1 else [after, parts] for after, parts in found], separators=(",", ":"))


def is_of_round(message: Message, round_no: int) -> bool:
    """Tell whether a message was claimed in this round: what it leased was used."""
    return message.round == round_no and message.is_claimed_in_round


def _departure(message: Message) -> Departure:
    if message.answered_at is not None:
        return to_us(message.answered_at), message.parts
    slot = message.slot or message.claimed_at
    assert slot is not None  # a claim has both
    return to_us(slot) + LATENESS_US + UNSURE_US, message.parts


def in_doubt(lease: Row) -> list[Departure]:
    """Return what may have left of a round in messages that are to be sent once more, whatever became of that."""
    return [(slot + LATENESS_US + UNSURE_US, parts) for slot, parts in lease.get("in_doubt", ())]


class Log:
    """What may have left on a route in the minutes before a moment; reads each round once, however often asked."""

    def __init__(self, table: Table, now: int) -> None:
        self._table, self._now = table, now
        self._leases: dict[str, Row] = {}
        self._read: set[str] = set()

    def since(self, rounds: Sequence[Round], exact_until: int) -> list[Departure]:
        """Return the departures of all rounds: exactly where a round begins before `exact_until`, else at its end."""
        exact = [one for one in rounds if one.first <= exact_until]
        self._fetch(exact)
        found = [departure for one in exact for departure in self._of(one)]
        return found + [(one.last + LATENESS_US, one.parts) for one in rounds if one.first > exact_until]

    def open_width(self, rounds: Sequence[Round], cap: int) -> int:
        """Return how many sends may be under way in rounds that are not closed. cap: for those given without one."""
        recent = [one for one in rounds if one.over_at > self._now]
        self._fetch(recent)
        return sum(one.width or cap for one in recent if "closed_at" not in self._leases.get(one.ref, {}))

    def send_us(self, rounds: Sequence[Round], known: int) -> int:
        """Return how long a send takes under a cap on concurrency, as the last closed round shows; else as `known`.

        Sends that leave further apart than their slots are one after the other: that distance is their time. Else they
        were not in each other's way, and may take less.
        """
        self._fetch(rounds[-RECENT_ROUNDS:])
        closed = [one for one in rounds if one.width and "departed" in self._leases.get(one.ref, {})]
        left = sorted(moment for moment, _ in self._of(closed[-1])) if closed else []
        if len(left) < FEWEST_TO_LEARN:
            return known
        last, apart = closed[-1], left[-1] - left[0]
        if apart <= last.last - last.first + LEARN_US:
            return max(SEND_US, known * 99 // 100)
        return max(SEND_US, apart * last.width * 11 // 10 // (len(left) - 1))  # a queue that is always full only grows

    def _fetch(self, rounds: Sequence[Round]) -> None:
        wanted = [one.ref for one in rounds if one.ref not in self._read]
        self._read.update(wanted)
        by_key = {_lease_key(ref): ref for ref in wanted}
        for first in range(0, len(wanted), MOST_KEYS):
            some = list(by_key)[first : first + MOST_KEYS]
            for row in self._table.get_many(some, ("pk", "sk", "closed_at", "departed", "first_slot")):
                self._leases[by_key[key_of(row)]] = row

    def _of(self, one: Round) -> list[Departure]:
        lease = self._leases.get(one.ref, {})
        if lease.get("first_slot", one.first) != one.first:
            return []  # the round was given slots twice, as a killed admission is, and has those of the other time
        if "departed" in lease:
            return _departures(lease["departed"], one.first)
        return list(self._of_open(one))

    def _of_open(self, one: Round) -> Iterable[Departure]:
        """Of a round that is under way: exactly what left, and for the rest the latest moment at which it still may."""
        campaign_id, batch_id, round_no = one.ref.split("#")
        rows = self._table.query(keys.batch_partition(campaign_id, batch_id))
        lease: Row = {}
        messages: list[Message] = []
        for row in rows:
            if row["sk"].startswith("MESSAGE#"):
                messages.append(to_message(row))
            elif row["round"] == int(round_no):
                lease = row
        if "slots" not in lease:
            yield one.last + LATENESS_US, one.parts
            return
        yield from in_doubt(lease)
        known = {message.lead_no: message for message in messages if is_of_round(message, int(round_no))}
        sizes = lease.get("sizes") or [1] * len(lease["slots"])
        for lead_no, slot, parts in zip(lease["lead_nos"], lease["slots"], sizes, strict=False):
            if lead_no in known:
                yield _departure(known[lead_no])
            elif slot + LATENESS_US + UNSURE_US >= self._now:  # a sender whose clock is behind may still send it
                yield slot + LATENESS_US, parts


def _departures(text: str, first_slot: int) -> list[Departure]:
    found: list[int | list[int]] = json.loads(text)
    return [
        (first_slot + 1000 * one, 1) if isinstance(one, int) else (first_slot + 1000 * one[0], one[1]) for one in found
    ]


def still_matters(one: Round, moment: int, cap: int) -> bool:
    """Tell whether something of a round may be within the minute before a moment (minutes, if larger than the cap)."""
    return one.over_at + MINUTE_US * -(-one.parts // cap) > moment
