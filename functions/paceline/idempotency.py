"""The same request again gets the same answer: rows that remember a customer's Idempotency-Key for a week."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from paceline import keys
from paceline.errors import IdempotencyKeyReused
from paceline.models import JsonObject
from paceline.retention import IDEMPOTENCY, expiry
from paceline.table import ConditionFailed, Put, Row, Table

_FREE = "attribute_not_exists(#pk) OR #expires_at <= :now"


@dataclass(frozen=True, slots=True)
class Once:
    """A request that is to be done once. key: the customer's, of any text; digest: of what is asked for."""

    account_id: str
    key: str
    digest: str
    now: datetime


def digest_of(*asked: object) -> str:
    """Return the digest of a request: of its values, not of their spelling (blanks, the order of fields)."""
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def find_answer(table: Table, once: Once) -> JsonObject | None:
    """Return the answer that the key got before, or None. Raises: IdempotencyKeyReused."""
    row = table.get(_key(once))
    return _answer(row, once) if row and row["expires_at"] > _epoch(once.now) else None


def remember(once: Once, answer: JsonObject) -> Put:
    """Return the write that gives the key its answer, if nobody gave it one meanwhile."""
    return _put(once, {"answer": json.dumps(answer)})


def do_once(table: Table, once: Once, do: Callable[[], JsonObject]) -> JsonObject:
    """Return the key's answer; where it has none, do it and keep what it answers. do: may be done twice, as after a
    time-out. The key is taken before, so that no other request can be done with it. Raises: IdempotencyKeyReused.
    """
    try:
        table.put(_put(once, {}))
    except ConditionFailed as taken:
        known = _answer(taken.old or {}, once)
        if known is not None:
            return known
    answer = do()
    table.put(Put(_row(once, {"answer": json.dumps(answer)}), "#digest = :digest", {"digest": once.digest}))
    return answer


def _answer(row: Row, once: Once) -> JsonObject | None:
    if row.get("digest") != once.digest:
        raise IdempotencyKeyReused(
            "This Idempotency-Key was used for another request; send the same body as then, or choose another key.",
            field="idempotency-key",
        )
    answer: JsonObject | None = json.loads(row["answer"]) if "answer" in row else None
    return answer


def _key(once: Once) -> keys.Key:
    return keys.idempotency(once.account_id, hashlib.sha256(once.key.encode()).hexdigest())


def _row(once: Once, values: JsonObject) -> Row:
    pk, sk = _key(once)
    return {"pk": pk, "sk": sk, "digest": once.digest, **expiry(once.now + IDEMPOTENCY), **values}


def _put(once: Once, values: JsonObject) -> Put:
    return Put(_row(once, values), _FREE, {"now": _epoch(once.now)})


def _epoch(moment: datetime) -> int:
    return int(moment.timestamp())
