"""A table between the rules and the real one: it dies, or lets somebody else act, at a chosen call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from paceline.keys import Key
from paceline.table import Action, Delete, Put, Row, Table, Update

WRITES = frozenset({"put", "update", "delete", "transact"})


class Killed(BaseException):
    """The process ends here: nothing can catch it, as nothing catches a function's time-out."""


class WatchedTable:
    """Passes calls on. before, after: called with the method's name and its first argument, around every call."""

    def __init__(
        self,
        table: Table,
        before: Callable[[str, Any], None] | None = None,
        after: Callable[[str, Any], None] | None = None,
    ) -> None:
        self._table, self._before, self._after = table, before, after

    def _pass(self, method: str, first: Any, *rest: Any, **named: Any) -> Any:
        if self._before is not None:
            self._before(method, first)
        answer = getattr(self._table, method)(first, *rest, **named)
        if self._after is not None:
            self._after(method, first)
        return answer

    def get(self, key: Key, *, consistent: bool = True) -> Row | None:
        row: Row | None = self._pass("get", key, consistent=consistent)
        return row

    def get_many(self, keys: Sequence[Key], attributes: Sequence[str] = ()) -> list[Row]:
        rows: list[Row] = self._pass("get_many", keys, attributes)
        return rows

    def query(self, partition: str, prefix: str = "", *, consistent: bool = True) -> Iterator[Row]:
        rows: Iterator[Row] = self._pass("query", partition, prefix, consistent=consistent)
        return rows

    def page(self, partition: str, limit: int, *, after: str = "", newest_first: bool = False) -> list[Row]:
        rows: list[Row] = self._pass("page", partition, limit, after=after, newest_first=newest_first)
        return rows

    def put(self, action: Put) -> None:
        self._pass("put", action)

    def update(self, action: Update, returning: str = "NONE") -> Row:
        row: Row = self._pass("update", action, returning)
        return row

    def delete(self, action: Delete) -> None:
        self._pass("delete", action)

    def transact(self, actions: Sequence[Action]) -> None:
        self._pass("transact", actions)


def killed_before_write(table: Table, number: int) -> WatchedTable:
    """A table whose caller dies just before its write number `number` (from 1)."""
    return WatchedTable(table, before=_nth(number))


def killed_after_write(table: Table, number: int) -> WatchedTable:
    """A table whose caller dies once its write number `number` is done, before it learns of it."""
    return WatchedTable(table, after=_nth(number))


def meddled(table: Table, method: str, meddle: Callable[[], Any], *, times: int = 1) -> WatchedTable:
    """A table where somebody else acts just before the first `times` calls of a method."""
    left = times

    def before(called: str, _: Any) -> None:
        nonlocal left
        if called == method and left > 0:
            left -= 1
            meddle()

    return WatchedTable(table, before=before)


def _nth(number: int) -> Callable[[str, Any], None]:
    count = 0

    def act(method: str, _: Any) -> None:
        nonlocal count
        count += method in WRITES
        if method in WRITES and count == number:
            raise Killed

    return act
