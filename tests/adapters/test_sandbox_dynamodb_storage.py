"""Items are in moto's tables: what moto does there, and what we do, is one."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from moto.dynamodb.models import dynamodb_backends
from sandbox_dynamodb_builders import ACCOUNT, REGION, TABLE, World, a_world, key, n, s

ITEM = {
    **key("p"),
    "number": n("2.5"),
    "binary": {"B": b"\x01\xff"},
    "list": {"L": [s("x"), {"M": {"y": {"BOOL": True}}}]},
    "set": {"SS": ["a", "b"]},
    "numbers": {"NS": ["1", "2"]},
    "binaries": {"BS": [b"\x01"]},
    "nothing": {"NULL": True},
}


@pytest.fixture
def world() -> Iterator[World]:
    with a_world() as made:
        yield made


def moto_table() -> Any:
    return dynamodb_backends[ACCOUNT][REGION].tables[TABLE]


def test_moto_reads_what_we_wrote(world: World) -> None:
    world.call("PutItem", Item=ITEM)

    assert world.moto.scan(TableName=TABLE)["Items"] == [ITEM]
    assert world.moto.get_item(TableName=TABLE, Key=key("p"))["Item"] == ITEM


def test_we_read_what_moto_wrote(world: World) -> None:
    world.moto.put_item(TableName=TABLE, Item=ITEM)

    assert world.item("p") == ITEM


def test_what_moto_changes_in_our_item_we_see(world: World) -> None:
    world.call("PutItem", Item={**key("p"), "used": n(1)})

    world.moto.update_item(
        TableName=TABLE, Key=key("p"), UpdateExpression="ADD used :n", ExpressionAttributeValues={":n": n(1)}
    )

    assert world.item("p") == {**key("p"), "used": n(2)}
    assert world.moto.scan(TableName=TABLE)["Items"] == [{**key("p"), "used": n(2)}]


def test_a_scan_leaves_our_items_in_our_form(world: World) -> None:
    world.call("PutItem", Item=ITEM)
    (stored,) = moto_table().items[next(iter(moto_table().items))].values()

    world.moto.scan(TableName=TABLE, FilterExpression="attribute_exists(pk)")

    assert type(stored._form) is bytes


def test_moto_keeps_no_list_of_every_item_ever_written(world: World) -> None:
    for _ in range(3):
        world.call("PutItem", Item=ITEM)

    assert type(next(iter(moto_table().all_items()))).instances_tracked == []


def test_a_deleted_item_leaves_nothing_behind(world: World) -> None:
    world.call("PutItem", Item=ITEM)

    world.call("DeleteItem", Key=key("p"))

    assert world.moto.scan(TableName=TABLE)["Count"] == 0
    assert dict(moto_table().items) == {}


def test_a_copy_of_the_table_is_a_table(world: World) -> None:
    world.call("PutItem", Item=ITEM)
    world.call("Query", KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": s("p")})

    copied = copy.deepcopy(moto_table())
    world.call("DeleteItem", Key=key("p"))

    assert [item.to_json()["Attributes"]["number"] for item in copied.all_items()] == [n("2.5")]


def test_a_table_without_a_range_key_works_the_same() -> None:
    attribute, schema = {"AttributeName": "id", "AttributeType": "N"}, {"AttributeName": "id", "KeyType": "HASH"}
    with a_world(AttributeDefinitions=[attribute], KeySchema=[schema]) as world:
        world.call("PutItem", Item={"id": n("1.0"), "v": s("x")})
        update = {"UpdateExpression": "SET v = :v", "ExpressionAttributeValues": {":v": s("y")}}
        world.call("UpdateItem", Key={"id": n(1)}, **update)

        found = world.call("Query", KeyConditionExpression="id = :i", ExpressionAttributeValues={":i": n("1.00")})

        assert found["Items"] == world.moto.scan(TableName=TABLE)["Items"] == [{"id": n(1), "v": s("y")}]


def test_writes_reach_the_tables_stream() -> None:
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    with a_world(StreamSpecification=stream) as world:
        world.call("PutItem", Item={**key("p"), "used": n(1)})
        world.call("DeleteItem", Key=key("p"))

        records = moto_table().stream_shard.items

        assert [record.record["eventName"] for record in records] == ["INSERT", "REMOVE"]
