"""Step Functions for tests of who looks on: histories that a test writes, in pages, with refusals."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError

ENTERED, EXITED = "StateEntered", "StateExited"


@dataclass
class WrittenHistory:
    """The events of one execution. Each method appends one and returns its id; after: the event that it follows."""

    events: list[dict[str, Any]] = field(default_factory=list)

    def add(self, kind: str, after: int | None = None, **details: Any) -> int:
        number = len(self.events) + 1
        key = f"{kind[0].lower()}{kind[1:]}EventDetails"
        previous = number - 1 if after is None else after
        self.events.append({"id": number, "type": kind, "previousEventId": previous, key: details})
        return number

    def enter(self, name: str, after: int | None = None, kind: str = "Task") -> int:
        number = self.add(f"{kind}{ENTERED}", after)
        self.events[-1]["stateEnteredEventDetails"] = {"name": name}
        return number

    def exit(self, name: str, after: int | None = None, kind: str = "Task") -> int:
        number = self.add(f"{kind}{EXITED}", after)
        self.events[-1]["stateExitedEventDetails"] = {"name": name}
        return number

    def iterate(self, name: str, index: int, after: int | None = None, what: str = "Started") -> int:
        return self.add(f"MapIteration{what}", after, name=name, index=index)

    def run_map(self, name: str, arn: str) -> int:
        """Enter a Distributed Map and begin its Map Run."""
        self.enter(name, kind="Map")
        self.add("MapStateStarted", length=0)
        return self.add("MapRunStarted", mapRunArn=arn)


@dataclass
class WrittenMapRun:
    """A Map Run and its children: their status by ARN. pending: children that have not started."""

    children: dict[str, str] = field(default_factory=dict)
    pending: int = 0
    status: str = "RUNNING"


@dataclass
class FakeStepFunctions:
    """A `stepfunctions` client. most: of one page. refusals: how many of the next calls are throttled.

    asked: how often, by operation.
    """

    definition: dict[str, Any]
    histories: dict[str, WrittenHistory] = field(default_factory=dict)
    map_runs: dict[str, WrittenMapRun] = field(default_factory=dict)
    most: int = 1000
    refusals: int = 0
    refusal_code: str = "ThrottlingException"
    asked: Counter[str] = field(default_factory=Counter)

    def describe_state_machine_for_execution(self, executionArn: str) -> dict[str, Any]:
        return {"definition": json.dumps(self.definition)}

    def get_execution_history(self, **given: Any) -> dict[str, Any]:
        self._ask("get_execution_history")
        assert given["reverseOrder"]
        assert given["includeExecutionData"] is False
        return self._page("events", self.histories[given["executionArn"]].events[::-1], given)

    def describe_map_run(self, **given: Any) -> dict[str, Any]:
        self._ask("describe_map_run")
        run = self.map_runs[given["mapRunArn"]]
        counted = Counter(run.children.values())
        counts = {name: counted[name.upper()] for name in ("running", "succeeded", "failed", "aborted")}
        total = run.pending + len(run.children)
        counts |= {"timedOut": counted["TIMED_OUT"], "pending": run.pending, "total": total}
        return {"status": run.status, "executionCounts": counts}

    def list_executions(self, **given: Any) -> dict[str, Any]:
        self._ask("list_executions")
        wanted = given.get("statusFilter")
        children = self.map_runs[given["mapRunArn"]].children
        shown = [{"executionArn": arn, "status": s} for arn, s in children.items() if wanted in (None, s)]
        return self._page("executions", shown, given)

    def _ask(self, operation: str) -> None:
        self.asked[operation] += 1
        if self.refusals:
            self.refusals -= 1
            raise ClientError({"Error": {"Code": self.refusal_code, "Message": "Rate exceeded"}}, operation)

    def _page(self, name: str, items: list[dict[str, Any]], given: dict[str, Any]) -> dict[str, Any]:
        first = int(given.get("nextToken", 0))
        end = first + min(self.most, given["maxResults"])
        return {name: items[first:end], **({"nextToken": str(end)} if end < len(items) else {})}
