"""Campaigns whose rows a recount reads: planned, sent, settled by the rules themselves, then damaged on purpose."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from paceline import keys
from paceline.batches import batch_summaries
from paceline.campaigns import get_campaign, keep_plan
from paceline.keys import Key
from paceline.looks import OpenBatch, deadline
from paceline.models import Batch, LeadCounts, Plan
from paceline.receipts import Receipt, apply_receipt
from paceline.recount import Recount, recount
from paceline.settlement import settle
from paceline.status import MessageStatus
from paceline.table import Update
from tests.builders.core import World, leads_of


def has_planned(world: World, *sizes: int | Sequence[int], campaign_id: str = "renewals") -> list[Batch]:
    """Let the campaign be planned, with a batch for each size: so many leads, or the parts of each lead."""
    batches = []
    for number, parts in enumerate(sizes, start=1):
        leads = leads_of(parts)
        batches.append(world.has_batch(leads, f"{number:05}", campaign_id=campaign_id))
    manifest_key = f"campaigns/{campaign_id}/batches.json"
    world.store.put(manifest_key, json.dumps([batch.model_dump(mode="json") for batch in batches]).encode())
    total = sum(batch.leads for batch in batches)
    counts = LeadCounts.model_validate({"in": total, "accepted": total})
    keep_plan(world.table, campaign_id, Plan(leads=counts, batches=len(batches), batches_manifest_key=manifest_key))
    return batches


def sends(world: World, batch: Batch, *, only: int | None = None) -> None:
    """Let the batch's first round be admitted, its messages (or the first so many) sent, and the round closed."""
    admission = world.admit_in_time(batch)
    if only is not None:
        admission = admission.model_copy(
            update={"groups": (admission.groups[0].model_copy(update={"items": tuple(admission.items[:only])}),)}
        )
    world.send_all(batch, admission)
    world.close(batch)


def ends(world: World, batch: Batch, *outcomes: MessageStatus) -> None:
    """Let receipts say what became of the batch's messages (default: delivered), and settle it."""
    for number in range(1, batch.leads + 1):
        status = outcomes[number - 1] if number <= len(outcomes) else MessageStatus.DELIVERED
        receives(world, batch, number, status)
    world.clock.passes(minutes=1)
    campaign, now = get_campaign(world.table, batch.campaign_id), world.clock.now()
    world.reconciler().reconcile(OpenBatch(batch=batch), deadline(campaign, now), campaign.charging)
    settle(world.table, "acme", batch_summaries(world.table, batch.campaign_id), world.clock.now())


def receives(world: World, batch: Batch, lead_no: int, status: MessageStatus) -> None:
    """Let a receipt for one message be applied."""
    message_id = keys.message_id(batch.campaign_id, batch.batch_id, lead_no)
    message = world.message(lead_no, batch.batch_id)
    sid = message.provider_message_id if message else ""
    apply_receipt(world.table, Receipt(message_id, sid, status), world.clock.now())


def damage(world: World, key: Key, **by: int) -> None:
    """Change numbers of a row, as no rule of ours does."""
    adds = ", ".join(f"#{name} :{name}" for name in by)
    world.table.update(Update(key, f"ADD {adds}", by))


def set_values(world: World, key: Key, **values: Any) -> None:
    sets = ", ".join(f"#{name} = :{name}" for name in values)
    world.table.update(Update(key, f"SET {sets}", values))


def counted(world: World, account_id: str | None = None) -> Recount:
    return recount(world.table, world.store, account_id, world.clock.now())


def told(found: Recount) -> list[tuple[str, str, object, object]]:
    """Return every difference as (where, what, expected, found): accounts first, then batches, then routes' days."""
    listed = [one for account in found.accounts for one in account.differences]
    listed += [one for account in found.accounts for campaign in account.campaigns for one in campaign.differences]
    return [(one.where, one.what, one.expected, one.found) for one in (*listed, *found.days)]


def whys(found: Recount) -> str:
    """Return all reasons that it gives."""
    listed = [one for account in found.accounts for one in account.differences]
    listed += [one for account in found.accounts for campaign in account.campaigns for one in campaign.differences]
    return "\n".join(one.why for one in (*listed, *found.days))
