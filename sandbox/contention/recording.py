"""Which rows a run writes, how often, and who shares each: from the calls that it made, from nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from sandbox.dynamodb import Call
from sandbox.scheduler import Task

_WRITES = {"Put", "Update", "Delete", "ConditionCheck"}


class Writer(NamedTuple):
    """On whose behalf a call was made.

    function: its folder. message, batch: that of a send, or of a step of a batch ("": neither).
    """

    function: str = ""
    message: str = ""
    batch: str = ""


@dataclass(slots=True)
class RowUse:
    """Attempts to write one row, refused ones too. busiest_second: the most in one second of the clock."""

    attempts: int = 0
    conflicts: int = 0
    messages: set[str] = field(default_factory=set)
    batches: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)
    busiest_second: int = 0
    _second: int = 0
    _in_second: int = 0

    @property
    def is_shared(self) -> bool:
        """Tell whether more than one message, or more than one batch, wrote it."""
        return len(self.messages) > 1 or len(self.batches) > 1

    def add(self, writer: Writer, second: int, *, is_conflict: bool) -> None:
        """Count one attempt. Seconds come in ascending order."""
        self.attempts += 1
        self.conflicts += is_conflict
        self.functions.add(writer.function)
        if writer.message:
            self.messages.add(writer.message)
        if writer.batch:
            self.batches.add(writer.batch)
        self._in_second = self._in_second + 1 if second == self._second else 1
        self._second = second
        self.busiest_second = max(self.busiest_second, self._in_second)


@dataclass
class Recording:
    """What the calls of a run did to each row: give `take` to the sandbox's counters.

    conflicts: calls that another transaction refused. conditions: calls that a condition refused, and no conflict.
    """

    calls: int = 0
    conflicts: int = 0
    conditions: int = 0
    rows: dict[tuple[str, str], RowUse] = field(default_factory=dict)

    def take(self, call: Call) -> None:
        """Count one call."""
        self.calls += 1
        is_conflict = call.outcome == "TransactionConflictException" or "TransactionConflict" in call.reasons
        self.conflicts += is_conflict
        self.conditions += not is_conflict and (
            call.outcome == "ConditionalCheckFailedException" or "ConditionalCheckFailed" in call.reasons
        )
        writer = writer_of(call.caller)
        reasons = call.reasons or [call.outcome] * len(call.keys)
        for access, reason in zip(call.keys, reasons, strict=False):
            if access.action in _WRITES:
                use = self.rows.setdefault((str(access.pk), str(access.sk)), RowUse())
                use.add(writer, call.ended // 1_000_000, is_conflict="TransactionConflict" in reason)

    @property
    def shared_row_writes(self) -> int:
        """Attempts to write rows that more than one message, or batch, wrote."""
        return sum(use.attempts for use in self.rows.values() if use.is_shared)

    def by_kind(self) -> Iterator[tuple[str, list[RowUse]]]:
        """Yield each kind of row with the use of its rows; the most written kind first."""
        kinds: dict[str, list[RowUse]] = {}
        for key, use in self.rows.items():
            kinds.setdefault(kind_of(*key), []).append(use)
        yield from sorted(kinds.items(), key=lambda kind: (-attempts(kind[1]), kind[0]))


def attempts(uses: Iterable[RowUse]) -> int:
    return sum(use.attempts for use in uses)


def kind_of(pk: str, sk: str) -> str:
    """Return the kind of a row: the words that its keys begin with ("ROUTE#shared", "DAY#2026-09-02": "route day")."""
    words = [key.split("#")[0] for key in (pk, sk)]
    return " ".join(dict.fromkeys(word.lower() for word in words if word.isupper()))


def writer_of(caller: Task | None) -> Writer:
    """Return on whose behalf a task calls: of an invocation, the message or the batch that its payload names."""
    if caller is None:
        return Writer()
    known: Writer | None = caller.context.get("writer")
    if known is None:
        known = caller.context["writer"] = _writer_named_in(caller)
    return known


def _writer_named_in(caller: Task) -> Writer:
    invocation = caller.context.get("invocation")
    if invocation is None:
        return Writer(caller.name)
    payload = json.loads(invocation.payload)
    batch = payload.get("open", payload).get("batch", {}).get("batch_id", "")  # `open`: an item of reconciliation's
    message = f"{batch}.{payload['lead_no']}" if batch and "lead_no" in payload else ""
    return Writer(invocation.function.folder, message, batch)
