"""The table in DynamoDB, through boto3's low-level client.

botocore retries throttling and 5xx by itself, never a transaction conflict; that retry is the workflow's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from botocore.exceptions import BotoCoreError, ClientError

from paceline.adapters.service_faults import as_ours
from paceline.errors import PacelineError, TableThrottled, TransactionConflict
from paceline.keys import Key
from paceline.metrics import Metric, count
from paceline.table import Action, ConditionFailed, Delete, Put, Reason, Row, TransactionRefused, Update

_THROTTLED = {"ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded"}
_serialize_any = TypeSerializer().serialize
_deserialize_any = TypeDeserializer().deserialize


def _serialize(value: Any) -> dict[str, Any]:
    """Most values are text, which boto3 finds out last."""
    return {"S": value} if type(value) is str else dict(_serialize_any(value))


def _deserialize(value: dict[str, Any]) -> Any:
    """Return the value in Python's types; numbers that are whole as int.

    boto3's own way over Decimal takes three times as long, which a campaign of thousands of batches shows.
    """
    [(kind, held)] = value.items()
    match kind:
        case "S" | "BOOL":
            return held
        case "N":
            return int(held) if held.isdigit() else _plain(_deserialize_any(value))
        case "M":
            return {name: _deserialize(item) for name, item in held.items()}
        case "L":
            return [_deserialize(item) for item in held]
    return _plain(_deserialize_any(value))


@lru_cache(maxsize=512)
def _names(*expressions: str) -> dict[str, str]:
    return {f"#{name}": name for text in expressions for name in re.findall(r"#(\w+)", text)}


def _to_item(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _serialize(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value


def _to_row(item: Mapping[str, Any]) -> Row:
    return {name: _deserialize(value) for name, value in item.items()}


def _item_key(key: Key) -> dict[str, Any]:
    return {"pk": {"S": key[0]}, "sk": {"S": key[1]}}


def _expressions(action: Action) -> dict[str, Any]:
    """Return the parts of a request that its expressions need, and nothing that they do not use."""
    update = action.expression if isinstance(action, Update) else ""
    parts: dict[str, Any] = {}
    if update:
        parts["UpdateExpression"] = update
    if action.condition:
        parts["ConditionExpression"] = action.condition
        parts["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    if names := _names(update, action.condition):
        own = action.names if isinstance(action, Update) else {}
        parts["ExpressionAttributeNames"] = names | {f"#{name}": attribute for name, attribute in own.items()}
    if action.values:
        parts["ExpressionAttributeValues"] = {f":{name}": _serialize(value) for name, value in action.values.items()}
    return parts


class DynamoDBTable:
    """A `paceline.table.Table`."""

    def __init__(self, client: Any, name: str) -> None:
        self._client = client
        self._name = name

    def get(self, key: Key, *, consistent: bool = True) -> Row | None:
        """Return a row, or None."""
        answer = self._call("get_item", Key=_item_key(key), ConsistentRead=consistent)
        return _to_row(answer["Item"]) if "Item" in answer else None

    def query(self, partition: str, prefix: str = "", *, consistent: bool = True) -> Iterator[Row]:
        """Yield the rows of a partition whose sort key begins with `prefix`, in its order."""
        request: dict[str, Any] = {
            "KeyConditionExpression": "#pk = :pk" + (" AND begins_with(#sk, :prefix)" if prefix else ""),
            "ExpressionAttributeNames": {"#pk": "pk"} | ({"#sk": "sk"} if prefix else {}),
            "ExpressionAttributeValues": {":pk": {"S": partition}} | ({":prefix": {"S": prefix}} if prefix else {}),
            "ConsistentRead": consistent,
        }
        while True:
            answer = self._call("query", **request)
            yield from (_to_row(item) for item in answer["Items"])
            if "LastEvaluatedKey" not in answer:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def page(self, partition: str, limit: int, *, after: str = "", newest_first: bool = False) -> list[Row]:
        """Return up to `limit` rows of a partition, those behind the sort key `after` in the order asked for."""
        request: dict[str, Any] = {
            "KeyConditionExpression": "#pk = :pk",
            "ExpressionAttributeNames": {"#pk": "pk"},
            "ExpressionAttributeValues": {":pk": {"S": partition}},
            "ScanIndexForward": not newest_first,
            "ConsistentRead": True,
        } | ({"ExclusiveStartKey": _item_key((partition, after))} if after else {})
        found: list[Row] = []
        while len(found) < limit:
            answer = self._call("query", **request, Limit=limit - len(found))
            found += [_to_row(item) for item in answer["Items"]]
            if "LastEvaluatedKey" not in answer:
                break
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
        return found

    def get_many(self, keys: Sequence[Key], attributes: Sequence[str] = ()) -> list[Row]:
        """Return those of up to 100 rows that exist, in no order; only these attributes, where any are named."""
        if not keys:
            return []
        request: dict[str, Any] = {"Keys": [_item_key(key) for key in keys], "ConsistentRead": True}
        if attributes:
            request["ProjectionExpression"] = ", ".join(f"#{name}" for name in attributes)
            request["ExpressionAttributeNames"] = {f"#{name}": name for name in attributes}
        wanted = {self._name: request}
        rows: list[Row] = []
        while wanted:
            try:
                answer = self._client.batch_get_item(RequestItems=wanted)
            except (ClientError, BotoCoreError) as error:
                raise _as_ours(error) from error
            rows += [_to_row(item) for item in answer["Responses"].get(self._name, [])]
            wanted = answer.get("UnprocessedKeys") or {}
        return rows

    def put(self, action: Put) -> None:
        """Write a row. Raises: ConditionFailed, TransactionConflict, TableThrottled."""
        self._call("put_item", Item=_to_item(action.row), **_expressions(action))

    def update(self, action: Update, returning: str = "NONE") -> Row:
        """Change a row; return its attributes as `returning` says. Raises: as `put`."""
        answer = self._call("update_item", Key=_item_key(action.key), ReturnValues=returning, **_expressions(action))
        return _to_row(answer.get("Attributes", {}))

    def delete(self, action: Delete) -> None:
        """Remove a row. Raises: as `put`."""
        self._call("delete_item", Key=_item_key(action.key), **_expressions(action))

    def transact(self, actions: Sequence[Action]) -> None:
        """Do all the actions or none. Raises: TransactionRefused, TransactionConflict, TableThrottled.

        TransactionConflict only where nothing but conflicts refused it; a failed condition is the caller's to read.
        """
        items = [self._transact_item(action) for action in actions]
        try:
            self._client.transact_write_items(TransactItems=items)
        except ClientError as error:
            raise _cancelled(error, len(items)) from error
        except BotoCoreError as error:
            raise as_ours(error) from error

    def _transact_item(self, action: Action) -> dict[str, Any]:
        common = {"TableName": self._name, **_expressions(action)}
        if isinstance(action, Put):
            return {"Put": {"Item": _to_item(action.row), **common}}
        return {type(action).__name__: {"Key": _item_key(action.key), **common}}

    def _call(self, operation: str, **request: Any) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = getattr(self._client, operation)(TableName=self._name, **request)
            return answer
        except ClientError as error:
            code = error.response["Error"]["Code"]
            if code == "ConditionalCheckFailedException":
                old = error.response.get("Item")
                raise ConditionFailed(_to_row(old) if old else None) from error
            if code == "TransactionConflictException":
                count(Metric.CONFLICTS)
                raise TransactionConflict("a transaction holds the row", operation=operation) from error
            raise _as_ours(error) from error
        except BotoCoreError as error:
            raise as_ours(error) from error


def _as_ours(error: ClientError | BotoCoreError) -> PacelineError:
    code = error.response["Error"]["Code"] if isinstance(error, ClientError) else ""
    return TableThrottled(f"DynamoDB answered {code}", code=code) if code in _THROTTLED else as_ours(error)


def _cancelled(error: ClientError, actions: int) -> Exception:
    """Turn a cancelled transaction into what it means, by its reasons in order, never by its text."""
    code = error.response["Error"]["Code"]
    if code != "TransactionCanceledException":
        return _as_ours(error)
    listed = error.response.get("CancellationReasons") or []
    if len(listed) != actions:  # no evidence: nobody may guess a cap from it
        return TableThrottled("the transaction was cancelled without its reasons", listed=len(listed))
    reasons = [Reason(r.get("Code", "None"), _to_row(r["Item"]) if r.get("Item") else None) for r in listed]
    refused = {reason.code for reason in reasons} - {"None"}
    if "TransactionConflict" in refused:
        count(Metric.CONFLICTS)
    if "ConditionalCheckFailed" in refused:
        return TransactionRefused(reasons)
    if refused == {"TransactionConflict"}:
        return TransactionConflict("another transaction holds a row", reasons=[r.code for r in reasons])
    if refused & {"ThrottlingError", "ProvisionedThroughputExceeded"}:
        return TableThrottled("DynamoDB throttled the transaction", reasons=[r.code for r in reasons])
    return as_ours(error)  # ValidationError, ItemCollectionSizeLimitExceeded: a fault of ours, never retried
