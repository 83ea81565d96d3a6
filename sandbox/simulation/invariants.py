"""What must hold at the end of a campaign, however it was disturbed: by the carrier's own book, and by the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from zoneinfo import ZoneInfo

from paceline.accounts import get_account
from paceline.campaigns import get_campaign
from paceline.holds import account_scope, campaign_scope, route_scope
from paceline.moments import from_us
from paceline.report.pace import SentTimes
from paceline.status import FINAL, CampaignStatus, MessageStatus
from sandbox.carrier import Entry
from sandbox.customer import ACCOUNT_ID
from sandbox.simulation.campaign import PER_MINUTE, SimulatedCampaign
from sandbox.simulation.evidence import Left

ROUTES_PLACE = ZoneInfo("America/New_York")


@dataclass(frozen=True, slots=True)
class Violation:
    """kind: sent_twice, lost, credits_off or other. what: for people; no number, no text."""

    kind: str
    what: str


class Evidence(Left):
    """What a campaign left: the rows, the report; and the carrier's book."""

    def __init__(self, played: SimulatedCampaign) -> None:
        super().__init__(played.table, played.world.outputs["BucketName"], played.campaign_id)
        self.played = played
        self.book: list[Entry] = played.world.carrier.book


def violations(played: SimulatedCampaign, *, undisturbed: bool = False) -> list[Violation]:
    """Return all that does not hold. undisturbed: nothing was killed, so every lead's fate is known."""
    evidence = Evidence(played)
    if not played.told.started:
        return [Violation("other", "the campaign could not be started")]
    found = [Violation(kind, what) for kind, check in CHECKS for what in check(evidence)]
    found += [Violation("lost", what) for what in _fates(evidence, may_be_unproved=0 if undisturbed else 1)]
    return found


def _sent_twice(evidence: Evidence) -> Iterator[str]:
    for number, count in Counter(entry.to for entry in evidence.book).items():
        if count > 1:
            yield f"the carrier took {count} messages to the number that ends in {number[-3:]}"


def _outcomes(evidence: Evidence) -> Iterator[str]:
    leads = len(evidence.played.rows)
    if len(evidence.phone_numbers) != leads or len(evidence.messages) != leads:
        yield f"{leads} leads, {len(evidence.phone_numbers)} planned, {len(evidence.messages)} with a message"
    if still_open := sum(message.status not in FINAL for message in evidence.messages):
        yield f"{still_open} messages without an outcome"
    if evidence.report is None:
        yield "no report"
        return
    if not evidence.report["balanced"]:
        yield "; ".join(one["off"] for one in evidence.report["sums"] if not one["closes"])
    counted = +Counter(evidence.report["outcomes"])
    if counted != Counter(message.status.value for message in evidence.messages):
        yield f"the report says {dict(counted)}, the rows say otherwise"
    if evidence.report["leads"]["in"] != len(evidence.played.file_rows):
        yield f"{len(evidence.played.file_rows)} rows in the file, {evidence.report['leads']['in']} in the report"


_TRUTH = {"delivered": MessageStatus.DELIVERED, "undelivered": MessageStatus.UNDELIVERED}


def _fates(evidence: Evidence, may_be_unproved: int) -> Iterator[str]:
    """Compare each message's outcome with what the carrier knows of it."""
    entries = {entry.to: entry for entry in evidence.book}
    scripts = evidence.played.world.carrier.profile.scripts
    unproved = 0
    for message in evidence.messages:
        number = evidence.phone_numbers[message.lead_no]
        if entry := entries.get(number):
            expected = {_TRUTH.get(entry.status, MessageStatus.UNCONFIRMED)}
        elif number == evidence.played.stopper and evidence.played.told.stopped_at:
            expected = {MessageStatus.SKIPPED}
        else:
            expected = {MessageStatus.FAILED} if scripts[number].refused else set()
        if message.status in expected:
            continue
        if entry is None and message.status is MessageStatus.UNCONFIRMED:
            unproved += 1  # killed between claim and record: given up, never sent by a guess
            continue
        known = f"taken, {entry.status}" if entry else "never taken"
        yield f"lead {message.lead_no} is {message.status.value} ({message.cause}); at the carrier: {known}"
    if unproved > may_be_unproved:
        yield f"{unproved} leads were given up between claim and record"


def _credits(evidence: Evidence) -> Iterator[str]:
    account = get_account(evidence.table, ACCOUNT_ID)
    sums = f"{account.available} available, {account.reserved} reserved, {account.consumed} consumed"
    if account.available + account.reserved + account.consumed != account.bought:
        yield f"{sums}: not the {account.bought} that were bought"
    if account.bought != evidence.played.told.bought:
        yield f"{evidence.played.told.bought} credits were bought, the account says {account.bought}"
    if account.reserved:
        yield f"{account.reserved} credits stay reserved"
    taken = sum(entry.parts for entry in evidence.book)
    if account.consumed != taken:
        yield f"{account.consumed} credits consumed, the carrier took {taken} parts"
    if evidence.report and evidence.report["credits"]["consumed"] != account.consumed:
        yield f"{account.consumed} credits consumed, the report says {evidence.report['credits']['consumed']}"


def _ends(evidence: Evidence) -> Iterator[str]:
    for execution in evidence.played.world.engine.executions():
        if execution.status != "SUCCEEDED":
            yield f"the execution {execution.name} is {execution.status}: {execution.error} {execution.cause}"
    status = get_campaign(evidence.table, evidence.campaign_id).status
    if status is not CampaignStatus.FINISHED:
        yield f"the campaign is {status.value}"


def _holds(evidence: Evidence) -> Iterator[str]:
    """Nothing waits or is leased any more. A hold with an end of its own is removed by its row's expiry."""
    for summary in evidence.summaries:
        if summary.get("hold"):
            yield f"batch {summary['sk']} is still held by {summary['hold']['cause']}"
    scopes = [account_scope(ACCOUNT_ID), campaign_scope(evidence.campaign_id)]
    scopes += [route_scope(name) for name in evidence.played.route_caps]
    for row in (row for scope in scopes for row in evidence.table.query(f"HOLD#{scope}")):
        if not row["until"]:
            yield f"a hold by {row['cause']} of {row['sk']} is left"
    for batch_id, ledger in evidence.ledgers.items():
        for round_no in (number for number, lease in ledger.leases.items() if "closed_at" not in lease):
            yield f"the lease of batch {batch_id}, round {round_no} was not closed"


def _caps(evidence: Evidence) -> Iterator[str]:
    """The pace by the carrier's book; the day by the book, and what the counters say of it."""
    route_of = {evidence.phone_numbers[message.lead_no]: message.route for message in evidence.messages}
    for name, cap in evidence.played.route_caps.items():
        sent, days = SentTimes(), Counter[date]()
        for entry in evidence.book:
            if route_of.get(entry.to) == name:
                sent.add(from_us(entry.at), entry.parts)
                days[from_us(entry.at).astimezone(ROUTES_PLACE).date()] += entry.parts
        if (most := sent.most_in()) > PER_MINUTE:
            yield f"{most} parts in a minute on {name}"
        if cap is not None and max(days.values(), default=0) > cap:
            yield f"{max(days.values())} parts in a day on {name}"
        used = sum(row["used"] for row in evidence.table.query(f"ROUTE#{name}", "DAY#"))
        mine = [m for m in evidence.messages if m.route == name and m.status is not MessageStatus.SKIPPED]
        if used != sum(message.parts for message in mine):
            yield f"the days of {name} say {used} parts, its messages {sum(message.parts for message in mine)}"


def _stops(evidence: Evidence) -> Iterator[str]:
    told = evidence.played.told
    for entry in evidence.book:
        if entry.to == evidence.played.stopper and told.stopped_at and entry.at > told.stopped_at:
            yield "a message went to a person whose STOP had been taken"
        if entry.to == evidence.played.opted_out_before:
            yield "a message went to a person who had opted out before"


CHECKS: tuple[tuple[str, Callable[[Evidence], Iterator[str]]], ...] = (
    ("sent_twice", _sent_twice),
    ("lost", _outcomes),
    ("credits_off", _credits),
    ("other", _ends),
    ("other", _holds),
    ("other", _caps),
    ("other", _stops),
)
