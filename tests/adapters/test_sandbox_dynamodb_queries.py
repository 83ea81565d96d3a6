"""Query: order, bounds, pages, filters, indexes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sandbox_dynamodb_builders import World, a_world, key, n, s

INDEX = {
    "IndexName": "by-status",
    "KeySchema": [{"AttributeName": "state", "KeyType": "HASH"}, {"AttributeName": "due", "KeyType": "RANGE"}],
    "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["kept"]},
}
ATTRIBUTES = [
    {"AttributeName": name, "AttributeType": kind}
    for name, kind in (("pk", "S"), ("sk", "S"), ("state", "S"), ("due", "N"))
]


@pytest.fixture
def world() -> Iterator[World]:
    with a_world(GlobalSecondaryIndexes=[INDEX], AttributeDefinitions=ATTRIBUTES) as made:
        for i, sk in enumerate(["m#3", "m#1", "a", "z", "m#2"]):
            due = {"state": s("waiting"), "due": n(10 - i), "kept": s(sk), "lost": s("x")}
            made.call("PutItem", Item={**key("p", sk), "i": n(i), **due})
        made.call("PutItem", Item=key("q"))
        yield made


def query(world: World, condition: str, values: dict[str, Any], **parameters: Any) -> dict[str, Any]:
    return world.call(
        "Query", KeyConditionExpression=condition, ExpressionAttributeValues=values, **parameters
    )  # fmt: skip


def range_keys(answer: dict[str, Any]) -> list[str]:
    return [item["sk"]["S"] for item in answer["Items"]]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("pk = :p", ["a", "m#1", "m#2", "m#3", "z"]),
        ("sk = :x AND pk = :p", ["m#2"]),
        ("pk = :p AND sk < :x", ["a", "m#1"]),
        ("pk = :p AND sk <= :x", ["a", "m#1", "m#2"]),
        ("pk = :p AND sk > :x", ["m#3", "z"]),
        ("pk = :p AND sk >= :x", ["m#2", "m#3", "z"]),
        ("pk = :p AND sk BETWEEN :a AND :x", ["a", "m#1", "m#2"]),
        ("pk = :p AND begins_with(sk, :m)", ["m#1", "m#2", "m#3"]),
    ],
)
def test_key_conditions_bound_the_range_in_both_directions(world: World, condition: str, expected: list[str]) -> None:
    values = {":p": s("p"), ":x": s("m#2"), ":a": s("a"), ":m": s("m#")}
    used = {name: value for name, value in values.items() if name in condition}

    assert range_keys(query(world, condition, used)) == expected
    assert range_keys(query(world, condition, used, ScanIndexForward=False)) == expected[::-1]


@pytest.mark.parametrize("forward", [True, False])
def test_pages_follow_each_other_without_gap_or_repeat(world: World, forward: bool) -> None:
    pages, start = [], {}
    while True:
        answer = query(world, "pk = :p", {":p": s("p")}, Limit=2, ScanIndexForward=forward, **start)
        pages.append(range_keys(answer))
        if "LastEvaluatedKey" not in answer:
            break
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}

    expected = [["a", "m#1"], ["m#2", "m#3"], ["z"]]
    assert pages == (expected if forward else [["z", "m#3"], ["m#2", "m#1"], ["a"]])


def test_the_order_holds_while_items_come_and_go(world: World) -> None:
    query(world, "pk = :p", {":p": s("p")})

    world.call("PutItem", Item=key("p", "m#15"))
    world.call("DeleteItem", Key=key("p", "m#2"))
    world.moto.put_item(TableName="paceline", Item=key("p", "b"))
    world.moto.delete_item(TableName="paceline", Key=key("p", "a"))

    assert range_keys(query(world, "pk = :p", {":p": s("p")})) == ["b", "m#1", "m#15", "m#3", "z"]


def test_a_page_ends_at_one_megabyte(world: World) -> None:
    for i in range(4):
        world.call("PutItem", Item={**key("large", str(i)), "text": s("x" * 380_000)})

    first = query(world, "pk = :p", {":p": s("large")})

    assert range_keys(first) == ["0", "1"]
    assert first["LastEvaluatedKey"] == key("large", "1")


def test_a_filter_counts_what_it_scanned(world: World) -> None:
    answer = query(world, "pk = :p", {":p": s("p"), ":i": n(2)}, FilterExpression="i < :i", ProjectionExpression="i")

    assert answer == {"Items": [{"i": n(1)}, {"i": n(0)}], "Count": 2, "ScannedCount": 5}


def test_select_count_returns_no_items(world: World) -> None:
    assert query(world, "pk = :p", {":p": s("p")}, Select="COUNT") == {"Count": 5, "ScannedCount": 5}


@pytest.mark.parametrize("forward", [True, False])
def test_an_index_is_queried_in_its_order_page_by_page(world: World, forward: bool) -> None:
    world.call("PutItem", Item={**key("q", "tie"), "state": s("waiting"), "due": n(8)})
    values = {":s": s("waiting"), ":d": n(7)}
    names = {"ExpressionAttributeNames": {"#s": "state"}}
    parameters = {"IndexName": "by-status", "Limit": 2, "ScanIndexForward": forward, **names}

    first = query(world, "#s = :s AND due >= :d", values, **parameters)
    start = {"ExclusiveStartKey": first["LastEvaluatedKey"]}
    second = query(world, "#s = :s AND due >= :d", values, **parameters, **start)

    ascending = ["z", "a", "tie", "m#1", "m#3"]
    expected = ascending if forward else ascending[::-1]
    assert range_keys(first) + range_keys(second) == expected[:4]
    projected = {"pk", "sk", "state", "due", "kept"}
    assert all(item.keys() <= projected for item in first["Items"] + second["Items"])


@pytest.mark.parametrize(
    ("condition", "parameters", "message"),
    [
        ("sk = :p", {}, "missed key schema element: pk"),
        ("pk < :p", {}, "missed key schema element: pk"),
        ("pk = :p AND sk <> :p", {}, "key condition not supported"),
        ("pk = :p OR sk = :p", {}, "missed key schema element: pk"),
        ("pk = :p", {"FilterExpression": "sk = :p"}, "non-primary key attributes"),
        ("pk = :p", {"IndexName": "other"}, "does not have the specified index"),
        ("pk = :p", {"ExclusiveStartKey": {"pk": s("p")}}, "starting key is invalid"),
        ("pk = :p", {"ExclusiveStartKey": key("q")}, "outside query boundaries"),
        ("pk = :p", {"Limit": 0}, "greater than or equal to 1"),
    ],
)
def test_a_query_that_aws_would_refuse_is_refused(
    world: World, condition: str, parameters: dict[str, Any], message: str
) -> None:
    refused = world.refusal(query, world, condition, {":p": s("p")}, **parameters)

    assert refused.code == "ValidationException"
    assert message in refused.message


def test_a_key_value_of_the_wrong_type_is_refused(world: World) -> None:
    assert "does not match schema type" in world.refusal(query, world, "pk = :p", {":p": n(1)}).message
