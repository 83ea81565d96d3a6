"""Judges what was sent: nothing twice, nothing unwanted, no cap exceeded, no pause ignored. By the carrier's book."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import date, timedelta

from paceline.campaigns import PAUSE_BOUND_SECONDS
from paceline.claims import FREQUENCY_WINDOW
from paceline.models import SendingWindow
from paceline.moments import MICROSECONDS, from_us
from paceline.windows import day_of, is_open
from sandbox.carrier import Entry
from sandbox.simulation.worlds.facts import Facts
from sandbox.simulation.worlds.told import CapHistory

MINUTE = 60 * MICROSECONDS

# What a sender had checked just before may still leave: so long, and the way to the provider.
IN_FLIGHT = (PAUSE_BOUND_SECONDS + 1) * MICROSECONDS


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
                    yield f"{_who(entry.to)} was written to at {from_us(entry.at)}, outside {window}"
    yield from _claimed_after_stop(facts)
    yield from _too_often(facts)


def _claimed_after_stop(facts: Facts) -> Iterator[str]:
    for campaign_id, left in facts.left.items():
        account_id = facts.account_of(campaign_id).account_id
        sent = {entry.to for entry in facts.entries.get(campaign_id, ())}
        for message in left.messages:
            number = left.phone_numbers[message.lead_no]
            stopped = facts.told.stops.get((account_id, number))
            if stopped and number in sent and message.claimed_at and message.claimed_at > from_us(stopped):
                yield f"a message to {_who(number)} was claimed after the STOP was taken"


def _too_often(facts: Facts) -> Iterator[str]:
    by_person: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for campaign_id, entries in facts.entries.items():
        for entry in entries:
            by_person[facts.account_of(campaign_id).account_id, entry.to].append(entry)
    window = (FREQUENCY_WINDOW - timedelta(seconds=30)) // timedelta(microseconds=1)
    for (account_id, number), entries in by_person.items():
        if facts.accounts[account_id].in_doubt == "resend_once":
            continue  # it wants some people to get one too many
        for entry in entries:
            campaign_id = entry.message_id.split(".")[0]
            cap = facts.campaigns[campaign_id].max_messages_per_recipient_24h
            before = sum(entry.at - window < other.at < entry.at for other in entries)
            if cap is not None and before >= cap:
                yield f"{_who(number)} got {before + 1} messages in a day, where {cap} are allowed"


def caps(facts: Facts) -> Iterator[str]:
    """No cap exceeded in any rolling minute or any day: of a route, and of an account."""
    by_route: dict[str, list[Entry]] = defaultdict(list)
    by_day: dict[tuple[str, str, date], list[Entry]] = defaultdict(list)
    for entry in facts.book:
        route = facts.routes[entry.sender]
        day = day_of(from_us(entry.at), route.time_zone)
        by_route[route.name].append(entry)
        by_day["route", route.name, day].append(entry)
        campaign_id = entry.message_id.split(".")[0]
        by_day["account", facts.account_of(campaign_id).account_id, day].append(entry)
    for name, entries in by_route.items():
        yield from _minutes(name, entries, facts.told.paces[name])
    for (whose, name, day), entries in by_day.items():
        history = (facts.told.route_days if whose == "route" else facts.told.account_days)[name]
        parts = sum(entry.parts for entry in entries)
        most = history.most(entries[0].at - 86_400 * MICROSECONDS, entries[-1].at)
        if most is not None and parts > most:
            yield f"{parts} parts on {day} of the {whose} {name}, where {most} are allowed"


def _minutes(name: str, entries: list[Entry], history: CapHistory) -> Iterator[str]:
    for number, first in enumerate(entries):
        inside = [entry for entry in entries[number:] if entry.at < first.at + MINUTE]
        parts = sum(entry.parts for entry in inside)
        most = history.most(first.at - IN_FLIGHT, inside[-1].at)
        if most is not None and parts > max(most, first.parts):
            yield f"{parts} parts on {name} in the minute from {from_us(first.at)}, where {most} are allowed"


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
    return is_open(window, (zone,), from_us(entry.at))


def _seconds(microseconds: int) -> str:
    return f"{microseconds / MICROSECONDS:.1f} s"


def _who(number: str) -> str:
    return f"the person whose number ends in {number[-3:]}"
