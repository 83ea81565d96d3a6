"""Customers' accounts, their credits and their keys."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from paceline import keys, rows
from paceline.errors import RequestInvalid
from paceline.models import Account
from paceline.table import ConditionFailed, Put, Row, Table, Update


def create_account(table: Table, account: Account) -> Account:
    """Create an account with its first credits; the same again changes nothing."""
    account = account.model_copy(update={"bought": account.available, "reserved": 0, "consumed": 0})
    try:
        table.put(Put(rows.account_row(account), condition="attribute_not_exists(#pk)"))
    except ConditionFailed as exists:
        return rows.to_account(exists.old or {})
    return account


def get_account(table: Table, account_id: str) -> Account:
    """Return an account. Raises: RequestInvalid, where there is none."""
    row = table.get(keys.account(account_id))
    if row is None:
        raise RequestInvalid(f"There is no account {account_id!r}.", account_id=account_id)
    return rows.to_account(row)


def buy_credits(table: Table, account_id: str, credit_count: int) -> Account:
    """Add bought credits (parts) to an account. Raises: RequestInvalid."""
    try:
        row = table.update(
            Update(
                keys.account(account_id),
                "ADD #available :n, #bought :n",
                {"n": credit_count},
                condition="attribute_exists(#pk)",
            ),
            returning="ALL_NEW",
        )
    except ConditionFailed:
        raise RequestInvalid(f"There is no account {account_id!r}.", account_id=account_id) from None
    return rows.to_account(row)


def key_digest(secret: str) -> str:
    """Return what is stored of an API key. Keys are long and random, so a plain hash cannot be guessed back."""
    return hashlib.sha256(secret.encode()).hexdigest()


def store_key(table: Table, secret: str, account_id: str, scope: str) -> None:
    """Keep an API key's hash. scope: "customer" (its account) or "operator" (every account)."""
    pk, sk = keys.api_key(key_digest(secret))
    table.put(Put({"pk": pk, "sk": sk, "account_id": account_id, "scope": scope}))


def find_key(table: Table, secret: str) -> Row | None:
    """Return the key's account and scope, or None."""
    return table.get(keys.api_key(key_digest(secret)))


def opt_out(table: Table, account_id: str, phone_number: str, at: str) -> None:
    """Note that a recipient said STOP. It meets the claim of any send to that number in one row."""
    table.update(Update(keys.recipient(account_id, phone_number), "SET #opted_out_at = :at", {"at": at}))


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
