"""Which route a lead goes by, and why: nothing goes to the shared route unnoticed."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from paceline.errors import RouteNotFound
from paceline.models import Route, RoutingRules

SHARED = "shared"


class Because(StrEnum):
    """Why a lead goes by its route."""

    FORCED = "forced"  # the campaign names the route
    CARRIER = "carrier"  # the lead's carrier has a route
    ACCOUNT = "account"  # the account has a route of its own for the lead's carrier
    NO_CARRIER = "no_carrier"  # the lead says no carrier
    UNKNOWN_CARRIER = "unknown_carrier"  # no route is for the carrier that the lead says


class RouteChoice(NamedTuple):
    """A route and why it was chosen."""

    route: Route
    reason: Because


_NO_RULES = RoutingRules()


def choose_route(
    carrier: str, routes: Sequence[Route], forced: str | None = None, rules: RoutingRules = _NO_RULES
) -> RouteChoice:
    """Return the route for a lead with that carrier value (blank: none was given).

    A forced route wins; then the account's rule for the carrier; then the first route whose `carriers` hold the value
    (case, spaces and punctuation do not count); everything else goes to the account's `otherwise`, or to `shared`. A
    disabled route is chosen all the same: admission holds its batches, so that enabling it releases them.
    Raises: RouteNotFound, naming the routes that exist.
    """
    if forced is not None:
        return RouteChoice(_named(forced, routes), Because.FORCED)
    wanted = normalise_carrier(carrier)
    if not wanted:
        return RouteChoice(_named(rules.otherwise or SHARED, routes), Because.NO_CARRIER)
    for name, route_name in rules.carriers.items():
        if wanted == normalise_carrier(name):
            return RouteChoice(_named(route_name, routes), Because.ACCOUNT)
    for route in routes:
        if wanted in map(normalise_carrier, route.carriers):
            return RouteChoice(route, Because.CARRIER)
    return RouteChoice(_named(rules.otherwise or SHARED, routes), Because.UNKNOWN_CARRIER)


def normalise_carrier(carrier: str) -> str:
    """Return a carrier's name for comparison: "AT&T Mobility" and "at-t mobility" are one."""
    return "".join(c for c in carrier.casefold() if c.isalnum())


def _named(name: str, routes: Sequence[Route]) -> Route:
    for route in routes:
        if route.name == name:
            return route
    existing = sorted(route.name for route in routes)
    raise RouteNotFound(
        f"There is no route named {name!r}. The routes are: {', '.join(existing) or 'none'}.",
        route=name,
        routes=existing,
    )
