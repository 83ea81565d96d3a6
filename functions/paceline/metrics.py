"""What operators are told in numbers: CloudWatch's metrics, written as a line of the log when an invocation ends.

Every metric is in one table, with what it is told by. Whoever knows of something counts it; outside an invocation (a
command, a test of a rule) counting does nothing. Never by a campaign or a person: each value of a dimension is another
metric to pay for, so ids go beside the numbers, where a query of the log finds them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from aws_lambda_powertools.metrics.provider.cloudwatch_emf.cloudwatch import AmazonCloudWatchEMFProvider

NAMESPACE = "Paceline"
SERVICE = "paceline"  # a dimension of every metric: Powertools adds it

# An alarm cannot add up over values that nobody knows before, as routes: so what it asks for is told without them too.
Told = tuple[tuple[str, ...], ...]
_IN_ALL: Told = ((),)
_BY_ROUTE: Told = (("route", "outcome"), ("route",))


class Metric(StrEnum):
    """Every metric, by the name that the dashboard and the alarms have for it."""

    PARTS = "Parts"  # of sends: those with the outcome `sent` left
    SENDS = "Sends"  # outcome: a message's status, or `returned` (to admission)
    ROUTE_PACE = "RoutePace"  # the route's cap in parts a minute, when a round of it got its slots
    SENDS_RETURNED = "SendsReturned"
    PROVIDER_THROTTLES = "ProviderThrottles"  # the provider said 429
    HELD_BATCHES = "HeldBatches"  # a hold that began
    HELD_MESSAGES = "HeldMessages"
    PARKED_MESSAGES = "ParkedMessages"  # held, until a person does something
    CONFLICTS = "Conflicts"  # DynamoDB refused a write, as a transaction held the row
    ORDINARY_ERRORS = "OrdinaryErrors"  # errors by which a step tells the workflow to ask again
    CALLBACKS_REFUSED = "CallbacksRefused"  # callbacks and provider's events that were not taken
    CREDITS_SHORT = "CreditsShort"  # credits that the account lacks for a campaign, when it is planned
    RECEIPTS_OVERDUE = "ReceiptsOverdue"  # messages without a final receipt an hour after the sending and later
    WEBHOOKS_FAILED = "WebhooksFailed"  # outcome: `trying`, `gave_up`


TOLD_BY: dict[Metric, Told] = {
    Metric.PARTS: _BY_ROUTE,
    Metric.SENDS: _BY_ROUTE,
    Metric.ROUTE_PACE: (("route",),),
    Metric.SENDS_RETURNED: (("route", "cause"), ("cause",)),
    Metric.PROVIDER_THROTTLES: (("route",), ()),
    Metric.HELD_BATCHES: (("route", "cause"), ("cause",)),
    Metric.HELD_MESSAGES: (("route", "cause"), ("cause",)),
    Metric.PARKED_MESSAGES: _IN_ALL,
    Metric.CONFLICTS: (("function",), ()),
    Metric.ORDINARY_ERRORS: (("function",),),
    Metric.CALLBACKS_REFUSED: (("reason",), ()),
    Metric.CREDITS_SHORT: _IN_ALL,
    Metric.RECEIPTS_OVERDUE: _IN_ALL,
    Metric.WEBHOOKS_FAILED: (("outcome",),),
}

# A line's dimensions: those that its metrics are told by, and what they are in this line.
_Line = tuple[Told, tuple[tuple[str, str], ...]]


@dataclass
class _Counted:
    """What one invocation counted: its numbers by line and metric."""

    function: str
    lines: dict[_Line, dict[Metric, float]] = field(default_factory=dict)

    def add(self, metric: Metric, value: float, by: Mapping[str, str]) -> None:
        told = TOLD_BY[metric]
        values = tuple((name, self.function if name == "function" else by[name]) for name in told[0])
        numbers = self.lines.setdefault((told, values), {})
        numbers[metric] = numbers.get(metric, 0) + value


# Of the running invocation: the sandbox runs several in one process, as greenlets, and each has its own.
_COUNTED: ContextVar[_Counted | None] = ContextVar("counted", default=None)


def count(metric: Metric, value: float = 1, **by: str) -> None:
    """Add to a metric of the running invocation. by: what the metric is told by (a function says itself)."""
    counted = _COUNTED.get()
    if counted is not None:
        counted.add(metric, value, by)


@contextmanager
def counting(function: str, ids: Mapping[str, Any], write: Any) -> Iterator[None]:
    """Let an invocation count, and write what it counted when it ends, whatever it ends with: mostly nothing or a line.

    ids: told beside the numbers. write: takes a line of text.
    """
    counted = _Counted(function)
    before = _COUNTED.set(counted)
    try:
        yield
    finally:
        _COUNTED.reset(before)
        for (told, values), numbers in counted.lines.items():
            write(_as_line(told, dict(values), numbers, ids))


def _as_line(told: Told, values: dict[str, str], numbers: Mapping[Metric, float], ids: Mapping[str, Any]) -> str:
    """Return numbers in CloudWatch's embedded metric format, as Powertools writes it."""
    service = {"service": SERVICE}
    dimensions = [service | {name: values[name] for name in names} for names in told]
    beside = {name: value for name, value in ids.items() if name not in values}
    provider = AmazonCloudWatchEMFProvider(namespace=NAMESPACE, default_dimensions=service, metadata_set=beside)
    provider.dimension_set, provider.dimension_sets = dimensions[0], dimensions[1:]
    for metric, number in numbers.items():
        provider.add_metric(metric.value, "Count", number)
    return json.dumps(provider.serialize_metric_set(), separators=(",", ":"))
