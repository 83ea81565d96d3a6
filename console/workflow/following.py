"""Executions and Map Runs that are looked at again and again: each time only what may have changed is asked."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from console.workflow.allowance import Allowance
from console.workflow.definition import Graph
from console.workflow.lines import Lines

FIRST_PAGE, NEXT_PAGE = 1000, 100
"""Events asked for at once: 1,000, AWS's most, of a history not read before; after that, what a look may bring."""
MOST_PARENTS = 100
"""Children of one Map Run that may have Map Runs of their own, finished ones too: what `Send Streams` runs at once."""


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

    @property
    def is_over(self) -> bool:
        return self.lines.status != "RUNNING"

    def read_on(self, allowance: Allowance, now: datetime) -> None:
        """Read what the history has more than is known. Raises: NotNow, and then nothing has changed."""
        self.lines.read(self._new_events(allowance))
        self.read_at = now
        for arn, path in self.lines.take_map_runs():
            self.runs[path] = FollowedMapRun(arn, path, self._graph)  # a redriven one is followed anew

    def _new_events(self, allowance: Allowance) -> list[dict[str, Any]]:
        """Newest first until one that is known: a history only grows at its end."""
        known, found = self.lines.known, list[dict[str, Any]]()
        parameters: dict[str, Any] = {
            "executionArn": self.arn,
            "reverseOrder": True,
            "includeExecutionData": False,
            "maxResults": NEXT_PAGE if known else FIRST_PAGE,
        }
        while True:
            answer = allowance.call("get_execution_history", **parameters)
            events = answer["events"]
            found += [event for event in events if event["id"] > known]
            if not events or events[-1]["id"] <= known + 1 or "nextToken" not in answer:
                return found[::-1]
            parameters["nextToken"] = answer["nextToken"]


class FollowedMapRun:
    """A Map Run. has_parents: its children may have Map Runs of their own, so that all of them are read to the end.

    Of other Map Runs only the children that run are followed. children: by ARN. running: how many run now.
    described: AWS's answer, {} before the first.
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
        self._graph = graph

    def read_on(self, allowance: Allowance, now: datetime) -> None:
        """Ask what it counts, and which children it has. Raises: NotNow."""
        if self.is_settled:
            return
        described = allowance.call("describe_map_run", mapRunArn=self.arn)
        is_over = described["status"] != "RUNNING"
        if is_over and not self.has_parents:
            self.children, self.running = {}, 0
        else:
            self._list_children(allowance, described)
        self.described, self.read_at, self.is_settled = described, now, is_over

    def _list_children(self, allowance: Allowance, described: dict[str, Any]) -> None:
        which = {"maxResults": MOST_PARENTS} if self.has_parents else {"statusFilter": "RUNNING", "maxResults": 1000}
        answer = allowance.call("list_executions", mapRunArn=self.arn, **which)
        listed = [child["executionArn"] for child in answer["executions"]]
        self.running = described["executionCounts"]["running"] if "nextToken" in answer else len(listed)
        known = self.children
        self.children = {arn: known.get(arn) or FollowedExecution(arn, self.path, self._graph) for arn in listed}
