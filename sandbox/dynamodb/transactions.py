"""Transactions: two phases, items held between them, and the tokens that make a retry harmless.

After Idziorek et al., USENIX ATC 2023: the prepare of all items is accepted or refused at once, nobody waits for a
lock, and once accepted the transaction commits, whatever becomes of its caller.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from sandbox.dynamodb.errors import DynamoDBError, invalid, transaction_cancelled
from sandbox.dynamodb.values import Value
from sandbox.dynamodb.writes import Write, read_write

MAXIMUM_ACTIONS = 100
MAXIMUM_BYTES = 4 * 1024 * 1024
TOKEN_SECONDS = 600  # a token is good for ten minutes after its transaction completed
ACTIONS = ("Put", "Update", "Delete", "ConditionCheck")
CONFLICT_MESSAGE = "Transaction is ongoing for the item"
Identity = tuple[str, Value, Value | None]
_REASONS = {"ConditionalCheckFailedException": "ConditionalCheckFailed", "ValidationException": "ValidationError"}


def read_actions(actions: Any, table_of: Callable[[Mapping[str, Any]], Any]) -> list[Write]:
    """Read TransactItems. Raises: ValidationException, ResourceNotFoundException, NotSupportedBySandbox."""
    if not actions or len(actions) > MAXIMUM_ACTIONS:
        raise invalid(
            "1 validation error detected: Value at 'transactItems' failed to satisfy constraint: "
            f"Member must have length less than or equal to {MAXIMUM_ACTIONS}, and greater than or equal to 1"
        )
    writes = [_read_action(action, table_of) for action in actions]
    if len({write.identity for write in writes}) != len(writes):
        raise invalid("Transaction request cannot include multiple operations on one item")
    return writes


def _read_action(action: Mapping[str, Any], table_of: Callable[[Mapping[str, Any]], Any]) -> Write:
    if len(action) != 1:
        raise invalid("TransactItems can only contain one of Check, Put, Update or Delete")
    ((name, parameters),) = action.items()
    if name not in ACTIONS:
        raise invalid(f"TransactItems can only contain one of Check, Put, Update or Delete, not {name}")
    return read_write(name, name, table_of(parameters), parameters)


class Holds:
    """Which items a transaction in flight has prepared."""

    def __init__(self) -> None:
        self._held: set[Identity] = set()

    def __contains__(self, identity: Identity) -> bool:
        return identity in self._held

    def prepare(self, writes: list[Write]) -> None:
        """Evaluate and hold all items, or none. Raises: TransactionCanceledException."""
        reasons = [self._refusal(write) for write in writes]
        if any(reason is not None for reason in reasons):
            raise transaction_cancelled([reason or {"Code": "None"} for reason in reasons])
        if sum(write.new.bytes for write in writes if write.new is not None) > MAXIMUM_BYTES:
            raise invalid("Transaction request size exceeded the maximum allowed size of 4 MB")
        self._held.update(write.identity for write in writes)

    def commit(self, writes: list[Write]) -> None:
        """Store what was prepared, and let go."""
        for write in writes:
            write.apply()
            self._held.discard(write.identity)

    def _refusal(self, write: Write) -> dict[str, Any] | None:
        if write.identity in self._held:
            return {"Code": "TransactionConflict", "Message": CONFLICT_MESSAGE}
        try:
            write.evaluate()
        except DynamoDBError as error:
            return {"Code": _REASONS.get(error.code, error.code), "Message": error.message, **error.details}
        return None


class Tokens:
    """The ClientRequestTokens of transactions that succeeded in the last ten minutes, and of those in flight."""

    def __init__(self) -> None:
        self._fingerprints: dict[str, bytes] = {}
        self._in_flight: set[str] = set()
        self._expiries: deque[tuple[int, str]] = deque()

    def begin(self, token: str, actions: Any, now: int) -> bool:
        """Start a transaction under a token; True: it has been done already. `now` in microseconds.

        Raises: IdempotentParameterMismatchException, TransactionInProgressException.
        """
        if not isinstance(token, str) or not 1 <= len(token) <= 36:
            raise invalid("Value at 'clientRequestToken' failed to satisfy constraint: length between 1 and 36")
        self._forget(now)
        fingerprint = _fingerprint(actions)
        known = self._fingerprints.setdefault(token, fingerprint)
        if known != fingerprint:
            raise DynamoDBError(
                "IdempotentParameterMismatchException",
                "The request uses the same client token as a previous, but non-identical request.",
            )
        if token in self._in_flight:
            raise DynamoDBError(
                "TransactionInProgressException", "The transaction with the given token is in progress."
            )
        if fingerprint is not known:
            return True
        self._in_flight.add(token)
        return False

    def succeeded(self, token: str, now: int) -> None:
        self._in_flight.discard(token)
        self._expiries.append((now + TOKEN_SECONDS * 1_000_000, token))

    def failed(self, token: str) -> None:
        """Forget a token whose transaction had no effect: it may be used again, for anything."""
        self._in_flight.discard(token)
        self._fingerprints.pop(token, None)

    def _forget(self, now: int) -> None:
        while self._expiries and self._expiries[0][0] <= now:
            self._fingerprints.pop(self._expiries.popleft()[1], None)


def _fingerprint(actions: Any) -> bytes:
    text = json.dumps(actions, sort_keys=True, default=repr)
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
