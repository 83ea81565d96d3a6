"""Which parameters each operation takes here. What is not in these tables is refused by name, never ignored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.dynamodb.errors import invalid, not_supported

_NAMES = {"ExpressionAttributeNames"}
_EXPRESSIONS = _NAMES | {"ConditionExpression", "ExpressionAttributeValues", "ReturnValuesOnConditionCheckFailure"}
_CAPACITY = {"ReturnConsumedCapacity"}
_METRICS = _CAPACITY | {"ReturnItemCollectionMetrics"}
_READ = _NAMES | {"ProjectionExpression"}

# Absent: the legacy parameters (Expected, AttributeUpdates, KeyConditions ...), which AWS advises against.
ACCEPTED: dict[str, frozenset[str]] = {
    "GetItem": frozenset(_READ | _CAPACITY | {"TableName", "Key", "ConsistentRead"}),
    "PutItem": frozenset(_EXPRESSIONS | _METRICS | {"TableName", "Item", "ReturnValues"}),
    "UpdateItem": frozenset(_EXPRESSIONS | _METRICS | {"TableName", "Key", "UpdateExpression", "ReturnValues"}),
    "DeleteItem": frozenset(_EXPRESSIONS | _METRICS | {"TableName", "Key", "ReturnValues"}),
    "Query": frozenset(
        _READ
        | _CAPACITY
        | {"TableName", "IndexName", "KeyConditionExpression", "FilterExpression", "ExpressionAttributeValues"}
        | {"Limit", "ScanIndexForward", "ExclusiveStartKey", "ConsistentRead", "Select"}
    ),
    "TransactWriteItems": frozenset(_METRICS | {"TransactItems", "ClientRequestToken"}),
    "TransactGetItems": frozenset(_CAPACITY | {"TransactItems"}),
    "BatchGetItem": frozenset(_CAPACITY | {"RequestItems"}),
    "BatchWriteItem": frozenset(_METRICS | {"RequestItems"}),
    # Parts of requests.
    "Put": frozenset(_EXPRESSIONS | {"TableName", "Item"}),
    "Update": frozenset(_EXPRESSIONS | {"TableName", "Key", "UpdateExpression"}),
    "Delete": frozenset(_EXPRESSIONS | {"TableName", "Key"}),
    "ConditionCheck": frozenset(_EXPRESSIONS | {"TableName", "Key"}),
    "Get": frozenset(_READ | {"TableName", "Key"}),
    "KeysAndAttributes": frozenset(_READ | {"Keys", "ConsistentRead"}),
    "PutRequest": frozenset({"Item"}),
    "DeleteRequest": frozenset({"Key"}),
}
_REQUIRED: dict[str, tuple[str, ...]] = {
    "GetItem": ("TableName", "Key"),
    "PutItem": ("TableName", "Item"),
    "UpdateItem": ("TableName", "Key"),
    "DeleteItem": ("TableName", "Key"),
    "Query": ("TableName", "KeyConditionExpression"),
    "TransactWriteItems": ("TransactItems",),
    "TransactGetItems": ("TransactItems",),
    "BatchGetItem": ("RequestItems",),
    "BatchWriteItem": ("RequestItems",),
    "Put": ("TableName", "Item"),
    "Update": ("TableName", "Key", "UpdateExpression"),
    "Delete": ("TableName", "Key"),
    "ConditionCheck": ("TableName", "Key", "ConditionExpression"),
    "Get": ("TableName", "Key"),
    "KeysAndAttributes": ("Keys",),
    "PutRequest": ("Item",),
    "DeleteRequest": ("Key",),
}
_OLD = ("NONE", "ALL_OLD")
_CHOICES: dict[str, tuple[str, ...]] = {
    "ReturnConsumedCapacity": ("NONE", "TOTAL", "INDEXES"),
    "ReturnValuesOnConditionCheckFailure": _OLD,
    "ReturnValues": (*_OLD, "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"),
    "Select": ("ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "SPECIFIC_ATTRIBUTES", "COUNT"),
}


def check_parameters(part: str, parameters: Mapping[str, Any]) -> None:
    """Check a request, or a part of one, before anything is read.

    Raises: ValidationException (missing or wrong), NotSupportedBySandbox (AWS would take it).
    """
    accepted = ACCEPTED[part]
    for name, value in parameters.items():
        if name not in accepted:
            raise not_supported(f"the parameter {name} of {part}")
        choices = _CHOICES.get(name)
        if choices is not None and value not in choices:
            raise invalid(f"Value '{value}' at '{name}' failed to satisfy constraint: member of {list(choices)}")
    for name in _REQUIRED[part]:
        if name not in parameters:
            raise invalid(f"The parameter '{name}' of {part} is required but was not present in the request")
    if parameters.get("ReturnItemCollectionMetrics", "NONE") != "NONE":
        raise not_supported("ReturnItemCollectionMetrics")
    if part in ("PutItem", "DeleteItem") and parameters.get("ReturnValues", "NONE") not in _OLD:
        raise invalid("ReturnValues can only be ALL_OLD or NONE")
