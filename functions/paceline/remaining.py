"""What is left of a campaign, stream by stream, from its plan and its batches' summaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter

from paceline import keys, rows
from paceline.errors import ObjectNotFound
from paceline.forecast import StreamLeft
from paceline.models import Account, Batch, Campaign, Plan, Stream
from paceline.moments import to_us
from paceline.ports import ObjectStore
from paceline.table import Row, Table

# How many leases are looked at to see how far batches under way are: as many as one BatchGetItem takes.
MOST_LEASES = 100

_BATCHES = TypeAdapter(tuple[Batch, ...])
_DONE = {"sent", "final", "settled"}


@dataclass(frozen=True, slots=True)
class Remaining:
    """What is left of a campaign. leased: parts of it for which credits and day use are taken already, by route.

    stream_of: batch → stream, of the batches that are not done.
    """

    campaign: Campaign
    streams: tuple[StreamLeft, ...]
    leased: Mapping[str, int] = field(default_factory=Counter)
    stream_of: Mapping[str, str] = field(default_factory=dict)

    @property
    def parts(self) -> int:
        return sum(stream.parts for stream in self.streams)

    def on(self, routes: Iterable[str]) -> Remaining:
        """Return what is left on these routes."""
        wanted = set(routes)
        return replace(self, streams=tuple(one for one in self.streams if one.route in wanted and one.parts))


def all_of(campaign: Campaign, account: Account, streams: Iterable[Stream], begins: datetime) -> Remaining:
    """Return what a plan leaves to do: all of it, from a moment on. A start narrows the window by the account's."""
    narrower = account.sending_window
    windows = (campaign.sending_window, *([narrower] if narrower else []))
    later: dict[str, Any] = {"begins": begins, "windows": windows}
    return Remaining(campaign, tuple(replace(_stream_left(campaign, one), parts=one.parts, **later) for one in streams))


def remaining(
    table: Table,
    store: ObjectStore,
    campaign: Campaign,
    plan: Plan,
    summaries: Iterable[Row],
    now: datetime,
) -> Remaining:
    """Return what is left of a campaign that was started: what has no slot yet, or one that is still to come."""
    streams = {(one.route, one.zones): _stream_left(campaign, one) for one in plan.streams}
    known = {row["sk"].removeprefix("BATCH#"): row for row in summaries}
    gone = _slots_gone(table, campaign.campaign_id, known, to_us(now))
    parts, leased = Counter[str](), Counter[str]()
    stream_of: dict[str, str] = {}
    for batch in batches_of(store, plan):
        row = known.get(batch.batch_id, {})
        if row.get("status") not in _DONE:
            stream = stream_of[batch.batch_id] = streams[batch.route, batch.zones].stream
            left = batch.parts * max(0, row.get("left", batch.leads) - gone.get(batch.batch_id, 0)) // batch.leads
            parts[stream] += left
            leased[batch.route] += left if row.get("has_lease") else 0
    left_of = tuple(replace(one, parts=parts[one.stream]) for one in streams.values())
    return Remaining(campaign, left_of, leased, stream_of)


def batches_of(store: ObjectStore, plan: Plan) -> tuple[Batch, ...]:
    """Return the plan's batches, from its manifest."""
    try:
        return _parsed(store.get(plan.batches_manifest_key)) if plan.batches_manifest_key else ()
    except ObjectNotFound:
        return ()


@lru_cache(maxsize=8)
def _parsed(manifest: bytes) -> tuple[Batch, ...]:
    """A campaign's manifest does not change: a warm function parses it once."""
    return _BATCHES.validate_json(manifest)


def _slots_gone(table: Table, campaign_id: str, summaries: Mapping[str, Row], now: int) -> dict[str, int]:
    """Return for each batch under way how many of its round's slots have come."""
    under_way = [name for name, row in summaries.items() if row.get("status") == "sending"][:MOST_LEASES]
    # A summary's round is the last one that was closed.
    wanted = {keys.lease(campaign_id, name, summaries[name].get("round", 0) + 1): name for name in under_way}
    found = table.get_many(list(wanted)) if wanted else []
    return {wanted[rows.key_of(row)]: sum(slot <= now for slot in row.get("slots", ())) for row in found}


def _stream_left(campaign: Campaign, stream: Stream) -> StreamLeft:
    return StreamLeft(
        campaign_id=campaign.campaign_id,
        stream=stream.stream,
        route=stream.route,
        parts=0,
        account_id=campaign.account_id,
        weight=campaign.weight,
        windows=(campaign.sending_window,),
        zones=stream.zones,
        begins=campaign.start_at,
        send_by=campaign.send_by,
        room_a_part=1 + stream.unused_parts / max(1, stream.parts),
    )
