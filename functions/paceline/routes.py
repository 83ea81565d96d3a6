"""Sending routes, their caps and today's use of each: the one list of every cap."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from paceline import keys, rows
from paceline.audit import Change, Signature, make_change, route_subject
from paceline.errors import RequestInvalid, RouteNotFound
from paceline.models import JsonObject, Route
from paceline.moments import from_us, iso, to_us
from paceline.pace_rows import TURN
from paceline.status import Cause
from paceline.table import ConditionFailed, Put, Row, Table, Update
from paceline.windows import day_of, end_of_day

# How long a route holds whose provider refuses every message: long enough to refuse few, short enough that what an
# operator mends at the provider's, not here, takes effect by itself.
MISCONFIGURED_FOR = timedelta(minutes=15)

CAPS = ("parts_per_minute", "parts_per_day", "concurrency")


def put_route(table: Table, route: Route, signature: Signature, *, revision: int | None = None) -> bool:
    """Create a route, or make it this one; a change binds every admission from now on. Return whether it changed.

    What sends note in the row stays. revision: the one that the operator saw; another one there is an error.
    Raises: ChangedMeanwhile, TransactionConflict.
    """
    row = table.get(keys.route(route.name)) or {}
    return _change(table, route.name, row, route.model_dump(mode="json"), signature, revision)


def change_route(
    table: Table, name: str, fields: Mapping[str, Any], signature: Signature, *, revision: int | None = None
) -> bool:
    """Change some fields of a route; None removes a cap. Return whether it changed.

    Raises: RouteNotFound, ChangedMeanwhile, TransactionConflict; ValidationError, for what no route can be.
    """
    row = route_row(table, name)
    wanted = Route.model_validate({**rows.to_route(row).model_dump(), **fields}).model_dump(mode="json")
    return _change(table, name, row, {field: wanted[field] for field in fields}, signature, revision)


def _change(
    table: Table, name: str, row: Row, values: Mapping[str, Any], signature: Signature, revision: int | None
) -> bool:
    if values.get("name", name) != name:
        raise RequestInvalid("A route's name cannot change.")
    if row and values.get("provider", row["provider"]) != row["provider"]:
        raise RequestInvalid(
            "A route's provider cannot change: messages on their way are known to it alone. Create another route.",
            field="provider",
        )
    before, after = row.get("parts_per_minute"), values.get("parts_per_minute")
    is_lowered = before is not None and after is not None and after < before
    # Slots that were given at the old pace are more than the new one allows: sends compare this moment.
    also = {"caps_lowered_at": to_us(signature.at)} if is_lowered else {}
    if row.get("misconfigured_until"):  # whatever the operator changed, it may be the cure
        also["misconfigured_until"] = 0
    change = Change(route_subject(name), keys.route(name), row, values, signature, revision, also)
    return make_change(table, change, *([] if row else [Put({"pk": keys.route_names(), "sk": name})]))


def get_route(table: Table, name: str) -> Route:
    """Return a route. Raises: RouteNotFound."""
    return route_now(table, name)[0]


@dataclass(frozen=True, slots=True)
class Signals:
    """What a send must know of its route beside its caps. Microseconds since 1970; 0: never.

    throttled_until: the end of the pause that the provider asked for. caps_lowered_at: slots given before are too many.
    misconfigured_until: when a route whose provider refuses every message is tried again; trouble: our word for why.
    """

    throttled_until: int
    caps_lowered_at: int
    misconfigured_until: int = 0
    trouble: str = ""


def route_now(table: Table, name: str) -> tuple[Route, Signals]:
    """Return a route, and what stops those that have slots on it. Raises: RouteNotFound."""
    row = route_row(table, name)
    return rows.to_route(row), signals_of(row)


def signals_of(row: Row) -> Signals:
    """Return what is noted in a route's row beside the route."""
    return Signals(
        row.get("throttled_until", 0),
        row.get("caps_lowered_at", 0),
        row.get("misconfigured_until", 0),
        row.get("trouble", ""),
    )


def hold_route(table: Table, name: str, now: datetime, trouble: str) -> None:
    """Hold a route whose provider would refuse every message, until an operator changes it or a while has passed.

    trouble: our word for the provider's code. A route that holds already is left as it is.
    """
    values = {"until": to_us(now + MISCONFIGURED_FOR), "now": to_us(now), "trouble": trouble}
    condition = "attribute_exists(#pk) AND (attribute_not_exists(#misconfigured_until) OR #misconfigured_until < :now)"
    update = Update(keys.route(name), "SET #misconfigured_until = :until, #trouble = :trouble", values, condition)
    with suppress(ConditionFailed):
        table.update(update)


def route_row(table: Table, name: str) -> Row:
    """Return a route's row, with what is noted beside the route. Raises: RouteNotFound."""
    row = table.get(keys.route(name))
    if row is None:
        names = ", ".join(sorted(row["sk"] for row in table.query(keys.route_names()))) or "none"
        raise RouteNotFound(f"There is no route {name!r}. Routes: {names}.", route=name)
    return row


def route_names(table: Table) -> list[str]:
    """Return the name of every route, in order."""
    return [row["sk"] for row in table.query(keys.route_names())]


def all_routes(table: Table) -> list[Route]:
    """Return every route, by name."""
    return [get_route(table, name) for name in route_names(table)]


def describe_route(table: Table, name: str, now: datetime) -> JsonObject:
    """Return a route's caps with today's use, who changed each and when, and when the day's use starts anew.

    changed: the last change of any of it; pauses: what stops it now beside its caps. Raises: RouteNotFound.
    """
    row = route_row(table, name)
    route, changed = rows.to_route(row), row.get("changed", {})
    used = parts_used(table, route, now)
    pace = table.get(keys.route_pace(route.name)) or {}
    caps: dict[str, JsonObject] = {cap: {"limit": getattr(route, cap)} | _stamp(changed.get(cap)) for cap in CAPS}
    caps["parts_per_day"] |= {"used": used, "resets_at": iso(end_of_day(now, route.time_zone))}
    return route.model_dump(mode="json") | {
        "caps": caps,
        "changed": _last(changed),
        "pauses": _pauses(signals_of(row), now),
        "revision": row.get("revision", 0),
        "parts_used_today": used,
        "day_ends_at": iso(end_of_day(now, route.time_zone)),
        "slots_given_until": iso(from_us(pace["next_free"])) if "next_free" in pace else None,
    }


def parts_used(table: Table, route: Route, now: datetime) -> int:
    """Return how many parts of the route's day are leased or sent."""
    row = table.get(keys.route_day(route.name, day_of(now, route.time_zone))) or {}
    return int(row.get("used", 0))


def campaigns_on(pace_row: Row) -> list[str]:
    """Return the campaigns that asked for slots of the route lately, by name, from its pace row."""
    return sorted(name.removeprefix(TURN) for name in pace_row if name.startswith(TURN))


def _stamp(changed: JsonObject | None) -> JsonObject:
    stamp = changed or {}
    return {f"changed_{name}": stamp.get(name) for name in ("at", "by", "by_name")}


def _last(changed: Mapping[str, JsonObject]) -> JsonObject | None:
    """Return the last change of anything of a route: at, by, by_name; None: nobody changed it."""
    last = max(changed.values(), key=lambda stamp: str(stamp["at"]), default=None)
    return {name: last.get(name) for name in ("at", "by", "by_name")} if last else None


def _pauses(signals: Signals, now: datetime) -> list[JsonObject]:
    """Return what stops the route now, beside its caps: cause, until, detail (our word for the provider's code)."""
    found = (
        (Cause.PROVIDER_MISCONFIGURED, signals.misconfigured_until, signals.trouble),
        (Cause.PROVIDER_THROTTLED, signals.throttled_until, ""),
    )
    return [
        {"cause": cause.value, "until": iso(from_us(until)), "detail": detail}
        for cause, until, detail in found
        if until > to_us(now)
    ]
