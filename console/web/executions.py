"""What pages ask of Step Functions about executions and Map Runs, and what of the answers is kept between looks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from botocore.exceptions import ClientError

from console.operator.api import NoAnswer
from console.web.site import Site
from console.workflow.events import Known
from console.workflow.history import HistoryPage, Wanted, read_page

CHILDREN = 100
MOST_RUNS = 10  # described; a campaign that waits for receipts begins one with each look at its open batches
_SECONDS_ON_AWS = 5.0  # between looks at Map Runs: AWS gives each of their calls one a second
_NOT_THERE = frozenset({"ExecutionDoesNotExist", "ResourceNotFound", "InvalidArn", "ValidationException"})


@dataclass
class WatchedExecution:
    """One execution, for as long as it is looked at.

    Each method raises: NoAnswer, where it is not there; CannotReach.
    """

    site: Site
    arn: str
    _known: Known = field(default_factory=Known)
    _lock: Lock = field(default_factory=Lock)
    _machine: dict[str, Any] = field(default_factory=dict)
    _final: dict[str, dict[str, Any]] = field(default_factory=dict)
    _runs: dict[str, Any] = field(default_factory=dict)
    _runs_at: float = -_SECONDS_ON_AWS
    _redrives: int = 0

    def described(self) -> dict[str, Any]:
        """Return how it stands, as DescribeExecution does."""
        return _ask(self.site, "describe_execution", executionArn=self.arn)

    def machine(self) -> dict[str, Any]:
        """Return what it runs: asked once, since an execution ends by the definition it began with."""
        with self._lock:
            if not self._machine:
                told = _ask(self.site, "describe_state_machine_for_execution", executionArn=self.arn)
                self._machine = {name: told.get(name, "") for name in ("name", "updateDate", "revisionId")}
            return self._machine

    def history(self, wanted: Wanted) -> HistoryPage:
        """Return a page of its history."""
        with self._lock, asking(self.site) as client:
            return read_page(client.get_execution_history, self.arn, self._known, wanted)

    def map_runs(self, redrives: int) -> dict[str, Any]:
        """Return its Map Runs, the newest first: `shown` as DescribeMapRun tells them, `others` only by name."""
        with self._lock:
            if redrives != self._redrives:  # what was over may go on
                self._final, self._redrives = {}, redrives
            every = 0.0 if self.site.where.endpoint_url else _SECONDS_ON_AWS
            if not self._runs or time.monotonic() - self._runs_at >= every:
                self._runs, self._runs_at = self._all_runs(), time.monotonic()
            return self._runs

    def _all_runs(self) -> dict[str, Any]:
        listed = _ask(self.site, "list_map_runs", executionArn=self.arn, maxResults=1000)["mapRuns"]
        listed.sort(key=lambda run: run["startDate"], reverse=True)
        return {
            "shown": [self._run(run["mapRunArn"]) for run in listed[:MOST_RUNS]],
            "others": listed[MOST_RUNS:],
        }

    def _run(self, arn: str) -> dict[str, Any]:
        if arn in self._final:
            return self._final[arn]
        told = map_run(self.site, arn)
        if told["status"] != "RUNNING":
            self._final[arn] = told
        return told


def watched_execution(site: Site, arn: str) -> WatchedExecution:
    """Return an execution: the same for all who look at it."""
    found: WatchedExecution = site.kept.get(("execution", arn), lambda: WatchedExecution(site, arn))
    return found


def map_run(site: Site, arn: str) -> dict[str, Any]:
    """Return a Map Run as DescribeMapRun does. Raises: NoAnswer, CannotReach."""
    return _ask(site, "describe_map_run", mapRunArn=arn)


def children_of(site: Site, arn: str, status: str, after: str) -> dict[str, Any]:
    """Return a page of a Map Run's children, as ListExecutions does. Raises: NoAnswer, CannotReach."""
    more = {"statusFilter": status} if status else {}
    more |= {"nextToken": after} if after else {}
    return _ask(site, "list_executions", mapRunArn=arn, maxResults=CHILDREN, **more)


def _ask(site: Site, operation: str, **parameters: Any) -> dict[str, Any]:
    with asking(site) as client:
        answer: dict[str, Any] = getattr(client, operation)(**parameters)
        return answer


@contextmanager
def asking(site: Site) -> Iterator[Any]:
    """Yield a client. Raises: NoAnswer, where what is asked about is not there; CannotReach."""
    with site.workflows() as client:
        try:
            yield client
        except ClientError as error:
            if error.response["Error"]["Code"] not in _NOT_THERE:
                raise
            raise _not_there(error) from error


def _not_there(error: ClientError) -> NoAnswer:
    told = NoAnswer(
        "Step Functions has no such execution, Map Run or page of it: AWS forgets executions 90 days after their end, "
        f"and pages after a day ({error.response['Error']['Message']})."
    )
    told.status = 404
    return told
