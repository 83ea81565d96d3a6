"""A Map Run: the child executions of one Distributed Map state, and how many of them may fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sandbox.engine.executions import ABORTED, FAILED, RUNNING, SUCCEEDED, TIMED_OUT, Execution

MAXIMUM_CONCURRENCY = 10_000
"""What AWS runs where MaxConcurrency is 0 or absent."""
THRESHOLD_ERROR = "States.ExceedToleratedFailureThreshold"
THRESHOLD_CAUSE = "The specified tolerated failure threshold was exceeded"
_COUNT_NAMES = {SUCCEEDED: "succeeded", FAILED: "failed", TIMED_OUT: "timedOut", ABORTED: "aborted", RUNNING: "running"}


@dataclass
class Tolerance:
    """How many items may fail: a count, a percentage (0-100), or both; None where it is not given."""

    count: int | None
    percentage: float | None

    def is_exceeded(self, failed: int, total: int) -> bool:
        if failed == 0:
            return False
        if self.count is None and self.percentage is None:
            return True
        if self.count is not None and failed > self.count:
            return True
        return self.percentage is not None and failed * 100 > self.percentage * total


@dataclass(eq=False)
class MapRun:
    """A Map Run as describe_map_run shows it.

    item_counts, child_inputs: one entry for each child, started or not. children: those started, by index.
    failed_items: items in children that failed. wake: tells the pool that max_concurrency has changed.
    """

    arn: str
    execution_arn: str
    start_date: datetime
    max_concurrency: int
    tolerance: Tolerance
    status: str = RUNNING
    stop_date: datetime | None = None
    item_counts: list[int] = field(default_factory=list)
    children: dict[int, Execution] = field(default_factory=dict)
    child_inputs: list[str] = field(default_factory=list)
    redrive_count: int = 0
    redrive_date: datetime | None = None
    results_written: int = 0
    failed_items: int = 0
    wake: Callable[[], None] = lambda: None

    @property
    def limit(self) -> int:
        return self.max_concurrency or MAXIMUM_CONCURRENCY

    def count_failure(self, items: int) -> bool:
        """Count the items of a child that failed; say whether the threshold is exceeded."""
        self.failed_items += items
        return self.tolerance.is_exceeded(self.failed_items, sum(self.item_counts))

    def begin_again(self, now: datetime) -> None:
        """Start a redrive: what failed is to run again."""
        self.redrive_count += 1
        self.redrive_date, self.stop_date = now, None
        self.status, self.failed_items = RUNNING, 0

    def describe(self) -> dict[str, Any]:
        """Return what boto3's describe_map_run returns."""
        described: dict[str, Any] = {
            "mapRunArn": self.arn,
            "executionArn": self.execution_arn,
            "status": self.status,
            "startDate": self.start_date,
            "maxConcurrency": self.max_concurrency,
            "toleratedFailurePercentage": float(self.tolerance.percentage or 0),
            "toleratedFailureCount": self.tolerance.count or 0,
            "itemCounts": self._counts(self.item_counts),
            "executionCounts": self._counts([1] * len(self.item_counts)),
            "redriveCount": self.redrive_count,
        }
        if self.stop_date is not None:
            described["stopDate"] = self.stop_date
        if self.redrive_date is not None:
            described["redriveDate"] = self.redrive_date
        return described

    def _counts(self, weights: list[int]) -> dict[str, int]:
        names = (*_COUNT_NAMES.values(), "pending", "failuresNotRedrivable", "pendingRedrive")
        counts = dict.fromkeys(names, 0)
        for index, weight in enumerate(weights):
            child = self.children.get(index)
            counts[_COUNT_NAMES[child.status] if child is not None else "pending"] += weight
        return {**counts, "total": sum(weights), "resultsWritten": self.results_written}
