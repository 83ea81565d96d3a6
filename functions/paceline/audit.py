"""The audit trail: what operators change, by whom and when. One row a change, written in the change's own transaction.

A row that operators change counts its revisions: a change is made to the revision that was read, or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from paceline import keys
from paceline.errors import ChangedMeanwhile, TransactionConflict
from paceline.models import JsonObject
from paceline.moments import iso
from paceline.table import Action, Put, Row, Table, TransactionRefused, Update

# Leases and settlements hold an account's row for milliseconds: trying again at once is enough.
MAX_TRIES = 6

# Beside the values of a row that operators change: how often it was changed, and by whom and when each value was.
STAMPS = ("revision", "changed")


@dataclass(frozen=True, slots=True)
class Signature:
    """Who asks for a change, when, and by which request. key_id: the public id of an API key; name: that key's."""

    key_id: str
    at: datetime
    request_id: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """New values for a row that operators change. values: field → value; None removes it.

    row: as it was read ({}: there is none yet). revision: the one that the operator saw, where it is known.
    also: values that the audit does not show.
    """

    subject: str
    key: keys.Key
    row: Row
    values: Mapping[str, Any]
    signature: Signature
    revision: int | None = None
    also: Mapping[str, Any] = field(default_factory=dict)

    @property
    def differences(self) -> dict[str, JsonObject]:
        """Field → before and after, of the fields that differ."""
        before = {name: self.row.get(name) for name in self.values}
        return {n: {"before": before[n], "after": after} for n, after in self.values.items() if after != before[n]}


def route_subject(name: str) -> str:
    return f"ROUTE#{name}"


def account_subject(account_id: str) -> str:
    return f"ACCOUNT#{account_id}"


def audit_row(subject: str, signature: Signature, differences: Mapping[str, JsonObject]) -> Put:
    """Return the write of one change's row. differences: field → before and after."""
    pk, sk = keys.audit(subject, iso(signature.at), signature.request_id)
    who = {"by": signature.key_id, "by_name": signature.name}
    return Put({"pk": pk, "sk": sk, "at": iso(signature.at), **who, "changes": dict(differences)})


def changes_of(table: Table, subject: str) -> list[JsonObject]:
    """Return every change of a route or an account, the newest first: at, by, by_name, changes, request_id."""
    rows = reversed(list(table.query(keys.audit_partition(subject))))
    shown = ("at", "by", "by_name", "changes")
    return [{name: row[name] for name in shown} | {"request_id": row["sk"].partition("#")[2]} for row in rows]


def make_change(table: Table, change: Change, *more: Action) -> bool:
    """Write the change and its audit row, with `more`, together or not at all. Return whether anything differs.

    Raises: ChangedMeanwhile, where the row is another revision by now; TransactionConflict.
    """
    if change.revision not in (None, change.row.get("revision", 0)):
        raise _changed(change.row)
    if not change.differences:
        return False
    actions = [_update(change), audit_row(change.subject, change.signature, change.differences), *more]
    try:
        transact(table, actions)
    except TransactionRefused as refused:
        raise _changed(refused.reasons[0].old or {}) from None
    return True


def transact(table: Table, actions: Sequence[Action]) -> None:
    """Do all the actions or none, again where other transactions hold a row. Raises: as `Table.transact`."""
    for _ in range(MAX_TRIES - 1):
        try:
            return table.transact(actions)
        except TransactionConflict:
            continue
    table.transact(actions)


def _update(change: Change) -> Update:
    signature = change.signature
    stamp = {"at": iso(signature.at), "by": signature.key_id, "by_name": signature.name}
    new = {name: change.values[name] for name in change.differences}
    revision = change.row.get("revision", 0)
    values = {name: value for name, value in new.items() if value is not None} | dict(change.also)
    values |= {"revision": revision + 1, "changed": {**change.row.get("changed", {}), **dict.fromkeys(new, stamp)}}
    removed = [f"#{name}" for name, value in new.items() if value is None]
    expression = "SET " + ", ".join(f"#{name} = :{name}" for name in values)
    expression += f" REMOVE {', '.join(removed)}" if removed else ""
    if not revision:
        exists = "attribute_exists(#pk) AND " if change.row else ""
        return Update(change.key, expression, values, condition=f"{exists}attribute_not_exists(#revision)")
    return Update(change.key, expression, values | {"was": revision}, condition="#revision = :was")


def _changed(row: Row) -> ChangedMeanwhile:
    now = {name: value for name, value in row.items() if name not in ("pk", "sk", "changed")}
    return ChangedMeanwhile("Somebody changed it before you: look at what is there `now`, then change that.", now=now)
