"""The story's two ways for a send to take its credit and its place in the day: `rewrite` as it was, `add` as mended.

Each returns the writes of that send's one transaction, by the name of the row. The minute's counter was an ADD with a
condition in both, and each send has a row of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from paceline.keys import Key
from paceline.table import Action, Put, Row, Table, Update

# The story's cap of a day was 100,000 and did not bind on the days that are compared.
DAY_LIMIT = 10_000_000


@dataclass(frozen=True, slots=True)
class Reservation:
    """What one message reserves, by the rows that say so. ceiling: parts a minute."""

    account: Key
    day: Key
    minute: Key
    message: Key
    ceiling: int


Design = Callable[[Table, Reservation], dict[str, Action]]


def rewrite(table: Table, wanted: Reservation) -> dict[str, Action]:
    """Read account and day, change them, write them back whole on the condition that no revision has changed."""
    account, day = _read(table, wanted.account), _read(table, wanted.day)
    account |= {"available": account["available"] - 1, "reserved": account["reserved"] + 1}
    day |= {"attempts": day["attempts"] + 1}
    return {"account": _write_back(account), "day": _write_back(day), **_own(wanted)}


def add(table: Table, wanted: Reservation) -> dict[str, Action]:
    """Add to account and day where they are; the checks are conditions. Nothing is read before."""
    account = Update(
        wanted.account,
        "ADD #available :minus, #reserved :one, #revision :one",
        {"minus": -1, "one": 1, "approved": "approved", "active": "active"},
        condition="attribute_exists(#pk) AND #available >= :one AND #compliance_status = :approved "
        "AND #operational_status = :active",
    )
    return {"account": account, "day": _count(wanted.day, DAY_LIMIT), **_own(wanted)}


def first_rows(account: Key, day: Key, credits: int) -> list[Row]:
    """Return the rows that both designs find: an account with its credits, and a day that nobody has used."""
    states = {"compliance_status": "approved", "operational_status": "active"}
    return [
        {"pk": account[0], "sk": account[1], "available": credits, "reserved": 0, "revision": 0, **states},
        {"pk": day[0], "sk": day[1], "attempts": 0, "revision": 0},
    ]


def _read(table: Table, key: Key) -> Row:
    row = table.get(key)
    assert row is not None, f"{key} is one of first_rows"
    return row


def _write_back(row: Row) -> Put:
    seen = row["revision"]
    return Put(row | {"revision": seen + 1}, condition="#revision = :seen", values={"seen": seen})


def _own(wanted: Reservation) -> dict[str, Action]:
    pk, sk = wanted.message
    message = Put({"pk": pk, "sk": sk, "status": "claimed"}, condition="attribute_not_exists(#pk)")
    return {"minute": _count(wanted.minute, wanted.ceiling), "message": message}


def _count(key: Key, limit: int) -> Update:
    condition = "attribute_not_exists(#attempts) OR #attempts < :limit"
    return Update(key, "ADD #attempts :one", {"one": 1, "limit": limit}, condition)
