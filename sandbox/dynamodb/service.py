"""The data plane: takes an operation and its parameters, lets its time pass, gives its effect and its answer."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, TypeVar

from moto.dynamodb.models import dynamodb_backends

from sandbox.dynamodb import batches
from sandbox.dynamodb.calls import Call, ItemAccess, Latency
from sandbox.dynamodb.capacity import Consumed
from sandbox.dynamodb.errors import DynamoDBError, not_supported
from sandbox.dynamodb.parameters import check_parameters
from sandbox.dynamodb.query_requests import read_query
from sandbox.dynamodb.reads import Read, read_of
from sandbox.dynamodb.transactions import CONFLICT_MESSAGE, Holds, Tokens, read_actions
from sandbox.dynamodb.writes import Write, read_write
from sandbox.scheduler import Scheduler

T = TypeVar("T")
_ACTIONS = {"PutItem": "Put", "UpdateItem": "Update", "DeleteItem": "Delete"}


class DynamoDB:
    """DynamoDB's item operations on moto's tables of one account and region.

    Time: inside a task of the scheduler a call takes what `latency` says; outside one it takes none.
    rng: the run's source of chance. Nothing here draws from it: all chance is in `latency`.
    on_call: told of every call when it is over, refused ones too.
    """

    OPERATIONS: frozenset[str] = frozenset(
        {"GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query"}
        | {"TransactWriteItems", "TransactGetItems", "BatchGetItem", "BatchWriteItem"}
    )

    def __init__(
        self,
        scheduler: Scheduler,
        latency: Latency,
        rng: random.Random,
        *,
        account: str,
        region: str,
        on_call: Callable[[Call], None] | None = None,
    ) -> None:
        self._scheduler = scheduler
        self._latency = latency
        self._rng = rng
        self._account, self._region = account, region
        self._on_call = on_call
        self._holds = Holds()
        self._tokens = Tokens()
        self._committing: set[int] = set()  # ids of the records that their commit will report
        self._operations: dict[str, Callable[[Mapping[str, Any], Call], dict[str, Any]]] = {
            "GetItem": self._get_item,
            "PutItem": self._write_item,
            "UpdateItem": self._write_item,
            "DeleteItem": self._write_item,
            "Query": self._query,
            "TransactWriteItems": self._transact_write_items,
            "TransactGetItems": self._transact_get_items,
            "BatchGetItem": self._batch_get_item,
            "BatchWriteItem": self._batch_write_item,
        }

    def call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Answer one operation as boto3 shows it after parsing (binary as bytes; no ResponseMetadata).

        parameters: as on the wire; binary may be base64 text or bytes. Nothing of it is kept or changed.
        Raises: DynamoDBError.
        """
        answer = self._operations.get(operation)
        if answer is None:
            raise not_supported(f"the operation {operation}")
        record = Call(operation, str(parameters.get("TableName", "")), self._scheduler.microseconds)
        record.caller = self._scheduler.current
        try:
            result = answer(parameters, record)
            record.outcome = record.outcome or "ok"
            return result
        except DynamoDBError as error:
            record.outcome = error.code
            raise
        except BaseException as error:  # a killed caller; what had been done stays done
            record.outcome = record.outcome or type(error).__name__
            raise
        finally:
            if id(record) in self._committing:  # its commit reports it, before or after this
                self._committing.discard(id(record))
            else:
                self._report(record)

    def peek(self, table_name: str, key: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return an item (on the wire) as it is at this instant, for who looks on: no call, no time, no count."""
        return read_of(self._table_named(table_name), {"Key": key}).look()

    # -- plain calls --------------------------------------------------------------------------------------------

    def _get_item(self, parameters: Mapping[str, Any], record: Call) -> dict[str, Any]:
        check_parameters("GetItem", parameters)
        read = read_of(self._table(parameters), parameters)
        item = self._timed(self._drawn(self._latency.read), record, lambda: self._look([read], record))[0]
        answer = {} if item is None else {"Item": item}
        return Consumed(parameters, {read.table.name: record.read_units}).added_to(answer)

    def _write_item(self, parameters: Mapping[str, Any], record: Call) -> dict[str, Any]:
        write = read_write(_ACTIONS[record.operation], record.operation, self._table(parameters), parameters)
        self._timed(self._drawn(self._latency.write), record, lambda: self._write(write, record))
        attributes = write.returned(parameters.get("ReturnValues", "NONE"))
        answer = {} if attributes is None else {"Attributes": attributes}
        return Consumed(parameters, {write.table.name: record.write_units}).added_to(answer)

    def _query(self, parameters: Mapping[str, Any], record: Call) -> dict[str, Any]:
        check_parameters("Query", parameters)
        query = read_query(self._table(parameters), parameters)
        record.keys.append(ItemAccess.of("Query", query.table.name, query.hash_value, None))
        answer = self._timed(self._drawn(self._latency.read), record, query.run)
        record.read_units, record.items_read = query.units, len(query.scanned)
        return Consumed(parameters, {query.table.name: record.read_units}).added_to(answer)

    def _batch_get_item(self, parameters: Mapping[str, Any], record: Call) -> dict[str, Any]:
        check_parameters("BatchGetItem", parameters)
        requests = batches.read_gets(parameters["RequestItems"], self._table_named)
        reads = [read for request in requests for read in request.reads]
        found = self._timed(self._drawn(self._latency.read), record, lambda: self._look(reads, record))
        answer = batches.answer_gets(requests, found)
        return Consumed(parameters, batches.units_by_table(reads)).added_to(answer, as_list=True)

    def _batch_write_item(self, parameters: Mapping[str, Any], record: Call) -> dict[str, Any]:
        check_parameters("BatchWriteItem", parameters)
        requests = batches.read_writes(parameters["RequestItems"], self._table_named)
        unprocessed = self._timed(self._drawn(self._latency.write), record, lambda: self._write_batch(requests, record))
        consumed = batches.units_by_table([request.write for request in requests])
        return Consumed(parameters, consumed).added_to({"UnprocessedItems": unprocessed}, as_list=True)

    # -- transactions -------------------------------------------------------------------------------------------

    def _transact_write_items(self, parameters: Mapping[str, Any], record: Call) -> dict[str, Any]:
        check_parameters("TransactWriteItems", parameters)
        writes = read_actions(parameters["TransactItems"], self._table)
        record.table = writes[0].table.name
        record.keys.extend(ItemAccess.of(write.action, write.table.name, *write.key) for write in writes)
        token = parameters.get("ClientRequestToken")
        if token is not None and self._tokens.begin(token, parameters["TransactItems"], self._scheduler.microseconds):
            self._pass(self._drawn(self._latency.read))  # it looks the token up, no more
        else:
            self._transact(writes, token, record)
        return Consumed(parameters, batches.units_by_table(writes, factor=2)).added_to({}, as_list=True)

    def _transact(self, writes: list[Write], token: str | None, record: Call) -> None:
        prepare_seconds, commit_seconds = self._drawn(self._latency.prepare), self._drawn(self._latency.commit)
        try:
            self._pass(prepare_seconds)
            self._prepare(writes, record)
        except BaseException:
            if token is not None:
                self._tokens.failed(token)
            raise
        if self._scheduler.current is None or commit_seconds <= 0:
            self._commit(writes, token, record)
            return
        done = self._scheduler.future()
        self._committing.add(id(record))

        def commit() -> None:  # in the loop, not in the caller's task: the caller may be dead by then
            self._commit(writes, token, record)
            self._report(record)
            done.set()

        self._scheduler.call_after(commit_seconds, commit)
        done.wait()

    def _prepare(self, writes: list[Write], record: Call) -> None:
        try:
            self._holds.prepare(writes)
        except DynamoDBError as error:
            record.reasons = [reason["Code"] for reason in error.details.get("CancellationReasons", [])]
            raise
        finally:
            record.write_units = 2.0 * sum(write.units for write in writes)

    def _commit(self, writes: list[Write], token: str | None, record: Call) -> None:
        self._holds.commit(writes)
        record.outcome = "ok"
        if token is not None:
            self._tokens.succeeded(token, self._scheduler.microseconds)

    def _transact_get_items(self, parameters: Mapping[str, Any], record: Call) -> dict[str, Any]:
        check_parameters("TransactGetItems", parameters)
        reads = batches.read_transact_gets(parameters["TransactItems"], self._table)
        found = self._timed(self._drawn(self._latency.read), record, lambda: self._look_unheld(reads, record))
        answer = {"Responses": [{} if item is None else {"Item": item} for item in found]}
        return Consumed(parameters, batches.units_by_table(reads, factor=2)).added_to(answer, as_list=True)

    # -- effects: each happens at one instant -------------------------------------------------------------------

    def _look(self, reads: list[Read], record: Call) -> list[dict[str, Any] | None]:
        record.keys.extend(ItemAccess.of("Get", read.table.name, *read.key) for read in reads)
        found = [read.look() for read in reads]
        record.read_units, record.items_read = sum(read.units for read in reads), len(reads)
        return found

    def _look_unheld(self, reads: list[Read], record: Call) -> list[dict[str, Any] | None]:
        found = self._look(reads, record)
        record.read_units *= 2
        batches.check_unheld(reads, self._holds)
        return found

    def _write(self, write: Write, record: Call) -> None:
        record.keys.append(ItemAccess.of(write.action, write.table.name, *write.key))
        if write.identity in self._holds:
            raise DynamoDBError("TransactionConflictException", CONFLICT_MESSAGE)
        try:
            write.evaluate()
        finally:
            record.write_units += write.units
        write.apply()

    def _write_batch(self, requests: list[batches.BatchedWrite], record: Call) -> dict[str, list[Any]]:
        unprocessed: dict[str, list[Any]] = {}
        for request in requests:
            try:
                self._write(request.write, record)
            except DynamoDBError as error:
                if error.code != "TransactionConflictException":
                    raise
                unprocessed.setdefault(request.table_name, []).append(request.wire)
        return unprocessed

    # -- time, tables, reports ----------------------------------------------------------------------------------

    def _timed(self, seconds: float, record: Call, effect: Callable[[], T]) -> T:
        """Let half of the time pass before the effect and half after it: a caller may die on either side of it."""
        self._pass(seconds / 2)
        try:
            result = effect()
        except DynamoDBError:
            self._pass(seconds / 2)
            raise
        record.outcome = "ok"
        self._pass(seconds / 2)
        return result

    def _pass(self, seconds: float) -> None:
        if seconds > 0 and self._scheduler.current is not None:
            self._scheduler.sleep(seconds)

    def _table(self, parameters: Mapping[str, Any]) -> Any:
        return self._table_named(parameters.get("TableName"))

    @cached_property
    def _backend(self) -> Any:
        return dynamodb_backends[self._account][self._region]

    def _table_named(self, name: Any) -> Any:
        """Return moto's table, by name or ARN. Raises: ResourceNotFoundException."""
        if isinstance(name, str) and name.startswith("arn:"):
            name = name.rpartition("table/")[2]
        table = self._backend.tables.get(name)
        if table is None:
            raise DynamoDBError("ResourceNotFoundException", f"Requested resource not found: Table: {name} not found")
        return table

    def _drawn(self, latency: Callable[[], float]) -> float:
        """Draw a call's time, only where it passes: a look from outside must not move the chances of the run."""
        return latency() if self._scheduler.current is not None else 0.0

    def _report(self, record: Call) -> None:
        record.ended = self._scheduler.microseconds
        if self._on_call is not None:
            self._on_call(record)
