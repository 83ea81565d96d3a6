"""What binds a route now, since when, until when, which campaigns it holds, and what that has cost them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from paceline import keys, rows
from paceline.batches import batch_summaries
from paceline.models import Campaign, JsonObject, Route
from paceline.moments import from_us, iso, to_us
from paceline.outlook import Outlook, held_for
from paceline.progress import until_now
from paceline.reporting import lost_to
from paceline.routes import campaigns_on, describe_route, parts_used, route_row
from paceline.status import Cause
from paceline.table import Row
from paceline.windows import end_of_day


def show_route(outlook: Outlook, name: str, account_id: str | None) -> JsonObject:
    """Return a route's caps, and what binds it. account_id: whose campaigns to name; None: everybody's.

    binding: cause, since, until (None: nobody can say), used, limit; None: the route is free. campaigns: those that it
    holds or paces now; other_campaigns: how many more. lost_to: cause → seconds that the route has held those named.
    Raises: RouteNotFound.
    """
    row, pace = route_row(outlook.table, name), outlook.table.get(keys.route_pace(name)) or {}
    holds = held_for(outlook.table, name, outlook.now)
    on_it = sorted({hold["campaign_id"] for hold in holds}.union(campaigns_on(pace)))
    campaigns = list(outlook.running(on_it))
    named = [one for one in campaigns if account_id in (None, one.account_id)]
    return describe_route(outlook.table, name, outlook.now) | {
        "binding": _binding(outlook, row, pace, holds, campaigns),
        "campaigns": [one.campaign_id for one in named],
        "other_campaigns": len(campaigns) - len(named),
        "lost_to": _lost(outlook, name, named),
    }


def _binding(
    outlook: Outlook, row: Row, pace: Row, holds: list[dict[str, str]], campaigns: Iterable[Campaign]
) -> JsonObject | None:
    route, now = rows.to_route(row), outlook.now
    since = {hold["cause"]: hold["since"] for hold in sorted(holds, key=lambda hold: hold["since"], reverse=True)}
    if not route.is_enabled:
        changed = row.get("changed", {}).get("is_enabled", {})
        return _shown(Cause.ROUTE_DISABLED, changed.get("at") or since.get(Cause.ROUTE_DISABLED), None)
    if (full := _day_cap(outlook, route, since)) is not None:
        return full
    misconfigured_until = row.get("misconfigured_until", 0)
    if misconfigured_until > to_us(now):
        return _shown(Cause.PROVIDER_MISCONFIGURED, None, from_us(misconfigured_until)) | {"detail": row["trouble"]}
    throttled_until = row.get("throttled_until", 0)
    if throttled_until > to_us(now):
        return _shown(Cause.PROVIDER_THROTTLED, None, from_us(throttled_until))
    if pace.get("next_free", 0) > to_us(now):
        started = min((one.start_at for one in campaigns if one.start_at), default=None)
        return _shown(Cause.PACE, iso(started) if started else None, None, limit=route.parts_per_minute)
    return None


def _day_cap(outlook: Outlook, route: Route, since: dict[str, str]) -> JsonObject | None:
    """Return the day cap's binding where it is used up, or where what is left is too little for what waits."""
    if route.parts_per_day is None:
        return None
    used = parts_used(outlook.table, route, outlook.now)
    if used < route.parts_per_day and Cause.ROUTE_DAY_CAP not in since:
        return None
    until = end_of_day(outlook.now, route.time_zone)
    return _shown(Cause.ROUTE_DAY_CAP, since.get(Cause.ROUTE_DAY_CAP), until, used=used, limit=route.parts_per_day)


def _shown(
    cause: Cause, since: str | None, until: datetime | None, *, used: int | None = None, limit: int | None = None
) -> JsonObject:
    ends = iso(until) if until else None
    return {"cause": cause.value, "since": since, "until": ends, "used": used, "limit": limit}


def _lost(outlook: Outlook, route: str, campaigns: Iterable[Campaign]) -> dict[str, float]:
    """Return for each cause the seconds in which it held a batch of these campaigns on the route."""
    found = [
        row for one in campaigns for row in batch_summaries(outlook.table, one.campaign_id) if row.get("route") == route
    ]
    return lost_to(until_now(found, outlook.now))
