"""What would make a message cheaper: each change computed from the counts of a run, with its price in guarantees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from console.cost.campaign import Counted
from console.cost.prices import prices
from sandbox.operations import Operation

# An Express child holds its input, one group, and its definition: the least that is billed is enough.
EXPRESS_GB = 64 / 1024
# The states that a message is in: they would be an Express child's, one child a group.
OF_A_MESSAGE = ("Send Items", "Wait For Slot", "Send Message")
SHORT_DAYS = 90  # the template's least RetentionDays


@dataclass(frozen=True, slots=True)
class Change:
    """saves: dollars per 1,000 messages. gives_up: what is no longer promised."""

    what: str
    saves: float
    gives_up: str


def changes(counted: Counted, days: int = 400) -> list[Change]:
    """Return the changes, the largest first. days: the RetentionDays that were counted with."""
    found = [_express(counted), _by_the_second(counted), _raw_receipts(counted), _kept_shorter(counted, days)]
    return sorted(found, key=lambda change: -change.saves)


def dollars(used: Mapping[Operation, float]) -> float:
    """Return what amounts cost."""
    return sum(prices()[operation].of(amount) for operation, amount in used.items())


def _express(counted: Counted) -> Change:
    states, scale = counted.operations.states, 1000 / counted.messages
    retries = counted.operations.total(Operation.TRANSITIONS) - states.total()
    now = {Operation.TRANSITIONS: (sum(states[name] for name in OF_A_MESSAGE) + retries) * scale}
    then = {
        Operation.EXPRESS_REQUESTS: states["Send Items"] * scale,
        Operation.EXPRESS_GB_SECONDS: counted.operations.sending_seconds * EXPRESS_GB * scale,
        Operation.TRANSITIONS: states["Send Items"] * scale,  # at the most: the Map of its children, a batch
    }
    return Change(
        "each group of at most 40 messages in an Express child of a Distributed Map",
        dollars(now) - dollars(then),
        "a child may run twice (the claim still sends once), has five minutes and no history: `redrive`, the console's "
        "counts by state and the sandbox's engine know Standard only; one more Map Run open a batch",
    )


def _by_the_second(counted: Counted) -> Change:
    states, scale = counted.operations.states, 1000 / counted.messages
    together = max(1.0, counted.per_minute / 60)
    fewer = 1 - 1 / together
    saved = {
        Operation.TRANSITIONS: (states["Wait For Slot"] + states["Send Message"]) * fewer * scale,
        Operation.LAMBDA_REQUESTS: counted.operations.counts[Operation.LAMBDA_REQUESTS]["send"] * fewer * scale,
    }
    return Change(
        f"one Wait and one sender for all messages of a second ({together:g} at this pace)",
        dollars(saved),
        "a sender that dies leaves all of its second in doubt instead of one message; a slow provider's answer delays "
        "the rest of the second",
    )


def _raw_receipts(counted: Counted) -> Change:
    receipts = counted.operations.counts[Operation.HTTP_REQUESTS]["callbacks"]
    scale = 1000 / counted.messages
    return Change(
        "no raw copy of a receipt (the inbox)",
        dollars({Operation.WRITE_UNITS: receipts * scale}),
        "no replay after a fault of ours; a receipt that comes before its send is recorded must be repeated by the "
        "provider",
    )


def _kept_shorter(counted: Counted, days: int) -> Change:
    stored = (Operation.TABLE_GB_MONTHS, Operation.BACKUP_GB_MONTHS, Operation.S3_GB_MONTHS)
    saved = {operation: counted.per_1000(operation) * (1 - SHORT_DAYS / days) for operation in stored}
    return Change(
        f"RetentionDays {SHORT_DAYS} instead of {days}",
        dollars(saved),
        "a renewal cannot be held against the year before; explain and reports end after three months",
    )
