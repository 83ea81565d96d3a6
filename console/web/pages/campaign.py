"""One campaign: how far it is, what holds it, what became of its messages; to pause, resume and cancel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import click

from console.operator.api import NoAnswer, at
from console.operator.campaign_words import LIVE, QUESTIONS, final_of, may, progress_of, sent_of, standing, told
from console.web.campaign_rows import TONES, hold_of, in_order
from console.web.ending import Ending, ending_of
from console.web.once import Once
from console.web.pace_chart import pace_charts
from console.web.page import Act, Done, Onward, Page, Visit
from console.web.watching import watched
from console.workflow.counts import Counts
from console.workflow.definition import Graph

_FILES = {
    "report.html": "Report",
    "report.json": "JSON",
    "outcomes.csv": "every lead (CSV)",
    "timeline.csv": "every message (CSV)",
}


def _read(visit: Visit) -> dict[str, Any]:
    name = visit.params["campaign_id"]
    one = visit.api.get(at("campaigns", name))
    report = _report(visit, one)
    arn = visit.site.system.execution_arn(name) if one["start_at"] else ""
    ending = _ending(visit, arn)
    is_stuck = ending.status in ("FAILED", "TIMED_OUT", "ABORTED") and not one["report_version"]
    word = "stopped" if is_stuck else standing(one)
    return {
        "title": one["name"] or name,
        "one": one,
        "is_live": one["status"] in LIVE,
        "state": word,
        "tone": "bad" if is_stuck else TONES.get(word, ""),
        "report": report,
        "headline": one["headline"] or (report or {}).get("headline", ""),
        "acts": [(act, QUESTIONS[act]) for act in may(one["status"])],
        "hold": hold_of(one.get("binding")),
        "holds": [(of, hold_of(of)) for of in one["held_by"]],
        "ending": ending,
        "is_stuck": is_stuck,
        "figures": _figures(one, report),
        "progress": progress_of(one),
        "routes": one.get("by_route") or [],
        "statuses": _statuses(one),
        "in_order": in_order,
        "charts": pace_charts(one, report),
        "outcomes": _outcomes(one, report),
        "versions": range(one["report_version"], 0, -1),
        "files": _FILES,
        "arn": arn,
        "drawn": _drawn(visit, arn, one.get("as_of")),
    }


def _report(visit: Visit, one: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the newest report, kept; None before there is one, and where it is no longer there."""
    version = one["report_version"]
    if not version:
        return None

    def ask() -> dict[str, Any]:
        try:
            return visit.api.get(at("campaigns", one["campaign_id"], "report"), version=version)
        except NoAnswer as gone:
            if gone.status not in (404, 409):
                raise
            return {"gone": gone.message}

    kept: Once[dict[str, Any]] = visit.site.kept.get(("report", one["campaign_id"], one["status"], version), Once)
    found = kept.get(ask)
    return None if "gone" in found else found


def _ending(visit: Visit, arn: str) -> Ending:
    if not arn:
        return Ending()
    with suppress(click.ClickException):  # who may not read executions sees the rest
        return ending_of(visit, arn)
    return Ending()


def _drawn(visit: Visit, arn: str, as_of: str | None) -> tuple[Graph, Counts | None] | None:
    """Return the graph and its counts; None before it is known, and where executions may not be read."""
    if not arn:
        return None
    with suppress(click.ClickException):
        return watched(visit.site, arn).look(datetime.fromisoformat(as_of) if as_of else datetime.now(UTC))
    return None


def _figures(one: Mapping[str, Any], report: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    plan, messages = one.get("plan"), one["messages"]
    if not plan:
        return []
    found = [
        ("leads in the file", plan["leads"]["in"]),
        ("accepted", plan["leads"]["accepted"]),
        ("sent", sent_of(messages)),
        ("delivered", messages.get("delivered", 0)),
        ("final", final_of(messages)),
        ("parts", plan["parts"]),
    ]
    if report:
        found += [("credits consumed", report["credits"]["consumed"])]
    return [(name, f"{count:,}") for name, count in found]


def _statuses(one: Mapping[str, Any]) -> list[str]:
    """Return the statuses that any route's messages have."""
    found: dict[str, int] = {}
    for of in one.get("by_route") or ():
        found |= of["messages"]
    return list(in_order({name: 1 for name in found}))


def _outcomes(one: Mapping[str, Any], report: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return messages by status with what part of all that is and, where there is a report, why."""
    counts = report["outcomes"] if report else in_order(one["messages"])
    causes = report["causes"] if report else {}
    most = max(sum(counts.values()), 1)
    return [
        {"status": status, "count": count, "of": 100 * count / most, "causes": causes.get(status, {})}
        for status, count in counts.items()
    ]


def _change(action: str) -> Callable[[Visit, Mapping[str, str]], Done]:
    def do(visit: Visit, form: Mapping[str, str]) -> Done:
        return Done(told(visit.api.post(at("campaigns", visit.params["campaign_id"], action))))

    return do


def _file(visit: Visit) -> str:
    """Return the address of a report's file, which the API makes for this hour."""
    name, version = visit.params["name"], visit.query.get("version", "")
    asked = int(version) if version.isascii() and version.isdecimal() else None
    report = visit.api.get(at("campaigns", visit.params["campaign_id"], "report"), version=asked)
    if name not in report["files"]:
        missing = NoAnswer(f"The report has no file {name!r}; it has {', '.join(report['files'])}.")
        missing.status = 404
        raise missing
    return str(report["files"][name])


_PATH = "/campaigns/{campaign_id}"
PAGES = [Page(_PATH, "campaign.html", _read)]
ACTS = [Act(f"{_PATH}/{action}", _PATH, _change(action)) for action in QUESTIONS]
ONWARDS = [Onward(f"{_PATH}/report/{{name}}", _file)]
