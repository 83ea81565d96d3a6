"""A campaign in words: how far it is, what holds it, when it ends, what became of its messages by route."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from console.operator.campaign_words import cause_of, no_finish, progress
from console.operator.desk import Desk, a_table
from paceline.report.words import duration, label
from paceline.status import MessageStatus


def binding(desk: Desk, one: Mapping[str, Any]) -> str:
    """Return what holds it, since when, until when; "" where nothing does."""
    return _hold(desk, one["binding"]) if one.get("binding") else ""


def finish(desk: Desk, one: Mapping[str, Any]) -> str:
    """Return when its last message goes, or why nobody can tell."""
    if one.get("finish_at"):
        return desk.time(one["finish_at"])
    return no_finish(one)


def campaign_view(desk: Desk, one: Mapping[str, Any], report: Mapping[str, Any] | None) -> RenderableType:
    """Return all that operators ask of a campaign. report: where there is one."""
    parts: list[RenderableType] = [Text(f"{one['campaign_id']}  {one['name']}  ({one['status']})", style="bold")]
    if headline := one["headline"] or (report or {}).get("headline"):
        parts.append(Text(headline))
    facts = a_table("", "")
    facts.show_header = False
    for row in _facts(desk, one):
        facts.add_row(*row)
    parts += [facts, *_tables(desk, one, report)]
    return Group(*parts)


def _facts(desk: Desk, one: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "account", one["account_id"]
    yield "created", desk.time(one["created_at"])
    yield "starts", desk.time(one["start_at"])
    yield "leads", progress(one)
    yield "messages", ", ".join(f"{label(name).lower()} {n:,}" for name, n in one["messages"].items()) or "none yet"
    yield "held by", binding(desk, one) or "nothing"
    if told := finish(desk, one):
        yield "ends", told
    for cause, seconds in one["lost_to"].items():
        yield f"lost to {label(cause).lower()}", duration(seconds)
    yield "report", f"version {one['report_version']}" if one["report_version"] else "not yet"
    for warning in (one.get("plan") or {}).get("warnings", ()):
        yield "warning", warning


def _tables(desk: Desk, one: Mapping[str, Any], report: Mapping[str, Any] | None) -> Iterator[Table]:
    if one["held_by"]:
        holds = a_table("route", "batches held", "by", right=(1,))
        for hold in one["held_by"]:
            holds.add_row(hold["route"], f"{hold['batches']:,}", _hold(desk, {**hold, "route": None}))
        yield holds
    if not report and one.get("by_route"):
        yield _progress_by_route(one["by_route"])
    if report:
        outcomes = list(report["outcomes"])
        routes = a_table("route", "parts", *outcomes, "last sent", right=tuple(range(1, len(outcomes) + 2)))
        for name, of in report["by_route"].items():
            counts = (f"{of['outcomes'].get(outcome, 0):,}" for outcome in outcomes)
            routes.add_row(name, f"{of['parts']:,}", *counts, desk.time(of["last_sent_at"]))
        yield routes


def _progress_by_route(routes: Sequence[Mapping[str, Any]]) -> Table:
    """A campaign on its way, route by route: what left in rounds that are closed, and what became of it so far."""
    statuses = [status.value for status in MessageStatus if any(status in of["messages"] for of in routes)]
    names = (label(status).lower() for status in statuses)
    heads = ("leads", "parts sent", "of parts", "a minute", "batches held", *names)
    shown = a_table("route", *heads, right=tuple(range(1, len(heads) + 1)))
    for of in routes:
        cap = "-" if of["per_minute"] is None else f"{of['per_minute']:,}"
        counts = (f"{of['messages'].get(status, 0):,}" for status in statuses)
        sums = (f"{of[name]:,}" for name in ("leads", "parts_sent", "parts"))
        shown.add_row(of["route"], *sums, cap, f"{of['held_batches']:,}", *counts)
    return shown


def _hold(desk: Desk, hold: Mapping[str, Any]) -> str:
    text = cause_of(hold)
    if hold.get("route"):
        text += f" on {hold['route']}"
    if hold.get("since"):
        text += f" since {desk.time(hold['since'])}"
    return text + (f" until {desk.time(hold['until'])}" if hold.get("until") else "")
