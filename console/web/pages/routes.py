"""Routes: every cap with today's use, what binds it, who changed it; and changing one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from console.operator.api import at
from console.web.changing import Changing, Found
from console.web.fields import Field
from console.web.page import Page, Visit
from console.web.pages.trails import trail_of
from console.web.paging import sliced
from console.web.together import together

_FIELDS = (
    Field("parts_per_minute", "Parts a minute", "number"),
    Field("parts_per_day", "Parts a day", "cap", "of the route's time zone; blank: no cap"),
    Field("concurrency", "Sends at once", "cap", "blank: no cap"),
    Field("is_enabled", "Switched on", "switch", "off: nothing goes by it, and what waits for it waits on"),
)


def _read_all(visit: Visit) -> dict[str, Any]:
    return {"title": "Routes", "routes": visit.api.get(at("routes"))["routes"]}


def _read_one(visit: Visit) -> dict[str, Any]:
    name = visit.params["name"]
    route, trail = together(lambda: visit.api.get(at("routes", name)), lambda: trail_of(visit.api, "routes", name))
    return {"title": f"Route {name}", "route": route, "changes": sliced(visit, trail, by="changes")}


def _found(visit: Visit) -> Found:
    name = visit.params["name"]
    route = visit.api.get(at("routes", name))
    return Found(name, route, route["revision"])


def _write(visit: Visit, values: Mapping[str, Any], revision: int) -> Mapping[str, Any]:
    return visit.api.patch(at("admin", "routes", visit.params["name"]), dict(values), **{"if-match": str(revision)})


_CHANGING = Changing("route", "/routes/{name}", _FIELDS, _found, _write)

PAGES = [
    Page("/routes", "routes.html", _read_all),
    Page("/routes/{name}", "route.html", _read_one),
    _CHANGING.page(),
]
ACTS = _CHANGING.acts()
