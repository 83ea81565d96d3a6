"""Sending routes, their caps and today's use of each: the one list of every cap."""

from __future__ import annotations

from datetime import datetime

from paceline import keys, rows
from paceline.errors import RouteNotFound
from paceline.models import JsonObject, Route
from paceline.moments import from_us, iso
from paceline.table import Put, Table
from paceline.windows import day_of, end_of_day


def put_route(table: Table, route: Route) -> None:
    """Create a route, or change its caps; a change binds every admission from now on."""
    table.put(Put(rows.route_row(route)))
    table.put(Put({"pk": keys.route_names(), "sk": route.name}))


def get_route(table: Table, name: str) -> Route:
    """Return a route. Raises: RouteNotFound."""
    return route_now(table, name)[0]


def route_now(table: Table, name: str) -> tuple[Route, int]:
    """Return a route, and until when its provider asked for a pause (microseconds; 0: never). Raises: RouteNotFound."""
    row = table.get(keys.route(name))
    if row is None:
        names = ", ".join(sorted(row["sk"] for row in table.query(keys.route_names()))) or "none"
        raise RouteNotFound(f"There is no route {name!r}. Routes: {names}.", route=name)
    return rows.to_route(row), row.get("throttled_until", 0)


def all_routes(table: Table) -> list[Route]:
    """Return every route, by name."""
    return [get_route(table, row["sk"]) for row in table.query(keys.route_names())]


def describe_route(table: Table, route: Route, now: datetime) -> JsonObject:
    """Return a route's caps with today's use of each, and when the day's use starts anew."""
    day = table.get(keys.route_day(route.name, day_of(now, route.time_zone))) or {}
    pace = table.get(keys.route_pace(route.name)) or {}
    return route.model_dump(mode="json") | {
        "parts_used_today": day.get("used", 0),
        "day_ends_at": iso(end_of_day(now, route.time_zone)),
        "slots_given_until": iso(from_us(pace["next_free"])) if "next_free" in pace else None,
    }
