"""Executions, and the Map Runs whose children they are: how each stands, what it did and what failed.

A look at a campaign's execution makes few calls, whatever its size: DescribeExecution, ListMapRuns and DescribeMapRun
of those that run (each 5 s on AWS, which allows one a second), GetExecutionHistory once; and those of its picture.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import click

from console.web.executions import children_of, map_run, watched_execution
from console.web.page import Act, Page, Visit
from console.web.texts import pretty
from console.web.watching import watched
from console.workflow.counts import Counts
from console.workflow.definition import Graph
from console.workflow.history import PAGE, SEARCHED, Wanted

_TONES = {"RUNNING": "accent", "SUCCEEDED": "good", "FAILED": "bad", "TIMED_OUT": "bad", "ABORTED": "warn"}
_COUNTS = {
    "total": "All",
    "pending": "Pending",
    "running": "Running",
    "succeeded": "Succeeded",
    "failed": "Failed",
    "aborted": "Aborted",
    "timedOut": "Timed out",
}
_STATUSES = ("RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED")


def _read_execution(visit: Visit) -> dict[str, Any]:
    arn = visit.params["arn"]
    execution = watched_execution(visit.site, arn)
    told, wanted = execution.described(), _wanted(visit)
    page, drawn = execution.history(wanted), _drawn(visit, arn)
    return {
        "title": f"Execution {told['name']}",
        "is_over": told["status"] != "RUNNING" and _is_whole(drawn),
        "drawn": drawn,
        "one": told,
        "tone": _TONES.get(told["status"], ""),
        "campaign": told["name"] if "/" not in _machine(arn) else "",
        "machine": execution.machine(),
        "seconds": _seconds(told),
        "texts": {name: pretty(told.get(name), visit.query.get("all") == name) for name in ("input", "output")},
        "runs": execution.map_runs(told.get("redriveCount", 0)),
        "counts": _COUNTS,
        "tones": _TONES,
        "label": _label,
        "rows": page.rows,
        "here": {row.id for row in page.rows},
        "page": page,
        "wanted": wanted,
        "size": SEARCHED if wanted.is_filtered else PAGE,
        "pretty": pretty,
        "whole": visit.query.get("all", ""),
        "to": lambda **changes: _address(visit, **changes),
    }


def _read_map_run(visit: Visit) -> dict[str, Any]:
    arn = visit.params["arn"]
    told = map_run(visit.site, arn)
    status = visit.query.get("status", "")
    status = status if status in _STATUSES else ""
    children = children_of(visit.site, arn, status, visit.query.get("after", ""))
    return {
        "title": f"Map Run {_label(arn)}",
        "is_over": told["status"] != "RUNNING",
        "one": told,
        "tone": _TONES.get(told["status"], ""),
        "label": _label,
        "seconds": _seconds(told),
        "counts": _COUNTS,
        "status_wanted": status,
        "statuses": _STATUSES,
        "tones": _TONES,
        "children": [{**child, "seconds": _seconds(child)} for child in children["executions"]],
        "next": children.get("nextToken", ""),
        "to": lambda **changes: _address(visit, **changes),
    }


def _drawn(visit: Visit, arn: str) -> tuple[Graph, Counts | None] | None:
    """Return the graph and its counts, as far as there are any yet; None where executions may not be read so."""
    with suppress(click.ClickException):
        return watched(visit.site, arn).look(_now(visit))
    return None


def _now(visit: Visit) -> datetime:
    """Return what the system's own clock says: a sandbox's is another than ours."""
    if visit.site.where.endpoint_url:
        with suppress(click.ClickException):
            return datetime.fromisoformat(visit.api.get("/health")["now"])
    return datetime.now(UTC)


def _is_whole(drawn: tuple[Graph, Counts | None] | None) -> bool:
    """Tell whether the picture has all that it is going to have of an execution that is over."""
    return drawn is None or (drawn[1] is not None and drawn[1].status != "RUNNING" and not drawn[1].is_behind)


def _wanted(visit: Visit) -> Wanted:
    query = visit.query
    return Wanted(
        query.get("order") == "oldest", bool(query.get("failed")), query.get("state", ""), query.get("after", "")
    )


def _address(visit: Visit, **changes: str) -> str:
    """Return the page's address with other words in its query; what becomes blank is left out."""
    query = {name: value for name, value in {**visit.query, **changes}.items() if value}
    return f"?{urlencode(query)}" if query else "?"


def _machine(arn: str) -> str:
    """Return the machine's name, with the Map's label where it is a child."""
    return arn.split(":")[6] if arn.count(":") >= 7 else ""


def _label(arn: str) -> str:
    return _machine(arn).partition("/")[2] or arn


def _seconds(told: dict[str, Any]) -> float | None:
    return (told["stopDate"] - told["startDate"]).total_seconds() if told.get("stopDate") else None


PAGES = [
    Page("/executions/{arn:path}", "execution.html", _read_execution),
    Page("/map-runs/{arn:path}", "map_run.html", _read_map_run),
]
ACTS: list[Act] = []
