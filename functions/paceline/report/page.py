"""The report as one self-contained HTML page: nothing is loaded, nothing runs, no phone number is on it."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from paceline.report.chart import HEIGHT, WIDTH, draw
from paceline.report.model import Outcomes, Report
from paceline.report.words import MEANINGS, changed_since, counted, duration, label

TEMPLATES = Path(__file__).with_name("templates")


def render_page(report: Report) -> str:
    """Return the page. Every word of a customer's (the campaign's name, reasons, warnings) is escaped."""
    charts = {
        route: draw(series, report.by_route[route].parts_per_minute_cap)
        for route, series in report.sent_per_minute.items()
    }
    return (
        _environment()
        .get_template("report.html.j2")
        .render(report=report, outcomes=outcome_list(report.outcomes), charts=charts, width=WIDTH, height=HEIGHT)
    )


def outcome_list(outcomes: Outcomes) -> list[tuple[str, int, float, float]]:
    """Return (name, messages, share in percent, left edge in percent) per outcome, as the stacked bar shows them."""
    shown: list[tuple[str, int, float, float]] = []
    edge = 0.0
    for name in Outcomes.model_fields:
        count: int = getattr(outcomes, name)
        share = 100 * count / (outcomes.total or 1)
        shown.append((name, count, share, edge))
        edge += share
    return shown


@cache
def _environment() -> Environment:
    """The templates, compiled once in a process: that takes longer than a page."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": lambda value: f"{value:,}",
        "percent": percent,
        "label": label,
        "duration": duration,
        "changed_since": changed_since,
        "day_time": day_time,
        "clock": lambda time: f"{time.astimezone(UTC):%H:%M}",
        "day_clock": lambda time: f"{time.astimezone(UTC).day} {time.astimezone(UTC):%b %H:%M}",
    }
    environment.globals |= {"counted": counted, "meanings": MEANINGS}
    return environment


def percent(share: float) -> str:
    """Return a share of 0..100: "51.8%"; what is there but tiny is "<0.1%", and what lacks a little is not "100.0%"."""
    if 0 < share < 0.1:
        return "<0.1%"
    return ">99.9%" if 99.9 < share < 100 else f"{share:.1f}%"


def day_time(time: datetime) -> str:
    """Return the time in UTC: "3 Sep 2026, 14:05:06"."""
    time = time.astimezone(UTC)
    return f"{time.day} {time:%b %Y, %H:%M:%S}"
