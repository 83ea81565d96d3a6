"""Customers' accounts and their credits."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from paceline import keys, rows
from paceline.audit import MAX_TRIES, Change, Signature, account_subject, audit_row, make_change, transact
from paceline.errors import ChangedMeanwhile, RequestInvalid, TransactionConflict
from paceline.idempotency import Once, find_answer, remember
from paceline.models import Account
from paceline.table import Action, Put, Row, Table, TransactionRefused, Update


def create_account(table: Table, account: Account, signature: Signature) -> Account:
    """Create an account with its first credits; the same again changes nothing.

    Raises: ChangedMeanwhile, where there is one of this id that was given another name, cap or other credits.
    """
    account = account.model_copy(update={"bought": account.available, "reserved": 0, "consumed": 0})
    first = {"name": account.name or None, "bought": account.bought, "parts_per_day": account.parts_per_day}
    made = {name: {"before": None, "after": value} for name, value in first.items() if value is not None}
    put = Put(rows.account_row(account), condition="attribute_not_exists(#pk)")
    listed = Put({"pk": keys.account_names(), "sk": account.account_id})
    try:
        transact(table, [put, listed, audit_row(account_subject(account.account_id), signature, made)])
    except TransactionRefused as exists:
        there = rows.to_account(exists.reasons[0].old or {})
        if any(getattr(there, name) != getattr(account, name) for name in ("name", "bought", "parts_per_day")):
            told = f"There is an account {account.account_id!r} as it is `now`: change that, or choose another id."
            raise ChangedMeanwhile(told, field="account_id", now=there.model_dump(mode="json")) from None
        return there
    return account


def account_ids(table: Table) -> list[str]:
    """Return the id of every account, in order."""
    return [row["sk"] for row in table.query(keys.account_names())]


def audit_import(table: Table, account_id: str, what: str, how_many: int, signature: Signature) -> None:
    """Note in the account's audit that so many of something were added to its list."""
    if how_many:
        added = {what: {"before": None, "after": {"added": how_many}}}
        transact(table, [audit_row(account_subject(account_id), signature, added)])


def get_account(table: Table, account_id: str) -> Account:
    """Return an account. Raises: RequestInvalid, where there is none."""
    return rows.to_account(_row(table, account_id))


def _row(table: Table, account_id: str) -> Row:
    row = table.get(keys.account(account_id))
    if row is None:
        raise RequestInvalid(f"There is no account {account_id!r}.", field="account_id", account_id=account_id)
    return row


def account_use(table: Table, account_id: str, day: date) -> int:
    """Return how many parts of the account's day are leased or sent; 0 where it has no day cap."""
    return int((table.get(keys.account_day(account_id, day)) or {}).get("used", 0))


def change_account(
    table: Table, account_id: str, fields: Mapping[str, Any], signature: Signature, *, revision: int | None = None
) -> bool:
    """Change an account's name, day cap or statuses; None removes the cap. Return whether it changed.

    Raises: RequestInvalid, ChangedMeanwhile, TransactionConflict.
    """
    subject, row = account_subject(account_id), _row(table, account_id)
    return make_change(table, Change(subject, keys.account(account_id), row, fields, signature, revision))


def buy_credits(
    table: Table, account_id: str, credit_count: int, signature: Signature, once: Once | None = None
) -> Account:
    """Add bought credits (parts) to an account. Two purchases at once both count; the same `once` again buys nothing.

    Raises: RequestInvalid, IdempotencyKeyReused, TransactionConflict.
    """
    for _ in range(MAX_TRIES):
        if once is not None and find_answer(table, once) is not None:
            return get_account(table, account_id)
        before = _row(table, account_id).get("bought", 0)
        differences = {"bought": {"before": before, "after": before + credit_count}}
        add = Update(
            keys.account(account_id),
            "ADD #available :n, #bought :n",
            {"n": credit_count, "before": before},
            condition="#bought = :before",
        )
        actions: list[Action] = [add, audit_row(account_subject(account_id), signature, differences)]
        try:
            transact(table, actions + ([remember(once, {"bought": credit_count})] if once else []))
        except TransactionRefused:  # another purchase came between, or this one did: the next look sees it
            continue
        return get_account(table, account_id)
    raise TransactionConflict("other purchases came before every try", account_id=account_id)
