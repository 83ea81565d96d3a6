"""What a run did to the table: conflicts, and attempts to write rows that other batches write too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from paceline.keys import is_shared_row
from sandbox.dynamodb import Call

_WRITES = {"Put", "Update", "Delete", "ConditionCheck"}


@dataclass
class Counters:
    """Counts over all calls of a run.

    items_read: rows looked at, by the folder of the function that read them.
    by_kind: (operation's action, kind of row) → attempts. watchers: told of every call too, for who counts more.
    """

    calls: int = 0
    conflicts: int = 0
    shared_row_writes: int = 0
    write_units: float = 0.0
    read_units: float = 0.0
    items_read: Counter[str] = field(default_factory=Counter)
    by_kind: Counter[tuple[str, str]] = field(default_factory=Counter)
    watchers: list[Callable[[Call], None]] = field(default_factory=list)

    def take(self, call: Call) -> None:
        """Count one call, refused ones too: an attempt touches the row as much as a success."""
        self.calls += 1
        self.write_units += call.write_units
        self.read_units += call.read_units
        invocation = call.caller.context.get("invocation") if call.items_read and call.caller else None
        if invocation is not None:
            self.items_read[invocation.function.folder] += call.items_read
        if call.outcome == "TransactionConflictException" or "TransactionConflict" in call.reasons:
            self.conflicts += 1
        for access in call.keys:
            pk, sk = str(access.pk), str(access.sk or "")
            self.by_kind[access.action, sk.split("#")[0]] += 1
            if access.action in _WRITES and is_shared_row((pk, sk)):
                self.shared_row_writes += 1
        for watch in self.watchers:
            watch(call)
