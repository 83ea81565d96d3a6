"""Single items: what is written, what is answered, what is refused and how."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sandbox_dynamodb_builders import TABLE, World, a_world, add_one, fixed, key, n, put, s

from sandbox.dynamodb import DynamoDB, Latency


@pytest.fixture
def world() -> Iterator[World]:
    with a_world() as made:
        yield made


def update(expression: str, values: dict[str, Any] | None = None, **parameters: Any) -> dict[str, Any]:
    given = {} if values is None else {"ExpressionAttributeValues": values}
    return {"Key": key("p"), "UpdateExpression": expression, **given, **parameters}


def test_an_item_comes_back_as_it_was_put(world: World) -> None:
    item = {
        **key("p"),
        "number": n("-12.50"),
        "binary": {"B": "AQI="},
        "flag": {"BOOL": False},
        "nothing": {"NULL": True},
        "list": {"L": [s("x"), {"M": {"y": n(1)}}]},
        "set": {"NS": ["10", "9"]},
    }

    world.call("PutItem", Item=item)

    stored = {**item, "number": n("-12.5"), "binary": {"B": b"\x01\x02"}, "set": {"NS": ["9", "10"]}}
    assert world.item("p") == stored


def test_neither_the_request_nor_the_answer_shares_anything_with_the_table(world: World) -> None:
    item = {**key("p"), "list": {"L": [s("x")]}}
    world.call("PutItem", Item=item)
    item["list"]["L"].append(s("y"))

    world.item("p")["list"]["L"].append(s("z"))  # type: ignore[index]

    assert world.item("p") == {**key("p"), "list": {"L": [s("x")]}}


def test_a_failed_condition_carries_the_old_item_if_asked(world: World) -> None:
    world.call("PutItem", Item={**key("p"), "used": n(3)})
    parameters = {"Item": key("p"), "ConditionExpression": "attribute_not_exists(pk)"}

    plain = world.refusal(world.call, "PutItem", **parameters)
    asked = world.refusal(world.call, "PutItem", **parameters, ReturnValuesOnConditionCheckFailure="ALL_OLD")

    assert (plain.code, plain.details) == ("ConditionalCheckFailedException", {})
    assert asked.details == {"Item": {**key("p"), "used": n(3)}}


@pytest.mark.parametrize(
    ("return_values", "attributes"),
    [
        ("NONE", None),
        ("ALL_OLD", {**key("p"), "used": n(1), "kept": s("k")}),
        ("ALL_NEW", {**key("p"), "used": n(2), "kept": s("k"), "at": n(9)}),
        ("UPDATED_OLD", {"used": n(1)}),
        ("UPDATED_NEW", {"used": n(2), "at": n(9)}),
    ],
)
def test_an_update_returns_what_was_asked_for(world: World, return_values: str, attributes: Any) -> None:
    world.call("PutItem", Item={**key("p"), "used": n(1), "kept": s("k")})
    names = {"ExpressionAttributeNames": {"#at": "at"}}  # "at" is a reserved word

    answer = world.call(
        "UpdateItem",
        **update("SET used = used + :one, #at = :at", {":one": n(1), ":at": n(9)}, **names),
        ReturnValues=return_values,
    )

    assert answer.get("Attributes") == attributes


@pytest.mark.parametrize(
    ("before", "expression", "after"),
    [
        ({}, "SET a = if_not_exists(a, :n) + :n", {"a": n(4)}),
        ({"a": n("0.1")}, "ADD a :n", {"a": n("2.1")}),
        ({"a": n("99999999999999999999999999999999999999")}, "SET a = a - :n", {"a": n("9" * 37 + "7")}),
        ({"a": {"L": [n(1)]}}, "SET a = list_append(:l, a)", {"a": {"L": [s("x"), n(1)]}}),
        ({"a": {"L": [n(1), n(2), n(3)]}}, "REMOVE a[0], a[2]", {"a": {"L": [n(2)]}}),
        ({"a": {"L": [n(1)]}}, "SET a[7] = :n", {"a": {"L": [n(1), n(2)]}}),
        ({"a": {"M": {"b": {"M": {}}}}}, "SET a.b.c = :n", {"a": {"M": {"b": {"M": {"c": n(2)}}}}}),
        ({"a": {"SS": ["x", "y"]}}, "DELETE a :x", {"a": {"SS": ["y"]}}),
        ({"a": {"SS": ["x"]}}, "DELETE a :x", {}),  # an empty set is no attribute
        ({"a": n(1), "b": n(7)}, "SET a = b, b = a", {"a": n(7), "b": n(1)}),  # right sides see the old item
        ({"a": n(1)}, "REMOVE a, b", {}),
    ],
)
def test_update_expressions(world: World, before: dict[str, Any], expression: str, after: dict[str, Any]) -> None:
    world.call("PutItem", Item={**key("p"), **before})
    values = {":n": n(2), ":l": {"L": [s("x")]}, ":x": {"SS": ["x"]}}
    used = {name: value for name, value in values.items() if name in expression}

    world.call("UpdateItem", **update(expression, used or None))

    assert world.item("p") == {**key("p"), **after}


ITEM = {"n": n(5), "t": s("abc"), "l": {"L": [n(1), s("x")]}, "m": {"M": {"k": {"BOOL": True}}}, "e": {"NULL": True}}


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("n = :five", True),  # 5 = 5.0: numbers, not texts
        ("n BETWEEN :one AND :five", True),
        ("n IN (:one, :five)", True),
        ("t < :five", False),  # other types have no order
        ("absent <> :one", True),
        ("absent = lacking", False),
        ("NOT n = :one AND NOT (t = :one OR absent = :one)", True),
        ("n = :one OR n = :five AND t = :one", False),  # AND binds closer
        ("size(t) > :one and size(l) > :one", True),
        ("contains(l, :one)", True),
        ("contains(t, :b)", True),
        ("begins_with(t, :b)", False),
        ("attribute_exists(m.k) AND attribute_not_exists(m.j) AND attribute_not_exists(l[2])", True),
        ("attribute_type(e, :null)", True),
        ("attribute_exists(e)", True),  # NULL is a value
    ],
)
def test_conditions(world: World, condition: str, holds: bool) -> None:
    world.call("PutItem", Item={**key("p"), **ITEM})
    values = {":one": n(1), ":five": n("5.0"), ":b": s("b"), ":null": s("NULL")}
    used = {name: value for name, value in values.items() if name in condition}
    parameters = {"Key": key("p"), "ConditionExpression": condition}
    if used:
        parameters["ExpressionAttributeValues"] = used

    if holds:
        assert world.call("DeleteItem", **parameters) == {}
    else:
        assert world.refusal(world.call, "DeleteItem", **parameters).code == "ConditionalCheckFailedException"


ONE = {":one": n(1)}


@pytest.mark.parametrize(
    ("operation", "parameters", "message"),
    [
        ("UpdateItem", update("SET a = :two", ONE), "attribute value: :two"),
        ("UpdateItem", update("SET a = :one", {**ONE, ":two": n(2)}), "unused in expressions: keys: {:two}"),
        ("UpdateItem", update("SET #a = :one", ONE), "attribute name: #a"),
        ("UpdateItem", update("SET status = :one", ONE), "reserved keyword: status"),
        ("UpdateItem", update("SET a = :one SET b = :one", ONE), "can only be used once"),
        ("UpdateItem", update("SET a = :one, a.b = :one", ONE), "paths overlap"),
        ("UpdateItem", update("SET sk = :one", ONE), "Cannot update attribute sk"),
        ("UpdateItem", update("SET a.b = :one", ONE), "document path provided in the update expression is invalid"),
        ("UpdateItem", update("SET a = b + :one", ONE), "does not exist in the item"),
        ("UpdateItem", update("ADD a :one", {":one": s("1")}), "operand type: S"),
        ("UpdateItem", update("SET a = :one +", ONE), 'token: "<EOF>"'),
        ("UpdateItem", update(""), "can not be empty"),
        ("UpdateItem", update("REMOVE a", {}), "must not be empty"),
        ("PutItem", {"Item": {"pk": s("p")}}, "Missing the key sk"),
        ("PutItem", {"Item": {"pk": n(1), "sk": s("a")}}, "Type mismatch for key pk expected: S actual: N"),
        ("PutItem", {"Item": key("")}, "empty string value. Key: pk"),
        ("PutItem", {"Item": {**key("p"), "a": s("x" * 410_000)}}, "Item size has exceeded"),
        ("PutItem", {"Item": {**key("p"), "a": n("1" * 39)}}, "more than 38 significant digits"),
        ("PutItem", {"Item": {**key("p"), "a": n("ten")}}, "cannot be converted to a numeric value"),
        ("PutItem", {"Item": {**key("p"), "a": {"SS": []}}}, "set may not be empty"),
        ("PutItem", {"Item": key("p"), "ReturnValues": "ALL_NEW"}, "ALL_OLD or NONE"),
        ("GetItem", {"Key": {"pk": s("p")}}, "does not match the schema"),
        ("GetItem", {"Key": {**key("p"), "more": s("x")}}, "does not match the schema"),
        ("DeleteItem", {"Key": key("p"), "ConditionExpression": "a < :one", "ExpressionAttributeValues": {
            ":one": {"BOOL": True}}}, "operand type: BOOL"),
        ("DeleteItem", {"Key": key("p"), "ConditionExpression": "exists(a)"}, "Invalid function name"),
        ("DeleteItem", {"Key": key("p"), "ConditionExpression": "((a = b))"}, "redundant parentheses"),
        ("DeleteItem", {"Key": key("p"), "ConditionExpression": "a = a"}, "must be distinct"),
    ],
)  # fmt: skip
def test_a_request_that_aws_would_refuse_is_refused(
    world: World, operation: str, parameters: dict[str, Any], message: str
) -> None:
    refused = world.refusal(world.call, operation, **parameters)

    assert refused.code == "ValidationException"
    assert message in refused.message
    assert world.item("p") is None


def test_what_the_sandbox_does_not_do_it_refuses_by_name(world: World) -> None:
    parameter = world.refusal(world.call, "PutItem", Item=key("p"), Expected={})
    operation = world.refusal(world.call, "Scan")

    assert (parameter.code, operation.code) == ("NotSupportedBySandbox", "NotSupportedBySandbox")
    assert "Expected" in parameter.message
    assert "Scan" in operation.message
    assert "Scan" not in DynamoDB.OPERATIONS


def test_a_table_that_is_not_there_is_not_found(world: World) -> None:
    refused = world.refusal(world.dynamodb.call, "GetItem", {"TableName": "other", "Key": key("p")})

    assert refused.code == "ResourceNotFoundException"


def test_a_batch_reads_and_writes_many_items(world: World) -> None:
    requests = [{"PutRequest": {"Item": {**key(f"p{i}"), "v": n(i)}}} for i in range(3)]
    world.dynamodb.call("BatchWriteItem", {"RequestItems": {TABLE: requests}})

    keys = [key("p2"), key("absent"), key("p0")]
    answer = world.dynamodb.call("BatchGetItem", {"RequestItems": {TABLE: {"Keys": keys, "ProjectionExpression": "v"}}})

    assert answer == {"Responses": {TABLE: [{"v": n(2)}, {"v": n(0)}]}, "UnprocessedKeys": {}}


def test_a_batch_with_one_item_that_is_too_large_writes_nothing(world: World) -> None:
    items = [key("p"), {**key("q"), "a": s("x" * 410_000)}]
    requests = {TABLE: [{"PutRequest": {"Item": item}} for item in items]}

    refused = world.refusal(world.dynamodb.call, "BatchWriteItem", {"RequestItems": requests})

    assert refused.code == "ValidationException"
    assert world.item("p") is None


def test_every_call_is_reported_with_its_items_its_time_and_its_outcome() -> None:
    with a_world(Latency(write=fixed(0.006), prepare=fixed(0.010), commit=fixed(0.020))) as world:
        world.after(0.0, lambda: world.call("PutItem", Item={**key("p"), "a": s("x" * 2000)}))
        world.after(1.0, lambda: world.transact(add_one("p"), put("q", "attribute_exists(pk)")))

        world.scheduler.run()

        first, second = world.calls
        assert (first.operation, first.table, first.outcome) == ("PutItem", TABLE, "ok")
        assert (first.ended - first.started, first.write_units) == (6_000, 2.0)
        assert [tuple(access) for access in first.keys] == [("Put", TABLE, "p", "a")]
        assert (second.outcome, second.reasons) == ("TransactionCanceledException", ["None", "ConditionalCheckFailed"])
        assert [(access.action, access.pk) for access in second.keys] == [("Update", "p"), ("Put", "q")]
        assert second.ended - second.started == 10_000


@pytest.mark.parametrize(("kill_after", "written"), [(0.002, False), (0.004, True)], ids=["before", "after the effect"])
def test_a_caller_may_die_on_either_side_of_a_write(kill_after: float, written: bool) -> None:
    with a_world(Latency(write=fixed(0.006))) as world:
        caller = world.after(0.0, lambda: world.call("PutItem", Item=key("p")))
        world.after(kill_after, caller.kill)

        world.scheduler.run()

        assert (world.item("p") is not None) is written
        assert world.calls[0].outcome == ("ok" if written else "GreenletExit")


def test_consumed_capacity_is_answered_if_asked(world: World) -> None:
    write = world.call("PutItem", Item={**key("p"), "a": s("x" * 1500)}, ReturnConsumedCapacity="TOTAL")
    read = world.call("GetItem", Key=key("p"), ConsistentRead=True, ReturnConsumedCapacity="TOTAL")

    assert write["ConsumedCapacity"] == {"TableName": TABLE, "CapacityUnits": 2.0}
    assert read["ConsumedCapacity"] == {"TableName": TABLE, "CapacityUnits": 1.0}
