"""A sandbox DynamoDB over a table of moto's, and short ways to write its requests."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import boto3
from moto import mock_aws

from sandbox.dynamodb import Call, DynamoDB, DynamoDBError, Latency
from sandbox.scheduler import Scheduler, Task

ACCOUNT, REGION, TABLE = "123456789012", "us-east-1", "paceline"
START = datetime(2026, 3, 2, 15, 0, tzinfo=UTC)
_SESSION = boto3.Session(region_name=REGION)  # one, because reading the service's model takes most of a test's time
Request = dict[str, Any]


@dataclass(repr=False)
class World:
    """One scheduler, one DynamoDB, and moto's own client on the same table."""

    scheduler: Scheduler
    dynamodb: DynamoDB
    moto: Any
    calls: list[Call] = field(default_factory=list)

    def call(self, operation: str, **parameters: Any) -> dict[str, Any]:
        return self.dynamodb.call(operation, {"TableName": TABLE, **parameters})

    def transact(self, *actions: Request, **parameters: Any) -> dict[str, Any]:
        return self.dynamodb.call("TransactWriteItems", {"TransactItems": list(actions), **parameters})

    def refusal(self, function: Callable[..., Any], *arguments: Any, **parameters: Any) -> DynamoDBError:
        """Return the error that a call must raise."""
        try:
            function(*arguments, **parameters)
        except DynamoDBError as error:
            return error
        raise AssertionError("it was not refused")

    def after(self, seconds: float, function: Callable[[], Any]) -> Task:
        """Start a task that calls `function` in so many seconds."""

        def run() -> Any:
            self.scheduler.sleep(seconds)
            return function()

        return self.scheduler.spawn(run)

    def item(self, pk: str, sk: str = "a") -> dict[str, Any] | None:
        return self.call("GetItem", Key=key(pk, sk)).get("Item")


@contextmanager
def a_world(latency: Latency | None = None, **table: Any) -> Iterator[World]:
    """A table with a string `pk` and `sk`. `table` replaces parts of CreateTable's parameters."""
    with mock_aws():
        client = _SESSION.client("dynamodb")  # mock_aws brings credentials
        client.create_table(**{**_TABLE, **table})
        scheduler = Scheduler(START)
        calls: list[Call] = []
        dynamodb = DynamoDB(
            scheduler, latency or Latency(), random.Random(1), account=ACCOUNT, region=REGION, on_call=calls.append
        )
        yield World(scheduler, dynamodb, client, calls)


def fixed(seconds: float) -> Callable[[], float]:
    return lambda: seconds


def s(text: str) -> dict[str, str]:
    return {"S": text}


def n(number: int | str) -> dict[str, str]:
    return {"N": str(number)}


def key(pk: str, sk: str = "a") -> dict[str, Any]:
    return {"pk": s(pk), "sk": s(sk)}


def put(pk: str, condition: str | None = None, **attributes: Any) -> Request:
    item = {"TableName": TABLE, "Item": {**key(pk), **attributes}}
    return {"Put": item if condition is None else {**item, "ConditionExpression": condition}}


def add_one(pk: str, condition: str | None = None) -> Request:
    update = {
        "TableName": TABLE,
        "Key": key(pk),
        "UpdateExpression": "ADD used :one",
        "ExpressionAttributeValues": {":one": n(1)},
    }
    return {"Update": update if condition is None else {**update, "ConditionExpression": condition}}


def check(pk: str, condition: str) -> Request:
    return {"ConditionCheck": {"TableName": TABLE, "Key": key(pk), "ConditionExpression": condition}}


_TABLE: dict[str, Any] = {
    "TableName": TABLE,
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "S"},
    ],
    "BillingMode": "PAY_PER_REQUEST",
}
