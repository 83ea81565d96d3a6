"""Lists that customers page through: their campaigns, a campaign's messages, their opt-outs."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pydantic import TypeAdapter

from paceline import keys, rows
from paceline.batches import batch_summaries
from paceline.campaigns import get_plan
from paceline.cursors import cursor, not_a_cursor, place
from paceline.models import Batch, Campaign, Message
from paceline.opt_outs import OptOut
from paceline.ports import ObjectStore
from paceline.table import Row, Table

_BATCHES = TypeAdapter(list[Batch])


@dataclass(frozen=True, slots=True)
class Page:
    """items: in the list's order. next: the place after the last; None: there is no more."""

    items: list[Any]
    next: str | None


def list_accounts(table: Table, limit: int, after: str | None = None) -> Page:
    """Return accounts, by id. limit: at most 99. Raises: RequestInvalid."""
    start = _text(place(after)) if after else ""
    listed = table.page(keys.account_names(), limit + 1, after=start)
    found = table.get_many([keys.account(row["sk"]) for row in listed[:limit]]) if listed else []
    accounts = sorted(map(rows.to_account, found), key=lambda account: account.account_id)
    return Page(accounts, cursor(listed[limit - 1]["sk"]) if len(listed) > limit else None)


def list_campaigns(table: Table, account_id: str, limit: int, after: str | None = None) -> Page:
    """Return campaigns of the account, the newest first. limit: at most 99. Raises: RequestInvalid."""
    start = _text(place(after)) if after else ""
    listed = table.page(keys.account_campaigns(account_id), limit + 1, after=start, newest_first=True)
    chosen = [row["campaign_id"] for row in listed[:limit]]
    found = {row["campaign_id"]: row for row in table.get_many([keys.campaign(name) for name in chosen])}
    campaigns = [rows.to_campaign(found[name]) for name in chosen if name in found]
    return Page(campaigns, cursor(listed[limit - 1]["sk"]) if len(listed) > limit else None)


def list_opt_outs(table: Table, account_id: str, limit: int, after: str | None = None) -> Page:
    """Return the account's opt-outs, by number. Raises: RequestInvalid."""
    start = _text(place(after)) if after else ""
    partitions = keys.opt_out_partitions(account_id)
    found = [row for partition in partitions for row in table.page(partition, limit + 1, after=start)]
    found = sorted(found, key=lambda row: str(row["sk"]))[: limit + 1]
    entries = [OptOut(row["sk"], row["opted_out_at"], row["source"]) for row in found[:limit]]
    return Page(entries, cursor(entries[-1].phone_number) if len(found) > limit else None)


def list_messages(table: Table, store: ObjectStore, campaign: Campaign, limit: int, after: str | None = None) -> Page:
    """Return messages of the campaign, by lead number: those that were claimed or skipped so far.

    A place says the last lead number and, by stream, in which batch to go on: no page reads the list from its start.
    Raises: RequestInvalid.
    """
    plan = get_plan(table, campaign.campaign_id)
    if plan is None:
        return Page([], None)
    begun = {row["sk"].removeprefix("BATCH#") for row in batch_summaries(table, campaign.campaign_id)}
    streams = _by_stream(_BATCHES.validate_json(store.get(plan.batches_manifest_key)))
    last, starts = _message_place(after, len(streams))
    found = heapq.merge(*(_of_stream(table, streams, number, starts, last, begun) for number in range(len(streams))))
    chosen = list(islice(found, limit + 1))
    for _, number, index, _ in chosen[:limit]:
        starts[number] = index
    messages = [message for *_, message in chosen[:limit]]
    return Page(messages, cursor([messages[-1].lead_no, starts]) if len(chosen) > limit else None)


def _by_stream(batches: Sequence[Batch]) -> list[list[Batch]]:
    streams: dict[tuple[str, tuple[str, ...]], list[Batch]] = {}
    for batch in batches:
        streams.setdefault((batch.route, batch.zones), []).append(batch)
    return list(streams.values())


def _of_stream(
    table: Table, streams: Sequence[Sequence[Batch]], number: int, starts: Sequence[int], last: int, begun: set[str]
) -> Iterator[tuple[int, int, int, Message]]:
    """Yield (lead number, stream, batch in the stream, message): a stream's batches have its leads in their order."""
    for index, batch in enumerate(streams[number]):
        if index < starts[number] or batch.batch_id not in begun:
            continue
        partition = keys.batch_partition(batch.campaign_id, batch.batch_id)
        messages: Iterator[Row] = table.query(partition, "MESSAGE#")
        yield from ((row["lead_no"], number, index, rows.to_message(row)) for row in messages if row["lead_no"] > last)


def _message_place(after: str | None, streams: int) -> tuple[int, list[int]]:
    if not after:
        return 0, [0] * streams
    match place(after):
        case [int(last), list(starts)] if len(starts) == streams and all(isinstance(start, int) for start in starts):
            return last, starts
    raise not_a_cursor()


def _text(found: object) -> str:
    if not isinstance(found, str) or not 0 < len(found.encode()) <= 1024:
        raise not_a_cursor()
    return found
