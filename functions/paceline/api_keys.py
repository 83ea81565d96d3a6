"""API keys: shown once, kept as a keyed hash, compared in constant time, revoked for good.

A key reads `pk_<key_id>_<secret>`. The key_id is public: it finds the row, and the audit names the key by it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Sequence
from typing import Any, Literal

from paceline import keys
from paceline.audit import Signature, account_subject, audit_row, transact
from paceline.errors import ObjectNotFound
from paceline.models import JsonObject
from paceline.moments import iso
from paceline.table import Action, Put, Row, Table, TransactionRefused, Update

Scope = Literal["customer", "operator"]

# Operators' keys belong to no customer: this stands for their account, and their changes are in its audit.
OPERATORS = "operators"

_KEY = re.compile(r"pk_([a-z0-9]{4,32})_[A-Za-z0-9_-]{20,100}", re.ASCII)
_SHOWN = ("key_id", "account_id", "scope", "name", "created_at", "created_by", "revoked_at", "revoked_by")
_AT_ONCE = 100  # rows that one read takes


def key_id_of(api_key: str) -> str:
    """Return the public id within an API key's text; blank: it is none."""
    found = _KEY.fullmatch(api_key)
    return found[1] if found else ""


def find_key(table: Table, pepper: bytes, api_key: str) -> Row | None:
    """Return the row of the key, which names its account, scope and name; None: unknown, or revoked."""
    key_id = key_id_of(api_key)
    row = table.get(keys.api_key(key_id)) if key_id else None
    if row is None or "revoked_at" in row:
        return None
    return row if hmac.compare_digest(row["digest"], _digest(pepper, api_key)) else None


def store_key(table: Table, pepper: bytes, api_key: str, account_id: str, scope: Scope, *, name: str = "") -> str:
    """Keep an API key's keyed hash; return its id. scope: "customer" (its account) or "operator" (every account).

    Nobody signs for it: so the first operator's key is made. Raises: TransactionRefused, where its id is taken.
    """
    row = {"account_id": account_id, "scope": scope, "name": name}
    transact(table, _key_puts(pepper, api_key, row))
    return key_id_of(api_key)


def create_key(
    table: Table, pepper: bytes, api_key: str, account_id: str, scope: Scope, name: str, signature: Signature
) -> str:
    """Keep an API key's hash as `store_key` does, on an operator's behalf; return its id."""
    key_id = key_id_of(api_key)
    row = {"account_id": account_id, "scope": scope, "name": name}
    made = {f"key {key_id}": {"before": None, "after": {"scope": scope, "name": name}}}
    stamped = row | {"created_at": iso(signature.at), "created_by": signature.key_id}
    audit = audit_row(account_subject(account_id), signature, made)
    transact(table, [*_key_puts(pepper, api_key, stamped), audit])
    return key_id


def keys_of(table: Table, account_id: str) -> list[JsonObject]:
    """Return the account's keys, by id: whose, since when, revoked when and by whom; never anything of the secret."""
    listed = [keys.api_key(row["sk"]) for row in table.query(keys.account_keys(account_id))]
    pages = (listed[start : start + _AT_ONCE] for start in range(0, len(listed), _AT_ONCE))
    found = [row for page in pages for row in table.get_many(page)]
    return sorted((_shown(row) for row in found), key=lambda shown: str(shown["key_id"]))


def revoke_key(table: Table, key_id: str, signature: Signature) -> JsonObject:
    """Revoke a key from the next request on; the same again changes nothing. Raises: ObjectNotFound."""
    row = table.get(keys.api_key(key_id))
    if row is None:
        raise ObjectNotFound(f"There is no API key {key_id!r}.", key_id=key_id)
    stamp = {"at": iso(signature.at), "by": signature.key_id}
    revoke = Update(
        keys.api_key(key_id),
        "SET #revoked_at = :at, #revoked_by = :by",
        stamp,
        condition="attribute_exists(#pk) AND attribute_not_exists(#revoked_at)",
    )
    change = {f"key {key_id}": {"before": {"scope": row["scope"], "name": row["name"]}, "after": None}}
    try:
        transact(table, [revoke, audit_row(account_subject(row["account_id"]), signature, change)])
    except TransactionRefused as refused:  # it is revoked already
        return _shown(refused.reasons[0].old or row)
    return _shown(row | {"revoked_at": stamp["at"], "revoked_by": stamp["by"]})


def _digest(pepper: bytes, api_key: str) -> str:
    return hmac.new(pepper, api_key.encode(), hashlib.sha256).hexdigest()


def _key_puts(pepper: bytes, api_key: str, values: dict[str, Any]) -> Sequence[Action]:
    """Return the writes of the key's row and of its place in the account's list."""
    key_id = key_id_of(api_key)
    if not key_id:
        raise ValueError("an API key reads pk_<key_id>_<at least 20 characters>")
    pk, sk = keys.api_key(key_id)
    row = {"pk": pk, "sk": sk, "key_id": key_id, "digest": _digest(pepper, api_key), **values}
    listed = {"pk": keys.account_keys(values["account_id"]), "sk": key_id}
    return [Put(row, condition="attribute_not_exists(#pk)"), Put(listed)]


def _shown(row: Row) -> JsonObject:
    return {name: row.get(name) for name in _SHOWN}
