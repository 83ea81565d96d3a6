#!/usr/bin/env python3
"""Random receipts in two orders: `bench/receipts.py [--sequences N] [--seed N] [--json]`.

A sequence is what becomes of one message: its sender's end, and receipts of any status and cause, doubled and
contradicting. It happens twice, each time in an order of its own, some of it after the deadline and the report. Then
both must have the same row and both accounts the same credits. The rules are the production ones, on the table's
adapter; only the clock and the provider are fakes. Exit status: 0 no difference, 1 some.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "functions")]

from paceline import keys  # noqa: E402 (the path comes first)
from paceline.batches import batch_summaries, read_ledger  # noqa: E402
from paceline.claims import claim, note_unknown, record_sent  # noqa: E402
from paceline.late import notes_for  # noqa: E402
from paceline.looks import OpenBatch, deadline  # noqa: E402
from paceline.models import Batch, Campaign, Charging, Message, Route  # noqa: E402
from paceline.receipts import Receipt  # noqa: E402
from paceline.receiving import take_receipt  # noqa: E402
from paceline.revising import begin_report, settle_late  # noqa: E402
from paceline.settlement import settle  # noqa: E402
from paceline.status import MessageStatus as S  # noqa: E402
from tests.builders.core import NOON, World, a_campaign, a_lead, a_world, an_account, leads_of  # noqa: E402

# So many messages share a batch, and so many batches a table: both are as large as makes no difference to a rule.
BATCH, BATCHES_A_WORLD = 40, 25
CAUSES = ("", "unknown_error", "carrier_filtered", "unreachable", "landline", "provider_30999")
POLICIES = (Charging(), Charging(filtered=False), Charging(charged="delivered"))


@dataclass(frozen=True)
class Sequence:
    """What becomes of one message. receipts: (status, cause); is_recorded: its sender lived to see the answer."""

    parts: int
    receipts: tuple[tuple[S, str], ...]
    is_recorded: bool


def a_sequence(rng: random.Random) -> Sequence:
    receipts = [_receipt(rng) for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 4, 6)))]
    receipts += [rng.choice(receipts)] if receipts and rng.random() < 0.3 else []  # the same again
    return Sequence(rng.choice((1, 1, 1, 2, 3)), tuple(receipts), rng.random() < 0.8)


def _receipt(rng: random.Random) -> tuple[S, str]:
    status = rng.choice((S.SENT, S.DELIVERED, S.UNDELIVERED, S.FAILED))
    return status, rng.choice(CAUSES) if status in (S.UNDELIVERED, S.FAILED) else ""


@dataclass(frozen=True)
class Ended:
    """How one order ended: each message's row, and the account's (available, reserved, consumed, bought)."""

    messages: tuple[tuple[str, str, str], ...]
    credits: tuple[int, int, int, int]


def happens(world: World, rng: random.Random, name: str, sequences: list[Sequence], charging: Charging) -> Ended:
    """Let the sequences happen to the messages of one batch in an order of its own; return how it ended."""
    parts = sum(one.parts for one in sequences)
    campaign = a_campaign(campaign_id=name, account_id=name, charging=charging)
    world.clock.moment = NOON
    world.has(an_account(account_id=name, available=parts), campaign)
    batch = world.has_batch(leads_of([one.parts for one in sequences]), campaign_id=name)
    admission = world.admit_in_time(batch)
    assert len(admission.items) == len(sequences), admission
    early, late = [], []
    for lead_no, one in enumerate(sequences, start=1):
        steps = [lambda r=receipt, n=lead_no: _receive(world, batch, n, *r) for receipt in one.receipts]
        rng.shuffle(steps)
        split = rng.randint(0, len(steps))
        message = _claimed(world, campaign, lead_no, one.parts)
        ending = [lambda m=message, one=one: _end_sender(world, name, m, one)]
        early.append(_woven(rng, steps[:split], ending))
        late.append(steps[split:])
    _interleave(rng, early)
    world.close(batch)
    _reconcile(world, campaign, batch)
    _interleave(rng, late)
    _report(world, campaign, batch, version=2)
    account = world.account(name)
    rows = read_ledger(world.table, name, batch.batch_id).messages
    ended = tuple((rows[n].status.value, rows[n].cause, rows[n].provider_message_id) for n in sorted(rows))
    return Ended(ended, (account.available, account.reserved, account.consumed, account.bought))


def _claimed(world: World, campaign: Campaign, lead_no: int, parts: int) -> Message:
    message = Message(lead_no, "00001", "shared", 1, parts, S.CLAIMED, slot=NOON, claimed_at=NOON)
    assert claim(world.table, campaign, message, a_lead(lead_no, parts), NOON) is None
    return message


def _end_sender(world: World, name: str, message: Message, one: Sequence) -> None:
    if one.is_recorded:
        record_sent(world.table, name, message, _sid(message.lead_no), NOON, NOON)
    else:
        note_unknown(world.table, name, message)


def _sid(lead_no: int) -> str:
    return f"SM{lead_no:04}"


def _receive(world: World, batch: Batch, lead_no: int, status: S, cause: str) -> None:
    message_id = keys.message_id(batch.campaign_id, batch.batch_id, lead_no)
    take_receipt(world.table, world.workflow, Receipt(message_id, _sid(lead_no), status, cause), world.clock.now())


def _woven(rng: random.Random, steps: list[Any], others: list[Any]) -> list[Any]:
    woven = [*steps, *others]
    rng.shuffle(woven)
    return woven


def _interleave(rng: random.Random, lists: list[list[Any]]) -> None:
    """Run the steps of all messages mixed, those of each in their order."""
    turns = [number for number, steps in enumerate(lists) for _ in steps]
    rng.shuffle(turns)
    waiting = [iter(steps) for steps in lists]
    for turn in turns:
        next(waiting[turn])()


def _reconcile(world: World, campaign: Campaign, batch: Batch) -> None:
    """The deadline: everything becomes final, the batch is settled, the first report is made."""
    world.clock.moment = deadline(campaign, NOON)
    world.reconciler().reconcile(OpenBatch(batch=batch), world.clock.now(), campaign.charging)
    settle(world.table, campaign.account_id, batch_summaries(world.table, campaign.campaign_id), world.clock.now())
    _report(world, campaign, batch, version=1)


def _report(world: World, campaign: Campaign, batch: Batch, version: int) -> None:
    world.clock.moment += timedelta(hours=version)
    begin_report(world.table, campaign.campaign_id, version)
    notes = list(notes_for(world.table, campaign.campaign_id, version))
    messages = read_ledger(world.table, campaign.campaign_id, batch.batch_id).messages.values()
    summaries = batch_summaries(world.table, campaign.campaign_id)
    settle_late(world.table, campaign, notes, messages, summaries, world.clock.now())


def differences(seed: int, sequences: int) -> list[dict[str, Any]]:
    """Run so many sequences twice; return what differs."""
    rng = random.Random(seed)
    found: list[dict[str, Any]] = []
    with a_world() as world:
        world.has(Route(name="shared", parts_per_minute=1_000_000))
        while sequences > 0:
            batch = [a_sequence(rng) for _ in range(min(BATCH, sequences))]
            sequences -= len(batch)
            charging = rng.choice(POLICIES)
            one, other = (happens(world, rng, f"n{rng.getrandbits(64):x}", batch, charging) for _ in range(2))
            found += _compared(seed, batch, charging, one, other)
    return found


def _compared(seed: int, batch: list[Sequence], charging: Charging, one: Ended, other: Ended) -> list[dict[str, Any]]:
    told = [
        {"seed": seed, "receipts": [[str(s), c] for s, c in batch[n].receipts], "ended": [ours, theirs]}
        for n, (ours, theirs) in enumerate(zip(one.messages, other.messages, strict=True))
        if ours != theirs
    ]
    available, reserved, consumed, bought = one.credits
    if one.credits != other.credits or reserved or available + consumed != bought:
        told.append({"seed": seed, "charging": charging.model_dump(), "credits": [one.credits, other.credits]})
    return told


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sequences", type=int, default=100_000, metavar="N", help="how many (default: 100,000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the first world (default: 1)")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="processes (default: 2)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of words")
    given = parser.parse_args()
    began = time.perf_counter()
    sizes = [BATCH * BATCHES_A_WORLD] * (given.sequences // (BATCH * BATCHES_A_WORLD))
    sizes += [rest] if (rest := given.sequences % (BATCH * BATCHES_A_WORLD)) else []
    seeds = range(given.seed, given.seed + len(sizes))
    found: list[dict[str, Any]] = []
    with ProcessPoolExecutor(given.workers) as pool:
        for number, some in enumerate(pool.map(differences, seeds, sizes), start=1):
            found += some
            print(
                f"\r{sum(sizes[:number]):,} of {given.sequences:,} sequences, {len(found)} differences",
                end="",
                file=sys.stderr,
            )
    print(file=sys.stderr)
    told = {"sequences": given.sequences, "differences": len(found), "seconds": round(time.perf_counter() - began, 1)}
    if given.json:
        print(json.dumps(told | {"found": found[:20]}))
    else:
        print(
            f"{told['sequences']:,} sequences in two orders each: {told['differences']} differences.",
            *found[:20],
            sep="\n",
        )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
