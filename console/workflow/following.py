"""Executions and Map Runs that are looked at again and again: each time only what may have changed is asked."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from console.workflow.allowance import Allowance
from console.workflow.definition import Graph
from console.workflow.lines import Lines

MOST_EVENTS, FEWEST_EVENTS = 1000, 50
"""Events asked for at once: AWS's most of a history not read before, after that twice what came last time. Where that
is too few (a batch begins its messages all at once), AWS's most again: a page's size cannot change on the way."""
MOST_PARENTS = 100
"""Children of one Map Run that may have Map Runs of their own, finished ones too: what `Send Streams` runs at once."""
ASKED_ANYWAY = timedelta(seconds=10)
"""After that, what should not have changed is asked too: AWS's counts and lists may be late."""


class FollowedExecution:
    """An execution and what is known of it. prefix: the path of the Distributed Map it is a child of, or "".

    runs: its Map Runs by the path of their state, the latest of each. read_at: None before its history was read.
    """

    def __init__(self, arn: str, prefix: str, graph: Graph) -> None:
        self.arn = arn
        self.lines = Lines(prefix, graph.inline_maps)
        self.runs: dict[str, FollowedMapRun] = {}
        self.read_at: datetime | None = None
        self._graph = graph
        self._page = MOST_EVENTS
        self._is_child = bool(prefix)

    @property
    def is_over(self) -> bool:
        return self.lines.status != "RUNNING"

    @property
    def awaited(self) -> FollowedMapRun | None:
        """The Map Run that has to end before this execution can go on, if there is one."""
        run = self.runs.get(self.lines.place)
        return run if run is not None and not run.is_settled else None

    def is_due(self, now: datetime) -> bool:
        """Tell whether its history may have grown."""
        if self.is_over and self._is_child:
            return False  # it is redriven with its Map Run only, which is followed anew
        return self.awaited is None or self.read_at is None or now - self.read_at > ASKED_ANYWAY

    def read_on(self, allowance: Allowance, now: datetime) -> None:
        """Read what the history has more than is known. Raises: NotNow, and then nothing has changed."""
        events = self._new_events(allowance)
        self._page = max(FEWEST_EVENTS, min(MOST_EVENTS, 2 * len(events)))
        self.lines.read(events)
        self.read_at = now
        for arn, path in self.lines.take_map_runs():
            self.runs[path] = FollowedMapRun(arn, path, self._graph)  # a redriven one is followed anew

    def _new_events(self, allowance: Allowance) -> list[dict[str, Any]]:
        """Newest first until one that is known: a history only grows at its end."""
        events, token = self._page_of_events(allowance, self._page, None)
        if self._are_missing(events, token) and self._page < MOST_EVENTS:
            events, token = self._page_of_events(allowance, MOST_EVENTS, None)
        while self._are_missing(events, token):
            more, token = self._page_of_events(allowance, MOST_EVENTS, token)
            events += more
        return [event for event in events[::-1] if event["id"] > self.lines.known]

    def _are_missing(self, events: list[dict[str, Any]], token: str | None) -> bool:
        return token is not None and events[-1]["id"] > self.lines.known + 1

    def _page_of_events(
        self, allowance: Allowance, size: int, token: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        more = {"nextToken": token} if token is not None else {}
        answer = allowance.call(
            "get_execution_history",
            executionArn=self.arn,
            reverseOrder=True,
            includeExecutionData=False,
            maxResults=size,
            **more,
        )
        return answer["events"], answer.get("nextToken")


class FollowedMapRun:
    """A Map Run. has_parents: its children may have Map Runs of their own, so that all of them are read to the end.

    Of other Map Runs only the children that run are followed. children: by ARN. running: how many run now.
    described: AWS's answer, {} before the first. is_settled: it is over, and asked for the last time.
    """

    def __init__(self, arn: str, path: str, graph: Graph) -> None:
        self.arn = arn
        self.path = path
        self.has_parents = graph.has_distributed_maps_in(path)
        self.described: dict[str, Any] = {}
        self.children: dict[str, FollowedExecution] = {}
        self.running = 0
        self.read_at: datetime | None = None
        self.is_settled = False
        self._listed_at: datetime | None = None
        self._graph = graph

    def read_on(self, allowance: Allowance, now: datetime) -> None:
        """Ask what it counts, and where that has changed, which children it has. Raises: NotNow."""
        if self.is_settled:
            return
        described = allowance.call("describe_map_run", mapRunArn=self.arn)
        is_over = described["status"] != "RUNNING"
        if is_over and not self.has_parents:
            self.children, self.running = {}, 0
        elif is_over or self._may_have_others(described, now):
            self._list_children(allowance, described)
            self._listed_at = now
        self.described, self.read_at, self.is_settled = described, now, is_over

    def _may_have_others(self, described: dict[str, Any], now: datetime) -> bool:
        """A child that begins or ends is one more or less of something."""
        has_changed = not self.described or described["executionCounts"] != self.described["executionCounts"]
        return has_changed or self._listed_at is None or now - self._listed_at > ASKED_ANYWAY

    def _list_children(self, allowance: Allowance, described: dict[str, Any]) -> None:
        which = {"maxResults": MOST_PARENTS} if self.has_parents else {"statusFilter": "RUNNING", "maxResults": 1000}
        answer = allowance.call("list_executions", mapRunArn=self.arn, **which)
        listed = [child["executionArn"] for child in answer["executions"]]
        self.running = described["executionCounts"]["running"] if "nextToken" in answer else len(listed)
        known = self.children
        self.children = {arn: known.get(arn) or FollowedExecution(arn, self.path, self._graph) for arn in listed}
