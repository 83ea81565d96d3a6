"""Judges what was sent: nothing twice, nothing unwanted, no cap exceeded, no pause ignored. By the carrier's book."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from paceline.models import SendingWindow
from sandbox.carrier import Entry
from sandbox.simulation.worlds.facts import Facts
from sandbox.simulation.worlds.told import CapHistory

# The judges' own figures and clock: what the product promises, not what its code says.
MICROSECONDS = 1_000_000
MINUTE = 60 * MICROSECONDS
DAY = 86_400 * MICROSECONDS

# The stated bound of a pause, 5 s, and the way to the provider.
IN_FLIGHT = 6 * MICROSECONDS

# How late a message may use its slot, by the clock that is looked at just before the provider is called.
LATENESS = timedelta(seconds=5)

# Of the 24 h between two texts to a person: a claim is counted, and leaves some seconds later.
SLACK = 30 * MICROSECONDS


def sent_twice(facts: Facts) -> Iterator[str]:
    """No lead gets two messages of one campaign; two where its account wants one in doubt sent once more."""
    for campaign_id, entries in facts.entries.items():
        most = 2 if facts.account_of(campaign_id).in_doubt == "resend_once" else 1
        for number, count in Counter(entry.to for entry in entries).items():
            if count > most:
                yield f"the carrier took {count} messages of {facts.campaigns[campaign_id].tag} to {_who(number)}"


def unwanted(facts: Facts) -> Iterator[str]:
    """Nobody is texted after a STOP was taken, outside the window, or above the frequency cap."""
    for campaign_id, entries in facts.entries.items():
        campaign, account = facts.campaigns[campaign_id], facts.account_of(campaign_id)
        for entry in entries:
            stopped = facts.told.stops.get((account.account_id, entry.to))
            if stopped is not None and entry.at > stopped + IN_FLIGHT:
                yield f"{_who(entry.to)} was written to {_seconds(entry.at - stopped)} after the STOP was taken"
            for window in filter(None, (campaign.sending_window, account.sending_window)):
                if not _is_open(window, facts.people[entry.to].zone, entry):
                    yield f"{_who(entry.to)} was written to at {_at(entry.at)}, outside {_words(window)}"
    yield from _claimed_after_stop(facts)
    yield from _too_often(facts)


def _claimed_after_stop(facts: Facts) -> Iterator[str]:
    for campaign_id, left in facts.left.items():
        account_id = facts.account_of(campaign_id).account_id
        sent = {entry.to for entry in facts.entries.get(campaign_id, ())}
        for message in left.messages:
            number = left.phone_numbers[message.lead_no]
            stopped = facts.told.stops.get((account_id, number))
            if stopped and number in sent and message.claimed_at and message.claimed_at > _at(stopped):
                yield f"a message to {_who(number)} was claimed after the STOP was taken"


def _too_often(facts: Facts) -> Iterator[str]:
    by_person: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for campaign_id, entries in facts.entries.items():
        for entry in entries:
            by_person[facts.account_of(campaign_id).account_id, entry.to].append(entry)
    for (account_id, number), entries in by_person.items():
        if facts.accounts[account_id].in_doubt == "resend_once":
            continue  # it wants some people to get one too many
        for entry in entries:
            campaign_id = entry.message_id.split(".")[0]
            cap = facts.campaigns[campaign_id].max_messages_per_recipient_24h
            # Two at once are counted by their claims, and may arrive in the other order.
            before = sum(entry.at - DAY + SLACK < other.at < entry.at - IN_FLIGHT for other in entries)
            if cap is not None and before >= cap:
                yield f"{_who(number)} got {before + 1} messages in a day, where {cap} are allowed"


def caps(facts: Facts) -> Iterator[str]:
    """No cap exceeded in any rolling minute or any day: of a route, and of an account."""
    by_route: dict[str, list[Entry]] = defaultdict(list)
    by_day: dict[tuple[str, str, date], list[Entry]] = defaultdict(list)
    for entry in facts.book:
        route = facts.routes[entry.sender]
        day = _at(entry.at, route.time_zone).date()
        by_route[route.name].append(entry)
        by_day["route", route.name, day].append(entry)
        campaign_id = entry.message_id.split(".")[0]
        by_day["account", facts.account_of(campaign_id).account_id, day].append(entry)
    for name, entries in by_route.items():
        yield from _minutes(name, entries, facts.told.paces[name])
    yield from _late_slots(facts)
    for (whose, name, day), entries in by_day.items():
        history = (facts.told.route_days if whose == "route" else facts.told.account_days)[name]
        parts = sum(entry.parts for entry in entries)
        most = history.most(entries[0].at - DAY, entries[-1].at)
        if most is not None and parts > most:
            yield f"{parts} parts on {day} of the {whose} {name}, where {most} are allowed"


def _minutes(name: str, entries: list[Entry], history: CapHistory) -> Iterator[str]:
    for number, first in enumerate(entries):
        inside = [entry for entry in entries[number:] if entry.at < first.at + MINUTE]
        parts = sum(entry.parts for entry in inside)
        most = history.most(first.at - IN_FLIGHT, inside[-1].at)
        if most is not None and parts > max(most, first.parts):
            yield f"{parts} parts on {name} in the minute from {_at(first.at)}, where {most} are allowed"


def _late_slots(facts: Facts) -> Iterator[str]:
    """What is offered later than 5 s after its slot is in no minute's log: the next minute may be given to others."""
    for campaign_id, left in facts.left.items():
        for message in left.messages:
            if message.sent_at and message.slot and not message.resend and message.sent_at - message.slot > LATENESS:
                late = (message.sent_at - message.slot).total_seconds()
                tag = facts.campaigns[campaign_id].tag
                yield f"lead {message.lead_no} of {tag} was sent {late:.1f} s after its slot"


def pauses(facts: Facts) -> Iterator[str]:
    """Nothing of a paused or cancelled campaign reaches the provider later than its bound."""
    for pause in facts.told.pauses:
        until = pause.resumed_at
        yield from _late(facts, pause.campaign, pause.paused_at, until, "paused")
    for tag, cancelled in facts.told.cancelled.items():
        yield from _late(facts, tag, cancelled, None, "cancelled")


def _late(facts: Facts, tag: str, since: int, until: int | None, word: str) -> Iterator[str]:
    for entry in facts.entries.get(facts.told.campaigns[tag], ()):
        if since + IN_FLIGHT < entry.at and (until is None or entry.at < until):
            yield f"{tag} was {word}, and {_seconds(entry.at - since)} later a message left"


def _is_open(window: SendingWindow, zone: str, entry: Entry) -> bool:
    clock = _at(entry.at, zone).time()
    if window.opens <= window.closes:
        return window.opens == window.closes or window.opens <= clock < window.closes
    return clock >= window.opens or clock < window.closes


def _at(microseconds: int, zone: str = "UTC") -> datetime:
    moment = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=microseconds)
    return moment.astimezone(ZoneInfo(zone))


def _words(window: SendingWindow) -> str:
    return f"{window.opens:%H:%M} to {window.closes:%H:%M}"


def _seconds(microseconds: int) -> str:
    return f"{microseconds / MICROSECONDS:.1f} s"


def _who(number: str) -> str:
    return f"the person whose number ends in {number[-3:]}"
