"""The one cause that binds a campaign now, and what nobody can foretell of its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from paceline.forecast import Forecast, Never, Span
from paceline.models import Campaign, JsonObject
from paceline.moments import iso
from paceline.remaining import Remaining
from paceline.routes import get_route
from paceline.status import CampaignStatus, Cause
from paceline.table import Row, Table


def binding_of(
    table: Table, left: Remaining, told: Forecast, summaries: Sequence[Row], now: datetime
) -> JsonObject | None:
    """Return what binds the campaign: what binds the stream that ends last, by its batches' rows where they say it.

    cause, since, until (None: a signal ends it), route, used and limit (None: not counted). None: nothing is left.
    """
    campaign = left.campaign
    if campaign.status is CampaignStatus.PAUSED:
        since = campaign.pauses[-1].paused_at if campaign.pauses else None
        return _binding("paused", since, None)
    if campaign.start_at is not None and now < campaign.start_at:
        return _binding("start_at", campaign.created_at, campaign.start_at)
    last = told.last_stream
    if last is None or not last.spans:
        return None
    rows = [row for row in summaries if left.stream_of.get(row["sk"].removeprefix("BATCH#")) == last.stream]
    if hold := _hold(rows):
        return {**hold, "route": last.route}
    return _bound_by(table, campaign, last.spans[0], rows)


def _hold(rows: Sequence[Row]) -> JsonObject | None:
    """Return the hold that most of the batches have, the earliest of them; None where any of them moves on."""
    holds: list[JsonObject] = [row["hold"] for row in rows if row.get("hold")]
    if not holds or any(map(_moves_on, rows)):
        return None
    [(cause, _)] = Counter(hold["cause"] for hold in holds).most_common(1)
    return min((hold for hold in holds if hold["cause"] == cause), key=lambda hold: str(hold["since"]))


def _moves_on(summary: Row) -> bool:
    hold = summary.get("hold")
    return summary.get("status") == "sending" or bool(hold and hold["cause"] in (Cause.PACE, Cause.PROVIDER_THROTTLED))


def _bound_by(table: Table, campaign: Campaign, span: Span, rows: Sequence[Row]) -> JsonObject:
    holds = [row["hold"]["since"] for row in rows if row.get("hold") and row["hold"]["cause"] == span.cause]
    since = min(holds, default=None) or campaign.start_at or span.since
    limit = get_route(table, span.route).parts_per_minute if span.cause is Cause.PACE else None
    return _binding(span.cause.value, since, span.until) | {"route": span.route, "limit": limit}


def _binding(cause: str, since: datetime | str | None, until: datetime | None) -> JsonObject:
    began = iso(since) if isinstance(since, datetime) else since
    ends = iso(until) if until else None
    return {"cause": cause, "since": began, "until": ends, "route": None, "used": None, "limit": None}


def finish_of(campaign: Campaign, told: Forecast) -> JsonObject:
    """Return finish_at, and where that is None finish_reason: cause, route, parts and what to do."""
    if campaign.status is CampaignStatus.PAUSED:
        return {"finish_at": None, "finish_reason": {"cause": "paused", "detail": "It ends some time after a resume."}}
    if told.finish_at is not None:
        return {"finish_at": iso(told.finish_at), "finish_reason": None}
    never = told.never[0]
    reason = {"cause": never.cause.value, "route": never.route, "parts": never.parts, "detail": explain(never)}
    return {"finish_at": None, "finish_reason": reason}


def explain(never: Never) -> str:
    """Return in a sentence why some parts will not go."""
    parts = f"{never.parts:,} parts"
    match never.cause:
        case Cause.CREDITS:
            return f"{never.parts:,} credits are missing: {parts} wait until credits are added."
        case Cause.ROUTE_DISABLED:
            return f"The route {never.route!r} is disabled: {parts} wait until it is enabled."
        case Cause.ACCOUNT_NOT_ACTIVE:
            return f"The account is not active and approved: {parts} wait until it is."
        case Cause.SENDING_WINDOW if not never.is_late:
            return f"The sending window never opens for {parts} on {never.route!r}: widen it."
    why = {Cause.PACE: "pace", Cause.ROUTE_DAY_CAP: "day cap"}.get(never.cause, never.cause.value.replace("_", " "))
    return f"{parts} cannot go before send_by, because of the {why} on {never.route!r}: they will be skipped."
