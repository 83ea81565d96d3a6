"""Who said STOP to an account: noted in the recipient's row, where every send meets it, and in the account's list."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import attrgetter
from typing import Literal

from paceline import keys, rows
from paceline.errors import TransactionConflict
from paceline.leads.phone import PhoneNumber, Refusal, normalise
from paceline.table import Action, Delete, Put, Table, TransactionRefused, Update

Source = Literal["message", "import", "api"]

# A claim of the same person's send holds the row for milliseconds: trying again at once is enough, and a STOP must not
# be lost, for a provider does not repeat it.
MAX_TRIES = 8

_NUMBERS_AT_ONCE = 50  # a transaction takes 100 actions, and a number is two


@dataclass(frozen=True, slots=True)
class OptOut:
    """One entry of an account's list. opted_out_at: ISO 8601, UTC. source: how it came."""

    phone_number: str
    opted_out_at: str
    source: str


@dataclass(slots=True)
class Imported:
    """What became of imported rows. refused: (row number, why), for rows that hold no number we send to."""

    added: int = 0
    known: int = 0
    refused: list[tuple[int, Refusal]] = field(default_factory=list)


def opt_out(table: Table, account_id: str, phone_number: str, at: str, source: Source = "message") -> None:
    """Note that a recipient said STOP. It meets the claim of any send to that number in one row.

    phone_number: E.164. Raises: TransactionConflict, after MAX_TRIES; TableThrottled.
    """
    _persistently(table, _out(account_id, phone_number, at, source))


def opt_in(table: Table, account_id: str, phone_number: str, at: str) -> bool:
    """Note that a recipient said START; return whether there was an opt-out to end. Raises: as `opt_out`.

    at: when it was said; a STOP that was said later stays, in whatever order the two come.
    """
    expression = "SET #opted_in_at = :at REMOVE #opted_out_at"
    condition = "attribute_exists(#opted_out_at) AND #opted_out_at <= :at"
    person = Update(keys.recipient(account_id, phone_number), expression, {"at": at}, condition)
    try:
        _persistently(table, [person, Delete(keys.opt_out(account_id, phone_number))])
    except TransactionRefused:
        return False
    return True


def import_opt_outs(table: Table, account_id: str, numbers: Iterable[tuple[int, str]], at: str) -> Imported:
    """Add a list of opt-outs: (row number, phone number in any spelling). The same again changes nothing.

    Who is on the list already keeps the first time. Raises: as `opt_out`; what was added before stays added.
    """
    imported, pending = Imported(), iter(numbers)
    while rows_read := list(islice(pending, _NUMBERS_AT_ONCE)):
        found = [(row_number, normalise(number)) for row_number, number in rows_read]
        imported.refused += [(row_number, number) for row_number, number in found if isinstance(number, Refusal)]
        good = [number.e164 for _, number in found if isinstance(number, PhoneNumber)]
        new = set(good) - TableOptOuts(table).opted_out(account_id, set(good))
        actions = [action for number in sorted(new) for action in _out(account_id, number, at, "import")]
        if actions:
            _persistently(table, actions)
        imported.added += len(new)
        imported.known += len(good) - len(new)
    return imported


def export_opt_outs(table: Table, account_id: str) -> Iterator[OptOut]:
    """Yield the account's list, by number."""
    shards = (table.query(partition) for partition in keys.opt_out_partitions(account_id))
    listed = ((OptOut(row["sk"], row["opted_out_at"], row["source"]) for row in shard) for shard in shards)
    return heapq.merge(*listed, key=attrgetter("phone_number"))


def _out(account_id: str, phone_number: str, at: str, source: Source) -> list[Action]:
    pk, sk = keys.opt_out(account_id, phone_number)
    expression = "SET #opted_out_at = :at REMOVE #opted_in_at, #expires_at"
    return [
        Update(keys.recipient(account_id, phone_number), expression, {"at": at}),
        Put({"pk": pk, "sk": sk, "opted_out_at": at, "source": source}),
    ]


def _persistently(table: Table, actions: Sequence[Action]) -> None:
    for tries_left in reversed(range(MAX_TRIES)):
        try:
            return table.transact(actions)
        except TransactionConflict:
            if not tries_left:
                raise


class TableOptOuts:
    """`paceline.ports.OptOuts` from the recipients' rows."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def opted_out(self, account_id: str, phone_numbers: Iterable[str]) -> set[str]:
        """Return those of up to 100 numbers (E.164) that opted out."""
        wanted = {keys.recipient(account_id, number): number for number in phone_numbers}
        if not wanted:
            return set()
        found = self._table.get_many(list(wanted))
        return {wanted[rows.key_of(row)] for row in found if "opted_out_at" in row}
