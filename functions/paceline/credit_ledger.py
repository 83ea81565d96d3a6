"""An account's credits as entries: what was bought and by whom, and what each campaign holds and used of it.

Nothing is written for it: purchases are in the audit trail, the rest in batches' rows and in leases that are open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from paceline import keys, rows
from paceline.audit import account_subject
from paceline.batches import batch_summaries
from paceline.cursors import cursor, not_a_cursor, place
from paceline.departures import MOST_KEYS
from paceline.listing import Page
from paceline.models import Campaign, JsonObject
from paceline.moments import iso
from paceline.table import Row, Table


def list_ledger(table: Table, account_id: str, limit: int, after: str | None = None) -> Page:
    """Return entries of the account, the newest first; a campaign stands at its creation. Raises: RequestInvalid.

    Of all pages: bought = what is available + reserved + consumed, as of each batch's last step.
    """
    before = _text(place(after)) if after else ""
    trail: Iterable[Row] = table.query(keys.audit_partition(account_subject(account_id)))
    bought = [row for row in trail if "bought" in row["changes"] and (not before or row["sk"] < before)]
    listed = table.page(keys.account_campaigns(account_id), limit + 1, after=before, newest_first=True)
    merged = sorted([*bought, *listed], key=lambda row: str(row["sk"]), reverse=True)
    chosen = merged[:limit]
    found = _campaigns(table, [row["campaign_id"] for row in chosen if "campaign_id" in row])
    known = [row for row in chosen if "changes" in row or row["campaign_id"] in found]
    entries = [_bought(row) if "changes" in row else _of(table, found[row["campaign_id"]]) for row in known]
    return Page(entries, cursor(chosen[-1]["sk"]) if len(merged) > limit else None)


def _text(found: object) -> str:
    if not isinstance(found, str) or not 0 < len(found.encode()) <= 1024:
        raise not_a_cursor()
    return found


def _campaigns(table: Table, names: Sequence[str]) -> dict[str, Campaign]:
    found = table.get_many([keys.campaign(name) for name in names]) if names else []
    return {row["campaign_id"]: rows.to_campaign(row) for row in found}


def _entry(kind: str, at: str) -> JsonObject:
    of_purchases = dict.fromkeys(("bought", "by", "by_name"))
    of_campaigns = dict.fromkeys(("campaign_id", "name", "status", "reserved", "consumed", "released", "waived"))
    return {"at": at, "kind": kind, **of_purchases, **of_campaigns}


def _bought(row: Row) -> JsonObject:
    both = row["changes"]["bought"]
    credits = both["after"] - (both["before"] or 0)
    return _entry("bought", row["at"]) | {"bought": credits, "by": row["by"], "by_name": row["by_name"]}


def _of(table: Table, campaign: Campaign) -> JsonObject:
    about = {"campaign_id": campaign.campaign_id, "name": campaign.name, "status": campaign.status.value}
    return _entry("campaign", iso(campaign.created_at)) | about | credits_of(table, campaign.campaign_id)


def credits_of(table: Table, campaign_id: str) -> dict[str, int]:
    """Return what a campaign has reserved now, and what of it was consumed, released and waived so far."""
    summaries = batch_summaries(table, campaign_id)
    settled = [row for row in summaries if "settled_at" in row]
    consumed = sum(row["consumed"] for row in settled)
    released = sum(row.get("released", 0) for row in summaries)
    closed = sum(row.get("reserved", 0) for row in summaries)
    waived = sum(row.get("waived", 0) for row in settled)
    opened = sum(_held(lease) for lease in _open_leases(table, campaign_id, summaries))
    held = closed - released - consumed + opened
    return {"reserved": held, "consumed": consumed, "released": released, "waived": waived}


def _open_leases(table: Table, campaign_id: str, summaries: Iterable[Row]) -> Iterator[Row]:
    """Yield the leases of rounds that batches are in: of the one after the last that their summaries count."""
    names = ((row["sk"].removeprefix("BATCH#"), row.get("round", 0) + 1) for row in summaries if row.get("has_lease"))
    wanted = (keys.lease(campaign_id, batch_id, round_no) for batch_id, round_no in names)
    while some := list(islice(wanted, MOST_KEYS)):
        yield from table.get_many(some, ("parts", "unused"))


def _held(lease: Row) -> int:
    """Return what a lease holds; of one that is closed by now, what was not given back."""
    return int(lease["parts"] - lease.get("unused", 0))
