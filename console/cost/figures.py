"""The cost of a counted campaign as figures: the shape of `paceline cost --json`."""

from __future__ import annotations

from typing import Any

from console.cost.campaign import Counted
from console.cost.halving import changes, dollars
from console.cost.prices import prices, region
from console.cost.story import ASSUMED, Story
from sandbox.operations import Operation

# Counted in the run; the others are modelled on what was counted, as docs/costs.md says.
MODELLED = {
    Operation.LAMBDA_GB_SECONDS: "the calls' latencies are drawn; a handler's own processor time is not in it",
    Operation.LOG_GB: "our lines are counted; Lambda's START, END and REPORT are 283 bytes an invocation",
    Operation.TRACES: "X-Ray's default: the first of a second, and 5 % of the others",
    Operation.S3_GETS: "one environment a function; on AWS each of them reads a batch's leads once",
    Operation.SECRET_READS: "one environment a function; on AWS each of them reads its secret once",
    Operation.TABLE_GB_MONTHS: "rows as they are at the end, each until it expires (without an end: RetentionDays)",
    Operation.BACKUP_GB_MONTHS: "as large as the table",
    Operation.S3_GB_MONTHS: "objects as they are at the end, each until the bucket's rules end it",
}
NOT_IN_IT = (
    "what the provider asks for a message",
    "free tiers, discounts for volume, savings plans, support",
    "data that leaves AWS (under 2 KB a message to the provider, at $0.09 a GB)",
    "what is paid by the month whatever is sent: alarms, metrics, dashboard, KMS keys, secrets (docs/costs.md)",
    "cold starts, and logs kept after they were taken in",
)
Figures = dict[str, Any]


def figures_of(counted: Counted, story: Story) -> Figures:
    """Return everything per 1,000 messages: plain JSON values, dollars unrounded."""
    used = {operation: counted.per_1000(operation) for operation in counted.operations.counts}
    total = dollars(used)
    sending = {operation: counted.per_1000(operation, only_sending=True) for operation in story.per_1000}
    sending[Operation.TRANSITIONS] = counted.per_1000(Operation.TRANSITIONS)
    return {
        "schema": 1,
        "region": region(),
        "prices_dated": max(price.date for price in prices().values()).isoformat(),
        "campaign": {
            "leads": counted.leads,
            "parts_per_minute": counted.per_minute,
            "messages": counted.messages,
        },
        "operations": [_operation(operation, used[operation], total) for operation in Operation if operation in used],
        "dollars": total,
        "by_function": _by_function(counted),
        "sending": {
            "ours": _amounts(sending),
            "ours_dollars": dollars(sending),
            "story": _amounts(story.per_1000),
            "story_dollars": dollars(story.per_1000),
            "story_sends": story.sends,
            "story_asleep_dollars": dollars({Operation.LAMBDA_GB_SECONDS: story.asleep_gb_seconds}),
            "story_assumes": list(ASSUMED),
        },
        "cheaper": [
            {"change": change.what, "saves": change.saves, "leaves": total - change.saves, "gives_up": change.gives_up}
            for change in changes(counted)
        ],
        "not_in_it": list(NOT_IN_IT),
    }


def _operation(operation: Operation, amount: float, total: float) -> Figures:
    price = prices()[operation]
    cost = price.of(amount)
    return {
        "operation": operation.value,
        "name": price.name,
        "count": amount,
        "price": price.price,
        "per": price.per,
        "dollars": cost,
        "share": cost / total,
        "modelled": MODELLED.get(operation, ""),
    }


def _amounts(used: dict[Operation, float]) -> dict[str, float]:
    return {operation.value: amount for operation, amount in used.items()}


def _by_function(counted: Counted) -> dict[str, Figures]:
    """Return by function what 1,000 messages use of it: invocations, billed ms, units of the table."""
    scale, counts = 1000 / counted.messages, counted.operations.counts
    shown = (Operation.LAMBDA_REQUESTS, Operation.WRITE_UNITS, Operation.READ_UNITS)
    return {
        name: {"billed_ms": ms * scale} | {operation.value: counts[operation][name] * scale for operation in shown}
        for name, ms in counted.operations.function_ms.most_common()
    }
