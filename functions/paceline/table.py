"""The one table as the rules see it: rows as plain dicts, refusals as errors that say what refused.

Expressions name attributes as `#name` and values as `:name`; the placeholders are derived from the text.
`adapters/dynamodb.py` is the real one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from paceline.keys import Key

Row = dict[str, Any]


class ConditionFailed(Exception):
    """A condition did not hold. `old` is the row as it was (None: there was none)."""

    def __init__(self, old: Row | None) -> None:
        super().__init__("the condition does not hold")
        self.old = old


@dataclass(frozen=True, slots=True)
class Reason:
    """Why one action of a transaction was refused. code "None": it was not."""

    code: str
    old: Row | None = None


class TransactionRefused(Exception):
    """A transaction was cancelled; `reasons` are in the order of its actions."""

    def __init__(self, reasons: Sequence[Reason]) -> None:
        super().__init__(", ".join(reason.code for reason in reasons))
        self.reasons = tuple(reasons)


@dataclass(frozen=True, slots=True)
class Put:
    """Write a row whole."""

    row: Row
    condition: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Update:
    """Change a row's attributes by an update expression. names: of attributes whose names are no placeholders."""

    key: Key
    expression: str
    values: Mapping[str, Any] = field(default_factory=dict)
    condition: str = ""
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove a row."""

    key: Key
    condition: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)


Action = Put | Update | Delete


class Table(Protocol):
    """The rows. Every method may raise TableThrottled or ServiceUnavailable; every write TransactionConflict."""

    def get(self, key: Key, *, consistent: bool = True) -> Row | None:
        """Return a row, or None."""

    def get_many(self, keys: Sequence[Key], attributes: Sequence[str] = ()) -> list[Row]:
        """Return those of up to 100 rows that exist, in no order; only these attributes, where any are named."""

    def query(self, partition: str, prefix: str = "", *, consistent: bool = True) -> Iterator[Row]:
        """Yield the rows of a partition whose sort key begins with `prefix`, in its order."""

    def page(self, partition: str, limit: int, *, after: str = "", newest_first: bool = False) -> list[Row]:
        """Return up to `limit` rows of a partition, those behind the sort key `after` in the order asked for."""

    def put(self, action: Put) -> None:
        """Write a row. Raises: ConditionFailed."""

    def update(self, action: Update, returning: str = "NONE") -> Row:
        """Change a row; return its attributes as `returning` (ReturnValues) says. Raises: ConditionFailed."""

    def delete(self, action: Delete) -> None:
        """Remove a row. Raises: ConditionFailed."""

    def transact(self, actions: Sequence[Action]) -> None:
        """Do all the actions or none. Raises: TransactionRefused; TransactionConflict, if only conflicts refused it."""
