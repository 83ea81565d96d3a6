"""Requests about many items: BatchGetItem, BatchWriteItem, TransactGetItems."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.dynamodb.errors import invalid, transaction_cancelled
from sandbox.dynamodb.parameters import check_parameters
from sandbox.dynamodb.reads import Read, read_of
from sandbox.dynamodb.transactions import CONFLICT_MESSAGE, MAXIMUM_ACTIONS, Holds
from sandbox.dynamodb.writes import Write, read_write

MAXIMUM_GETS, MAXIMUM_WRITES = 100, 25
MAXIMUM_ANSWER_BYTES = 16 * 1024 * 1024
TableNamed = Callable[[Any], Any]
_DUPLICATES = "Provided list of item keys contains duplicates"


@dataclass(frozen=True)
class BatchedGets:
    """The keys that a BatchGetItem asks of one table; `wire` is that part of the request."""

    table_name: str
    wire: Mapping[str, Any]
    reads: list[Read]


@dataclass(frozen=True)
class BatchedWrite:
    """One write of a BatchWriteItem; `wire` is that part of the request."""

    table_name: str
    wire: Mapping[str, Any]
    write: Write


def read_gets(request_items: Any, table_named: TableNamed) -> list[BatchedGets]:
    """Read a BatchGetItem. Raises: ValidationException, ResourceNotFoundException."""
    requests = []
    for table_name, wire in request_items.items():
        check_parameters("KeysAndAttributes", wire)
        table, shared = table_named(table_name), {name: value for name, value in wire.items() if name != "Keys"}
        reads = [read_of(table, {**shared, "Key": key}) for key in wire["Keys"]]
        requests.append(BatchedGets(table_name, wire, reads))
    identities = [(read.table.name, *read.key) for request in requests for read in request.reads]
    if not 1 <= len(identities) <= MAXIMUM_GETS:
        raise invalid(f"Too many items requested for the BatchGetItem call (1 to {MAXIMUM_GETS}): {len(identities)}")
    if len(set(identities)) != len(identities):
        raise invalid(_DUPLICATES)
    return requests


def answer_gets(requests: list[BatchedGets], found: Sequence[dict[str, Any] | None]) -> dict[str, Any]:
    """Return the answer to a BatchGetItem; what goes beyond 16 MB stays in UnprocessedKeys."""
    answer: dict[str, Any] = {"Responses": {request.table_name: [] for request in requests}, "UnprocessedKeys": {}}
    size, items = 0, iter(found)
    for request in requests:
        for wire_key, read in zip(request.wire["Keys"], request.reads, strict=True):
            item = next(items)
            size += read.item.bytes if read.item is not None else 0
            if size > MAXIMUM_ANSWER_BYTES:
                left = answer["UnprocessedKeys"].setdefault(request.table_name, {**request.wire, "Keys": []})
                left["Keys"].append(wire_key)
            elif item is not None:
                answer["Responses"][request.table_name].append(item)
    return answer


def read_writes(request_items: Any, table_named: TableNamed) -> list[BatchedWrite]:
    """Read a BatchWriteItem. Raises: ValidationException, ResourceNotFoundException."""
    requests = [
        BatchedWrite(table_name, wire, _read_batched_write(table_named(table_name), wire))
        for table_name, wires in request_items.items()
        for wire in wires
    ]
    if not 1 <= len(requests) <= MAXIMUM_WRITES:
        raise invalid(f"Too many items requested for the BatchWriteItem call (1 to {MAXIMUM_WRITES}): {len(requests)}")
    if len({request.write.identity for request in requests}) != len(requests):
        raise invalid(_DUPLICATES)
    return requests


def _read_batched_write(table: Any, wire: Mapping[str, Any]) -> Write:
    if len(wire) != 1 or next(iter(wire)) not in ("PutRequest", "DeleteRequest"):
        raise invalid("Supplied WriteRequest must contain exactly one of PutRequest and DeleteRequest")
    ((name, parameters),) = wire.items()
    return read_write("Put" if name == "PutRequest" else "Delete", name, table, parameters)


def read_transact_gets(actions: Any, table_of: Callable[[Mapping[str, Any]], Any]) -> list[Read]:
    """Read the TransactItems of a TransactGetItems. Raises: ValidationException, ResourceNotFoundException."""
    if not actions or len(actions) > MAXIMUM_ACTIONS:
        raise invalid(f"Value at 'transactItems' failed to satisfy constraint: 1 to {MAXIMUM_ACTIONS} members")
    reads = []
    for action in actions:
        if list(action) != ["Get"]:
            raise invalid("TransactItems of TransactGetItems can only contain Get")
        check_parameters("Get", action["Get"])
        reads.append(read_of(table_of(action["Get"]), {**action["Get"], "ConsistentRead": True}))
    return reads


def check_unheld(reads: list[Read], holds: Holds) -> None:
    """Raises: TransactionCanceledException, when a transaction in flight holds an item (unlike plain reads)."""
    held = [(read.table.name, *read.key) in holds for read in reads]
    if any(held):
        conflict = {"Code": "TransactionConflict", "Message": CONFLICT_MESSAGE}
        raise transaction_cancelled([conflict if is_held else {"Code": "None"} for is_held in held])


def units_by_table(accesses: Sequence[Read] | Sequence[Write], factor: int = 1) -> dict[str, float]:
    """Return the consumed units of each table; a transaction's count twice (`factor`)."""
    units: dict[str, float] = {}
    for access in accesses:
        units[access.table.name] = units.get(access.table.name, 0.0) + factor * access.units
    return units
