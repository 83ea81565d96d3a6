"""What a call did, for whoever counts operations, conflicts and shared rows; and how long calls take."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from sandbox.dynamodb.values import Value
from sandbox.scheduler import Task


class ItemAccess(NamedTuple):
    """One item that a call read or wrote.

    action: Put, Update, Delete, ConditionCheck, Get or Query (of Query: the hash key only).
    pk, sk: the key's contents (numbers as text); sk is None where the table has no range key, and for a Query.
    """

    action: str
    table: str
    pk: str | bytes
    sk: str | bytes | None

    @classmethod
    def of(cls, action: str, table: str, hash_key: Value, range_key: Value | None) -> ItemAccess:
        return cls(action, table, hash_key[1], None if range_key is None else range_key[1])


@dataclass(slots=True)
class Call:
    """One operation, reported once it is over.

    started, ended: microseconds since 1970; of a transaction that was prepared, `ended` is the commit.
    outcome: "ok", the error's code, or the name of the exception that killed the caller before anything was done.
    reasons: of a cancelled transaction, the cancellation code of each of `keys`.
    items_read: rows that were looked at: those asked for by key, and those that a query went over.
    caller: the task that made the call (None: from outside the scheduler); a transaction's commit is nobody's task.
    """

    operation: str
    table: str
    started: int
    ended: int = 0
    outcome: str = ""
    keys: list[ItemAccess] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    write_units: float = 0.0
    read_units: float = 0.0
    items_read: int = 0
    caller: Task | None = None


def no_time() -> float:
    return 0.0


@dataclass(frozen=True)
class Latency:
    """How long calls take: functions without arguments, called once a call, that return seconds.

    read, write: of a plain call; half of it passes before the effect, half after it.
    prepare, commit: the two legs of a transaction; its items are held during the second.
    """

    read: Callable[[], float] = no_time
    write: Callable[[], float] = no_time
    prepare: Callable[[], float] = no_time
    commit: Callable[[], float] = no_time

    @classmethod
    def modelled(cls, rng: random.Random) -> Latency:
        """Return latencies like those seen within a region: medians of 3, 5, 10 and 10 ms, with a long tail.

        The transaction's sum is four PutItems, as in Idziorek et al., USENIX ATC 2023.
        """

        def around(median_seconds: float) -> Callable[[], float]:
            return lambda: median_seconds * rng.lognormvariate(0.0, 0.25)

        return cls(around(0.003), around(0.005), around(0.010), around(0.010))
