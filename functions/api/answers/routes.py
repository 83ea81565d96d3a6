"""Answers about routes and their caps."""

from __future__ import annotations

from typing import Any

from pydantic import AwareDatetime

from api.answers import Answer
from paceline.models import RouteName
from paceline.status import Cause


class LastChange(Answer):
    """by: a key's id. by_name: that key's name, where it is known."""

    at: AwareDatetime
    by: str
    by_name: str | None


class RoutePause(Answer):
    """What stops a route beside its caps. detail: our word for the provider's code, or blank."""

    cause: Cause
    until: AwareDatetime
    detail: str


class RouteAnswer(Answer):
    """caps: each with its limit, today's use, and who changed it when. changed: the last change of any of it."""

    name: RouteName
    provider: str
    sender: str
    parts_per_minute: int
    parts_per_day: int | None
    time_zone: str
    is_enabled: bool
    caps: dict[str, dict[str, Any]]
    changed: LastChange | None
    pauses: list[RoutePause]
    revision: int
    parts_used_today: int
    day_ends_at: AwareDatetime


class RoutesAnswer(Answer):
    routes: list[RouteAnswer]


class ChangedRouteAnswer(RouteAnswer):
    """released_batches: how many that waited for the route go on."""

    released_batches: int
