"""What left by each route in each minute, against its cap: drawn by the report's geometry."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from paceline.report.chart import Chart, draw


@dataclass(frozen=True, slots=True)
class PaceChart:
    """A route's drawing. cap: parts a minute, now; None: none. parts: of all minutes drawn. busiest: minute's parts."""

    route: str
    cap: int | None
    chart: Chart
    parts: int
    busiest: int


def pace_charts(one: Mapping[str, Any], report: Mapping[str, Any] | None) -> list[PaceChart]:
    """Return a chart for each route that something left by: of the campaign's newest minutes, or of its report."""
    caps = {of["route"]: of["per_minute"] for of in one.get("by_route") or ()}
    series: dict[str, list[tuple[datetime, int]]] = defaultdict(list)
    for of in one.get("pace") or ():
        series[of["route"]].append((datetime.fromisoformat(of["minute"]), of["parts"]))
    if not series and report:
        caps |= {name: of["parts_per_minute_cap"] for name, of in report["by_route"].items()}
        for name, minutes in report["sent_per_minute"].items():
            series[name] = [(datetime.fromisoformat(minute), parts) for minute, parts in minutes]
    until = one.get("as_of") if one["status"] in ("running", "paused") and not one.get("sending_ended_at") else None
    return [_chart(name, until_now(minutes, until), caps.get(name)) for name, minutes in sorted(series.items())]


def until_now(series: Sequence[tuple[datetime, int]], now: str | None) -> list[tuple[datetime, int]]:
    """Return the series up to this minute, so that a route that stands still is seen to."""
    minutes = list(series)
    if now:
        this = datetime.fromisoformat(now).replace(second=0, microsecond=0)
        if this - minutes[-1][0] > timedelta(minutes=1):  # the last minute's rounds may not be closed yet
            minutes.append((this, 0))
    return minutes


def _chart(route: str, series: Sequence[tuple[datetime, int]], cap: int | None) -> PaceChart:
    chart = draw(series, cap)
    assert chart is not None  # a route is only here by what left by it
    return PaceChart(route, cap, chart, sum(parts for _, parts in series), max(parts for _, parts in series))
