"""The same random requests on moto, through boto3, and on ours: the same answers, the same items at the end.

Left out is what moto does otherwise than AWS, as read in AWS's documents: comparing values of different types (moto
raises TypeError), NULL (moto reads it as absent), `size` of what is absent (moto raises ValueError), `IN` and `=` of an
absent attribute.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from botocore.exceptions import ClientError
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sandbox_dynamodb_builders import TABLE, World, a_world, key

from sandbox.dynamodb import DynamoDBError

# The attributes have one type each (`n` a number, `s` a string, `t` a set, `l` a list, `m` a map with a number `x`).
NUMBERS = st.sampled_from(["0", "1", "-1", "2", "2.5", "10", "1234567890123456789"]).map(lambda text: {"N": text})
STRINGS = st.sampled_from(["", "a", "ab", "b", "é", "abc"]).map(lambda text: {"S": text})
SETS = st.sets(st.sampled_from(["a", "b", "c"]), min_size=1).map(lambda members: {"SS": sorted(members)})
LISTS = st.lists(NUMBERS | STRINGS, max_size=3).map(lambda elements: {"L": elements})
MAPS = st.fixed_dictionaries({"x": NUMBERS}).map(lambda content: {"M": content})
ATTRIBUTES = {"n": NUMBERS, "s": STRINGS, "t": SETS, "l": LISTS, "m": MAPS}
VALUES = {":n": NUMBERS, ":s": STRINGS, ":t": SETS, ":l": LISTS, ":m": MAPS}
KEYS = st.builds(key, st.sampled_from(["p", "q"]), st.sampled_from(["a", "ab", "b"]))

SIMPLE = [
    *(f"{kind} {operator} :{kind}" for kind in ("n", "s") for operator in ("<", "<=", ">", ">=", "<>")),
    *("attribute_exists(n) AND n = :n", "attribute_exists(t) AND t = :t", "attribute_exists(l) AND l = :l"),
    *("attribute_exists(m)", "attribute_not_exists(s)", "attribute_exists(m.x)", "attribute_exists(l[1])"),
    *("contains(s, :s)", "contains(t, :s)", "begins_with(s, :s)", "contains(l, :n)", "m.x >= :n", "m <> :m"),
    *("attribute_exists(s) AND size(s) < :n", "attribute_exists(l) AND size(l) >= :n", "attribute_type(n, :s)"),
    *("attribute_exists(n) AND n IN (:n)", "n BETWEEN :n AND :n"),
]
CONDITIONS = st.recursive(
    st.sampled_from([text for text in SIMPLE if not text.startswith("attribute_type")]),
    lambda inner: (
        st.builds("({}) AND {}".format, inner, inner)
        | st.builds("{} OR ({})".format, inner, inner)
        | st.builds("NOT ({})".format, inner)
    ),
    max_leaves=4,
).filter(lambda text: "((" not in text)  # redundant parentheses, which moto and AWS refuse
UPDATES = st.lists(
    st.sampled_from(
        [
            *("SET n = :n", "SET n = if_not_exists(n, :n) + :n", "SET n = n - :n", "SET s = :s", "SET l = :l"),
            *("SET l = list_append(if_not_exists(l, :l), :l)", "SET m = :m", "SET m.x = :n", "SET l[1] = :s"),
            *("ADD n :n", "ADD t :t", "DELETE t :t", "REMOVE s", "REMOVE l[0]", "REMOVE n", "REMOVE m"),
        ]
    ),
    min_size=1,
    max_size=3,
).map(lambda clauses: _joined(clauses))


# What moto answers where AWS answers nothing.
_UNASKED = ("ResponseMetadata", "ConsumedCapacity")
_NO_OLD: tuple[str, dict[str, Any]] = ("Attributes", {})


def _joined(clauses: list[str]) -> str:
    """One section for each word, one clause for each attribute."""
    sections: dict[str, list[str]] = {}
    seen: set[str] = set()
    for clause in clauses:
        word, _, rest = clause.partition(" ")
        if rest[0] not in seen:
            seen.add(rest[0])
            sections.setdefault(word, []).append(rest)
    return " ".join(f"{word} {', '.join(rests)}" for word, rests in sections.items())


def _with_values(draw: Any, parameters: dict[str, Any]) -> dict[str, Any]:
    text = parameters.get("ConditionExpression", "") + parameters.get("UpdateExpression", "")
    text += parameters.get("FilterExpression", "")
    values = {name: draw(strategy) for name, strategy in VALUES.items() if name in text}
    return {**parameters, "ExpressionAttributeValues": values} if values else parameters


@st.composite
def writes(draw: Any) -> tuple[str, dict[str, Any]]:
    operation = draw(st.sampled_from(["PutItem", "UpdateItem", "UpdateItem", "DeleteItem"]))
    parameters: dict[str, Any] = {"TableName": TABLE}
    if operation == "PutItem":
        parameters["Item"] = {**draw(KEYS), **draw(st.fixed_dictionaries({}, optional=ATTRIBUTES))}
    else:
        parameters["Key"] = draw(KEYS)
    if operation == "UpdateItem":
        parameters["UpdateExpression"] = draw(UPDATES)
    if draw(st.booleans()):
        parameters["ConditionExpression"] = draw(CONDITIONS)
        parameters["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    choices = ["NONE", "ALL_OLD"] + (["ALL_NEW"] if operation == "UpdateItem" else [])
    parameters["ReturnValues"] = draw(st.sampled_from(choices))
    return operation, _with_values(draw, parameters)


ITEMS = st.builds(lambda item_key, attributes: {**item_key, **attributes}, KEYS, st.fixed_dictionaries(ATTRIBUTES))
FIRST_PUTS = st.lists(ITEMS, min_size=2, max_size=5).map(
    lambda items: [("PutItem", {"TableName": TABLE, "Item": item}) for item in items]
)


@st.composite
def queries(draw: Any) -> dict[str, Any]:
    ranges = ["", " AND sk = :sk", " AND sk < :sk", " AND sk >= :sk", " AND begins_with(sk, :sk)"]
    text = "pk = :pk" + draw(st.sampled_from([*ranges, " AND sk BETWEEN :sk AND :sk"]))
    parameters = {"TableName": TABLE, "KeyConditionExpression": text, "ScanIndexForward": draw(st.booleans())}
    if draw(st.booleans()):
        parameters["FilterExpression"] = draw(CONDITIONS)
    parameters = _with_values(draw, parameters)
    values = {":pk": {"S": draw(st.sampled_from(["p", "q"]))}}
    if ":sk" in text:
        values[":sk"] = {"S": draw(st.sampled_from(["a", "ab", "b"]))}
    return {**parameters, "ExpressionAttributeValues": {**parameters.get("ExpressionAttributeValues", {}), **values}}


def _comparable(value: Any) -> Any:
    """Numbers by value (moto keeps their text), sets without their order."""
    if isinstance(value, dict):
        if list(value) == ["N"] and isinstance(value["N"], str):
            return {"N": Decimal(value["N"])}
        if list(value) == ["SS"]:
            return {"SS": sorted(value["SS"])}
        kept = {name: inner for name, inner in value.items() if name not in _UNASKED and (name, inner) != _NO_OLD}
        return {name: _comparable(inner) for name, inner in kept.items()}
    return [_comparable(inner) for inner in value] if isinstance(value, list) else value


def _moto(world: World, operation: str, parameters: dict[str, Any]) -> tuple[str, Any]:
    method = {"PutItem": "put_item", "UpdateItem": "update_item", "DeleteItem": "delete_item", "Query": "query"}
    try:
        return "ok", _comparable(getattr(world.moto, method[operation])(**parameters))
    except ClientError as error:
        return error.response["Error"]["Code"], _comparable(error.response.get("Item"))


def _ours(world: World, operation: str, parameters: dict[str, Any]) -> tuple[str, Any]:
    try:
        return "ok", _comparable(world.dynamodb.call(operation, parameters))
    except DynamoDBError as error:
        return error.code, _comparable(error.details.get("Item"))


def _scanned(world: World) -> list[Any]:
    return [_comparable(item) for item in world.moto.scan(TableName=TABLE)["Items"]]


@pytest.fixture(scope="module")
def worlds() -> Any:
    with a_world() as ours:
        ours.moto.create_table(**{**_description(ours), "TableName": "motos"})
        yield ours


def _description(world: World) -> dict[str, Any]:
    table = world.moto.describe_table(TableName=TABLE)["Table"]
    wanted = ("KeySchema", "AttributeDefinitions")
    return {**{name: table[name] for name in wanted}, "BillingMode": "PAY_PER_REQUEST"}


def _empty(world: World) -> None:
    from moto.dynamodb.models import dynamodb_backends

    for table in dynamodb_backends["123456789012"]["us-east-1"].tables.values():
        table.items.clear()


@settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(first=FIRST_PUTS, requests=st.lists(writes(), min_size=1, max_size=6), query=queries())
def test_random_requests_have_the_same_answers_on_moto(
    worlds: World, first: list[Any], requests: list[Any], query: Any
) -> None:
    _empty(worlds)

    for operation, parameters in first + requests:
        expected = _moto(worlds, operation, {**parameters, "TableName": "motos"})
        assert (_ours(worlds, operation, parameters), operation, parameters) == (expected, operation, parameters)

    assert _ours(worlds, "Query", query) == _moto(worlds, "Query", {**query, "TableName": "motos"})
    assert _ours(worlds, "Query", query) == _moto(worlds, "Query", query)  # moto, on our items
    expected_items = [_comparable(item) for item in worlds.moto.scan(TableName="motos")["Items"]]
    assert _scanned(worlds) == expected_items
