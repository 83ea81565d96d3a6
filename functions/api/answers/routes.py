"""Answers about routes and their caps."""

from __future__ import annotations

from typing import Any

from pydantic import AwareDatetime

from api.answers import Answer
from paceline.models import RouteName


class RouteAnswer(Answer):
    """caps: each with its limit, today's use, and who changed it when."""

    name: RouteName
    provider: str
    sender: str
    parts_per_minute: int
    parts_per_day: int | None
    time_zone: str
    is_enabled: bool
    caps: dict[str, dict[str, Any]]
    revision: int
    parts_used_today: int
    day_ends_at: AwareDatetime


class RoutesAnswer(Answer):
    routes: list[RouteAnswer]


class ChangedRouteAnswer(RouteAnswer):
    """released_batches: how many that waited for the route go on."""

    released_batches: int
