"""What a plan promises before the start: when it ends, which caps bind when, and who else is on its routes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from paceline.accounts import account_use, get_account
from paceline.binding import explain, finish_of
from paceline.forecast import STARTUP, STARTUP_BESIDE_OTHERS, Forecast, Span
from paceline.models import Account, Campaign, JsonObject, Plan
from paceline.moments import iso
from paceline.outlook import Outlook
from paceline.remaining import Remaining, all_of
from paceline.routes import all_routes, describe_route
from paceline.starting import DEFAULT_SENDING_DAYS
from paceline.status import Cause
from paceline.table import Table
from paceline.windows import day_of, end_of_day

# Where things are in the bucket says nothing to a customer, and the manifests of a plan before the start are not there.
_INTERNAL: Any = {
    "streams_manifest_key": True,
    "batches_manifest_key": True,
    "rejects_key": True,
    "streams": {"__all__": {"manifest_bucket", "manifest_key", "campaign_id"}},
}
_CAPS = {Cause.PACE, Cause.ROUTE_DAY_CAP, Cause.ACCOUNT_DAY_CAP}


def describe_plan(outlook: Outlook, campaign: Campaign, planned: Plan, *, sees_all: bool) -> JsonObject:
    """Return the plan with its promises. sees_all: an operator, who may see other accounts' campaigns.

    binding_caps: cause, route, since and until of each time that a cap, a window or a missing credit binds.
    """
    account = get_account(outlook.table, campaign.account_id)
    start_at = max(campaign.start_at or outlook.now, outlook.now)
    send_by = campaign.send_by or start_at + timedelta(days=DEFAULT_SENDING_DAYS)
    would_run = campaign.model_copy(update={"start_at": start_at, "send_by": send_by})
    routes = sorted({stream.route for stream in planned.streams})
    beside = outlook.beside(routes, campaign.campaign_id)
    begins = start_at + (STARTUP_BESIDE_OTHERS if beside else STARTUP)
    own = all_of(would_run, account, planned.streams, begins)
    told = outlook.forecast(own, beside)
    return planned.model_dump(mode="json", by_alias=True, exclude=_INTERNAL) | {
        "credits": {"needed": planned.parts, "available": account.available},
        "warnings": [*planned.warnings, *_warnings(planned, account, told)],
        "send_by": iso(send_by),
        "binding_caps": [_shown(span) for span in told.spans],
        "campaigns_ahead": _ahead(beside, campaign.account_id, sees_all=sees_all),
        "caps": _caps(outlook, account, routes),
        **finish_of(would_run, told),
    }


def _warnings(planned: Plan, account: Account, told: Forecast) -> Iterator[str]:
    if planned.parts > account.available:
        needs = f"The campaign needs {planned.parts:,} credits and the account has {account.available:,}"
        yield f"{needs}: it will hold until credits are added."
    for never in told.never:
        if never.is_late and never.cause is not Cause.CREDITS:
            yield f"The campaign cannot finish before send_by: {explain(never)}"


def _shown(span: Span) -> JsonObject:
    until = iso(span.until) if span.until else None
    return {"cause": span.cause.value, "route": span.route, "since": iso(span.since), "until": until}


def _ahead(beside: Sequence[Remaining], account_id: str, *, sees_all: bool) -> list[JsonObject]:
    """Return the campaigns that send on the same routes; another account's without its id."""
    return [
        {
            "campaign_id": one.campaign.campaign_id if sees_all or one.campaign.account_id == account_id else None,
            "weight": one.campaign.weight,
            "routes": sorted({stream.route for stream in one.streams}),
            "parts_left": one.parts,
        }
        for one in beside
    ]


def _caps(outlook: Outlook, account: Account, routes: Sequence[str]) -> list[JsonObject]:
    """Return every cap that applies, with today's use where it is counted by the day."""
    described = [describe_route(outlook.table, name, outlook.now) for name in routes]
    caps = [
        {"of": f"route {route['name']}", "cap": name, **cap}
        for route in described
        for name, cap in route["caps"].items()
        if cap["limit"] is not None
    ]
    if account.parts_per_day is not None:
        used = [_used(outlook.table, account, zone, outlook.now) for zone in _zones(described)]
        shown = {"of": "account", "cap": "parts_per_day", "limit": account.parts_per_day}
        caps += [shown | one for one in used]
    return caps


def day_use(table: Table, account: Account, now: datetime) -> list[JsonObject]:
    """Return today's use of the account's own day cap, for each day that a route has; [] where it has no cap."""
    if account.parts_per_day is None:
        return []
    zones = _zones(route.model_dump() for route in all_routes(table))
    limit = {"limit": account.parts_per_day}
    return [{"time_zone": zone, **limit, **_used(table, account, zone, now)} for zone in zones]


def _zones(routes: Iterable[JsonObject]) -> list[str]:
    return sorted({route["time_zone"] for route in routes})


def _used(table: Table, account: Account, time_zone: str, now: datetime) -> JsonObject:
    used = account_use(table, account.account_id, day_of(now, time_zone))
    return {"used": used, "resets_at": iso(end_of_day(now, time_zone))}
