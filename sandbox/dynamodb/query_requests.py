"""Reading a Query: its index, its key condition, and whether AWS would take it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sandbox.dynamodb.errors import invalid, not_supported
from sandbox.dynamodb.expressions import Compiled, Expressions
from sandbox.dynamodb.keys import key_from_wire
from sandbox.dynamodb.queries import Query
from sandbox.dynamodb.trees import And, Between, Comparison, Condition, Path, Predicate, ValueName
from sandbox.dynamodb.values import Item, Value, item_from_wire

_RANGE_OPERATORS = frozenset({"=", "<", "<=", ">", ">="})


def read_query(table: Any, parameters: Mapping[str, Any]) -> Query:
    """Read and check a Query. Raises: ValidationException, NotSupportedBySandbox."""
    index = _index(table, parameters)
    hash_name, range_name = _schema(table, index)
    expressions = Expressions(parameters)
    key_condition = expressions.condition("KeyConditionExpression")
    filter_, projection = expressions.condition("FilterExpression"), expressions.projection()
    expressions.check_all_used()
    assert key_condition is not None
    hash_value, range_condition = _split(key_condition, hash_name, range_name, expressions.values)
    _check_types(table, {hash_name: [hash_value], range_name: _given(range_condition, expressions.values)})
    _check_filter(filter_, (hash_name, range_name))
    _check_select(parameters, projection)
    query = Query(
        table, index, hash_name, range_name, hash_value, range_condition, expressions, filter_, projection, parameters,
        None,
    )  # fmt: skip
    if "ExclusiveStartKey" in parameters:
        query.start = _start(query, parameters["ExclusiveStartKey"])
    return query


def _index(table: Any, parameters: Mapping[str, Any]) -> Any:
    name = parameters.get("IndexName")
    if name is None:
        return None
    for index in table.all_indexes():
        if index.name == name:
            if parameters.get("ConsistentRead") and index in table.global_indexes:
                raise invalid("Consistent reads are not supported on global secondary indexes")
            return index
    raise invalid(f"The table does not have the specified index: {name}")


def _schema(table: Any, index: Any) -> tuple[str, str | None]:
    if index is None:
        return table.hash_key_attr, table.range_key_attr
    names: dict[str, list[str]] = {"HASH": [], "RANGE": []}
    for element in index.schema:
        names[element["KeyType"]].append(element["AttributeName"])
    if len(names["HASH"]) != 1 or len(names["RANGE"]) > 1:
        raise not_supported("an index whose key has several attributes of one kind")
    return names["HASH"][0], (names["RANGE"] or [None])[0]  # type: ignore[list-item]


def _split(
    compiled: Compiled, hash_name: str, range_name: str | None, values: Mapping[str, Value]
) -> tuple[Value, Condition | None]:
    """Return the hash value and the condition on the range key. Raises: ValidationException."""
    tree = compiled.tree
    parts = [tree.left, tree.right] if isinstance(tree, And) else [tree]
    hash_value, others = None, []
    for part in parts:
        is_hash = isinstance(part, Comparison) and part.left == Path((hash_name,)) and part.operator == "="
        if is_hash and hash_value is None and isinstance(part.right, ValueName):  # type: ignore[union-attr]
            hash_value = values[part.right.name]  # type: ignore[union-attr]
        else:
            others.append(part)
    if hash_value is None:
        raise invalid(f"Query condition missed key schema element: {hash_name}")
    if not others:
        return hash_value, None
    if len(others) > 1 or range_name is None or not _is_range_condition(others[0], range_name):
        raise invalid("Invalid KeyConditionExpression: Query key condition not supported")
    return hash_value, others[0]  # type: ignore[return-value]


def _is_range_condition(part: Any, name: str) -> bool:
    path = Path((name,))
    if isinstance(part, Comparison):
        return part.left == path and part.operator in _RANGE_OPERATORS and isinstance(part.right, ValueName)
    if isinstance(part, Between):
        return part.operand == path and isinstance(part.low, ValueName) and isinstance(part.high, ValueName)
    is_prefix = isinstance(part, Predicate) and part.function == "begins_with"
    return is_prefix and part.path == path and isinstance(part.argument, ValueName)


def _given(condition: Condition | None, values: Mapping[str, Value]) -> list[Value]:
    return [] if condition is None else [values[part.name] for part in condition if isinstance(part, ValueName)]


def _check_types(table: Any, given: Mapping[str | None, list[Value]]) -> None:
    types = {definition["AttributeName"]: definition["AttributeType"] for definition in table.attr}
    for name, values in given.items():
        for value in values:
            if value[0] != types[name]:
                raise invalid(
                    "One or more parameter values were invalid: Condition parameter type does not match schema type"
                )
            if not value[1] and name == table.hash_key_attr:
                raise invalid(
                    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain "
                    f"an empty string value. Key: {name}"
                )


def _check_filter(filter_: Compiled | None, key_names: tuple[str | None, ...]) -> None:
    for name in _names_in(filter_.tree) if filter_ is not None else ():
        if name in key_names:
            raise invalid(
                f"Filter Expression can only contain non-primary key attributes: Primary key attribute: {name}"
            )


def _names_in(tree: Any) -> Iterator[str | int]:
    if isinstance(tree, Path):
        yield tree.parts[0]
    elif isinstance(tree, tuple):
        for part in tree:
            yield from _names_in(part)


def _check_select(parameters: Mapping[str, Any], projection: Compiled | None) -> None:
    select = parameters.get("Select")
    if select == "SPECIFIC_ATTRIBUTES" and projection is None:
        raise invalid(
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"
        )
    if select not in (None, "SPECIFIC_ATTRIBUTES") and projection is not None:
        raise invalid(f"Cannot specify the ProjectionExpression when choosing to get {select}")
    if select == "ALL_PROJECTED_ATTRIBUTES" and "IndexName" not in parameters:
        raise invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
    if select == "ALL_ATTRIBUTES" and "IndexName" in parameters:
        raise not_supported("Select=ALL_ATTRIBUTES on an index")
    limit = parameters.get("Limit")
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise invalid(f"Value '{limit}' at 'limit' failed to satisfy constraint: greater than or equal to 1")


def _start(query: Query, wire: Any) -> Item:
    start = item_from_wire(wire)
    if start.keys() != set(query.position_names()):
        raise invalid("The provided starting key is invalid")
    key_from_wire(query.table, {name: wire[name] for name in query.table.table_key_attrs})
    if start[query.hash_name] != query.hash_value:
        raise invalid("The provided starting key is outside query boundaries based on provided conditions")
    return start
