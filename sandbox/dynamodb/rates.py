"""Measure this data plane on one core: `python -m sandbox.dynamodb.rates` (functions/ on the path)."""

from __future__ import annotations

import json
import random
import time
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import boto3
from moto import mock_aws

from sandbox.dynamodb import DynamoDB, Latency
from sandbox.scheduler import Scheduler

CALLS, TASKS = 6000, 4
_KEYS = (("pk", "HASH"), ("sk", "RANGE"))


def main() -> None:
    """Print calls a second (in four tasks, in modelled time, without botocore) and bytes an item."""
    with mock_aws():
        boto3.client("dynamodb", region_name="us-east-1").create_table(
            TableName="t",
            KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in _KEYS],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name, _ in _KEYS],
            BillingMode="PAY_PER_REQUEST",
        )
        scheduler, rng = Scheduler(datetime(2026, 3, 2, tzinfo=UTC)), random.Random(1)
        dynamodb = DynamoDB(scheduler, Latency.modelled(rng), rng, account="123456789012", region="us-east-1")
        for name, request in {"claims": claim, "conditional updates": record, "reads": read}.items():
            print(f"{name:<20} {rate(scheduler, dynamodb, request):>8,.0f} a second")
        print(f"{'a message row':<20} {item_bytes(dynamodb):>8,.0f} bytes of memory, ten attributes")


def rate(scheduler: Scheduler, dynamodb: DynamoDB, request: Callable[[int], tuple[str, dict[str, Any]]]) -> float:
    def run(first: int) -> None:
        for number in range(first, CALLS, TASKS):
            dynamodb.call(*request(number))

    tasks = [scheduler.spawn(run, first) for first in range(TASKS)]
    started = time.perf_counter()
    scheduler.run()
    elapsed = time.perf_counter() - started
    for task in tasks:
        task.wait()
    return CALLS / elapsed


def item_bytes(dynamodb: DynamoDB, items: int = 5000) -> float:
    texts = [json.dumps(message(number)) for number in range(CALLS, CALLS + items)]
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for text in texts:
        dynamodb.call("PutItem", {"TableName": "t", "Item": json.loads(text)})
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (after - before) / items


def claim(number: int) -> tuple[str, dict[str, Any]]:
    """A message's row, new, and its recipient's, under its cap."""
    put = {"TableName": "t", "Item": message(number), "ConditionExpression": "attribute_not_exists(pk)"}
    update = {
        "TableName": "t",
        "Key": {"pk": {"S": f"RECIPIENT#{number}"}, "sk": {"S": "RECIPIENT"}},
        "UpdateExpression": "SET last_at = :now ADD sent :one",
        "ConditionExpression": "attribute_not_exists(opted_out) AND (attribute_not_exists(sent) OR sent < :cap)",
        "ExpressionAttributeValues": {":now": {"N": "1772463600"}, ":one": {"N": "1"}, ":cap": {"N": "3"}},
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    token = {"ClientRequestToken": f"claim-{number}"}
    return "TransactWriteItems", {"TransactItems": [{"Put": put}, {"Update": update}], **token}


def record(number: int) -> tuple[str, dict[str, Any]]:
    """The provider's id, recorded in a message's row."""
    return "UpdateItem", {
        "TableName": "t",
        "Key": {name: message(number)[name] for name in ("pk", "sk")},
        "UpdateExpression": "SET #s = :sent, provider_message_id = :id, version = version + :one",
        "ConditionExpression": "#s = :claimed OR #s = :sent",
        "ExpressionAttributeNames": {"#s": "status"},
        "ExpressionAttributeValues": {
            ":sent": {"S": "sent"},
            ":claimed": {"S": "claimed"},
            ":id": {"S": f"SM{number:032}"},
            ":one": {"N": "1"},
        },
    }


def read(number: int) -> tuple[str, dict[str, Any]]:
    return "GetItem", {"TableName": "t", "Key": {name: message(number)[name] for name in ("pk", "sk")}}


def message(number: int) -> dict[str, Any]:
    return {
        "pk": {"S": f"BATCH#{number // 100}"},
        "sk": {"S": f"MESSAGE#{number}"},
        "status": {"S": "claimed"},
        "lead_id": {"S": f"lead-{number}"},
        "phone_number": {"S": f"+12025550{number % 200:03}"},
        "parts": {"N": "2"},
        "route": {"S": "verizon"},
        "claimed_at": {"N": str(1_772_463_600_000 + number)},
        "campaign_id": {"S": "campaign-0001"},
        "version": {"N": "1"},
    }


if __name__ == "__main__":
    main()
