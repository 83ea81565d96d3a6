"""Corrections: each one transaction, on exactly what was read, with its row in the trail of operators' changes."""

from __future__ import annotations

from paceline import keys
from paceline.audit import MAX_TRIES, Signature, account_subject, audit_row, route_subject, transact
from paceline.models import JsonObject
from paceline.recount.differences import Correction, RowChange
from paceline.recount.movements import Amounts
from paceline.table import Action, Row, Table, TransactionRefused, Update


class CannotRepair(Exception):
    """A correction that must not, or could not, be written; the text says why."""


def repair(table: Table, account_id: str | None, correction: Correction, signature: Signature) -> JsonObject:
    """Write a correction, and return what it changed: number → before and after. account_id: None for a route's day.

    Shared rows move on while this works: they get the difference on top of what they are at the write.
    Raises: CannotRepair; TransactionConflict, TableThrottled.
    """
    for _ in range(MAX_TRIES):
        shared = _shared(table, correction.moves)
        changes = _differences(correction, shared)
        subject = account_subject(account_id) if account_id else route_subject(_route(correction))
        actions: list[Action] = [_change(row) for row in correction.changes]
        actions += [_move(key, row, _of(correction.moves, key)) for key, row in shared.items()]
        try:
            transact(table, [*actions, audit_row(subject, signature, changes)])
        except TransactionRefused as refused:
            if any(reason.code != "None" for reason in refused.reasons[: len(correction.changes)]):
                raise CannotRepair(f"{correction.title}: its rows changed since they were read; recount it.") from None
            continue  # a shared row moved on
        return changes
    raise CannotRepair(f"{correction.title}: the account moves too fast for a write on what was read; try again.")


def _route(correction: Correction) -> str:
    [(key, _)] = correction.moves
    return key[0].removeprefix("ROUTE#")


def _shared(table: Table, moves: Amounts) -> dict[keys.Key, Row]:
    return {key: table.get(key) or {} for key in dict.fromkeys(key for key, _ in moves)}


def _of(moves: Amounts, key: keys.Key) -> dict[str, int]:
    return {name: amount for (of, name), amount in moves.items() if of == key and amount}


def _change(change: RowChange) -> Update:
    values = {name: value for name, value in change.before.items() if value is not None}
    conditions = [f"#{n} = :was_{n}" if n in values else f"attribute_not_exists(#{n})" for n in change.before]
    sets = ", ".join(f"#{name} = :{name}" for name in change.after)
    was = {f"was_{name}": value for name, value in values.items()}
    return Update(change.key, f"SET {sets}", {**change.after, **was}, condition=" AND ".join(conditions))


def _move(key: keys.Key, row: Row, amounts: dict[str, int]) -> Update:
    """Return the write of a shared row on what was read. Raises: CannotRepair, where it would fall below zero."""
    after = {name: int(row.get(name, 0)) + amount for name, amount in amounts.items()}
    if below := [name for name, value in after.items() if value < 0]:
        names = ", ".join(f"{name} {after[name]}" for name in below)
        raise CannotRepair(
            f"{key[0].replace('#', ' ').lower()}: this would make {names}. Its messages took more than there is: "
            "buy credits for it first, then repair."
        )
    read = set(amounts) | ({"available", "reserved", "consumed", "bought"} if key[1] == "ACCOUNT" else set())
    return _change(RowChange(key, {name: row.get(name) for name in sorted(read)}, after))


def _differences(correction: Correction, shared: dict[keys.Key, Row]) -> dict[str, JsonObject]:
    """Return what the trail shows: every number before and after."""
    found: dict[str, JsonObject] = {}
    for change in correction.changes:
        name = change.key[1].lower().replace("#", " ")
        for field, after in change.after.items():
            found[f"{correction.title}: {field} of {name}"] = {"before": change.before[field], "after": after}
    for key, row in shared.items():
        for name, amount in _of(correction.moves, key).items():
            label = name if key[1] == "ACCOUNT" else f"{name} on {key[1].removeprefix('DAY#')} of {key[0].lower()}"
            before = int(row.get(name, 0))
            # The trail of purchases is what `bought` is held to: a repair of it is no purchase.
            label = "bought, repaired" if label == "bought" else label
            found[label] = {"before": before, "after": before + amount}
    return found
