"""Judges what is left when all is over: credits, outcomes, executions and holds, and what nobody may read anywhere."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator

from paceline.accounts import get_account
from paceline.campaigns import OVER, get_campaign
from paceline.holds import account_scope, campaign_scope, route_scope
from paceline.models import Message
from paceline.status import FINAL, CampaignStatus, MessageStatus
from sandbox.carrier import Entry
from sandbox.simulation.evidence import Left
from sandbox.simulation.worlds.drawing import PRIVATE
from sandbox.simulation.worlds.facts import Facts
from sandbox.simulation.worlds.plans import PlannedAccount
from sandbox.simulation.worlds.profiles import PROFILES

ARRIVED, STOPPED = "delivered", "undelivered"
NEVER_TAKEN = {MessageStatus.SKIPPED, MessageStatus.FAILED, MessageStatus.UNCONFIRMED}


def credits(facts: Facts) -> Iterator[str]:
    """Credits are conserved and never negative at any instant; at the end each is available or rightly consumed."""
    yield from facts.played.watch.found
    for account_id, planned in facts.accounts.items():
        account = get_account(facts.played.table, account_id)
        if account.bought != facts.told.bought[account_id]:
            yield f"{facts.told.bought[account_id]} credits were bought for {account_id}, it has {account.bought}"
        if account.reserved:
            yield f"{account.reserved} credits of {account_id} stay reserved"
        mine = [left for campaign_id, left in facts.left.items() if facts.account_of(campaign_id) is planned]
        consumed = sum(_charged(message, planned) for left in mine for message in left.messages)
        waived = sum(row.get("waived", 0) for left in mine for row in left.summaries)
        if account.consumed + waived != consumed:
            yield f"{account.consumed} credits of {account_id} are consumed, its messages make {consumed}"
        reported = sum(left.report["credits"]["consumed"] for left in mine if left.report)
        if reported != account.consumed:
            yield f"{account.consumed} credits of {account_id} are consumed, its reports say {reported}"


def _charged(message: Message, account: PlannedAccount) -> int:
    """Return what a message costs by the account's policy, as the API's document words it."""
    if message.status is MessageStatus.DELIVERED:
        return message.parts
    taken = message.status is MessageStatus.UNDELIVERED or (
        message.status is MessageStatus.UNCONFIRMED and bool(message.provider_message_id)
    )
    filtered = message.cause == "carrier_filtered" and not account.charging.filtered
    return message.parts if taken and account.charging.charged == "submitted" and not filtered else 0


def outcomes(facts: Facts) -> Iterator[str]:
    """Every lead in exactly one outcome, the sums close, and no outcome says other than the carrier's book."""
    for campaign_id, left in facts.left.items():
        tag = facts.campaigns[campaign_id].tag
        for what in _report(facts, campaign_id, left):
            yield f"{tag}: {what}"
        taken: dict[str, list[Entry]] = {}
        for entry in facts.entries.get(campaign_id, ()):
            taken.setdefault(entry.to, []).append(entry)
        for message in left.messages:
            entries = taken.get(left.phone_numbers[message.lead_no], [])
            if message.status not in _possible(entries):
                known = "; ".join(f"taken, receipts {' '.join(one.taken) or 'none'}" for one in entries)
                said = f"{message.status.value} ({message.cause})"
                yield f"{tag}: lead {message.lead_no} is {said}; at the carrier: {known or 'never taken'}"


def _report(facts: Facts, campaign_id: str, left: Left) -> Iterator[str]:
    leads = {index for _, index in facts.campaigns[campaign_id].leads}
    rows = len(facts.campaigns[campaign_id].leads) + 1
    if left.report is None:
        yield "no report"
        return
    if not left.report["balanced"]:
        yield "; ".join(one["off"] for one in left.report["sums"] if not one["closes"])
    if left.report["leads"]["in"] not in (rows, 0 if left.report["status"] == "failed" else rows):
        yield f"{rows} rows in the file, {left.report['leads']['in']} in the report"
    if left.report["leads"]["accepted"] != len(left.messages):
        yield f"{left.report['leads']['accepted']} leads accepted, {len(left.messages)} with a message"
    if len(left.messages) > len(leads):
        yield f"{len(leads)} people in the file, {len(left.messages)} messages"
    if still_open := sum(message.status not in FINAL for message in left.messages):
        yield f"{still_open} messages without an outcome"
    counted = Counter(message.status.value for message in left.messages)
    if +Counter(left.report["outcomes"]) != counted:
        yield f"the report says {left.report['outcomes']}, the rows say {dict(counted)}"


def _possible(entries: list[Entry]) -> set[MessageStatus]:
    """Return the outcomes that do not contradict what the carrier knows, and what it told us."""
    if not entries:
        return NEVER_TAKEN
    told = {word for entry in entries for word in entry.taken} & {ARRIVED, STOPPED}
    if told:  # a receipt that was taken from the carrier is not lost, and a handset's word beats any other
        return {MessageStatus.DELIVERED if ARRIVED in told else MessageStatus.UNDELIVERED}
    return {MessageStatus(entry.status) for entry in entries if entry.status in (ARRIVED, STOPPED)} | {
        MessageStatus.UNCONFIRMED
    }


def ends(facts: Facts) -> Iterator[str]:
    """Every execution ends, nothing waits or is leased any more."""
    if facts.played.stuck:
        yield facts.played.stuck
    may_fail = bool(PROFILES[facts.plan.profile].kinds)
    for execution in facts.played.roots():
        if execution.status != "SUCCEEDED" and not may_fail:
            yield f"the execution {execution.name} is {execution.status}: {execution.error} {execution.cause}"
    for campaign in facts.plan.campaigns:
        if campaign.tag not in facts.told.started:
            yield f"{campaign.tag} could not be started"
    for campaign_id, left in facts.left.items():
        status = get_campaign(left.table, campaign_id).status
        if status not in OVER or (status is CampaignStatus.FAILED and not may_fail):
            yield f"{facts.campaigns[campaign_id].tag} is {status.value}"
        for batch_id, ledger in left.ledgers.items():
            for number in (number for number, lease in ledger.leases.items() if "closed_at" not in lease):
                yield f"the lease of {facts.campaigns[campaign_id].tag}, batch {batch_id}, round {number} is not closed"
        for row in left.summaries:
            if row.get("hold"):
                yield f"batch {row['sk']} is still held by {row['hold']['cause']}"
    yield from _holds(facts)


def _holds(facts: Facts) -> Iterator[str]:
    """A hold that came to its end, or its campaign's, is removed by its row's expiry: nobody waits any more."""
    scopes = [account_scope(name) for name in facts.accounts] + [campaign_scope(one) for one in facts.campaigns]
    scopes += [route_scope(route.name) for route in facts.plan.routes]
    for row in (row for scope in scopes for row in facts.played.table.query(f"HOLD#{scope}")):
        is_over = get_campaign(facts.played.table, row["campaign_id"]).status in OVER
        if (not row["until"] and not is_over) or "expires_at" not in row:
            yield f"a hold by {row['cause']} of {row['sk']} is left"


# A number of the fictional ones in any spelling, or the word that is in every text and every name. A number stands by
# itself: in the hundreds of hexadecimal digits of a task token ten such digits come by chance.
_NUMBER = r"(?:(?<![0-9A-Za-z])|(?<=%2B))(?:\+?1\W{0,3})?[2-9]\d\d\W{0,3}555\W?01\d\d(?![0-9A-Za-z])"
_PRIVATE = re.compile(f"{_NUMBER}|{PRIVATE}")


def is_private(text: str) -> bool:
    """Tell whether a person's number, or a word of a message, is somewhere in the text."""
    return _PRIVATE.search(text) is not None


# The time of metrics: one of them looks like a number, once in an hour or two.
_MILLISECONDS = re.compile(r'"Timestamp":\d+')


def leaks(facts: Facts) -> Iterator[str]:
    """No phone number or text in execution histories or logs."""
    for execution in facts.played.world.engine.executions():
        if is_private(execution.input) or is_private(json.dumps(execution.history(), default=str)):
            yield f"the history of {execution.name} has a number or a text"
    logs = facts.played.world.logs
    for line in (*logs.lines, *logs.metrics):
        if _PRIVATE.search(_MILLISECONDS.sub("", line)):
            yield f"a log line has a number or a text: {_PRIVATE.sub('…', line)[:300]}"
            return
