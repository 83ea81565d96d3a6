"""No-op sends through a Distributed Map of batches, on our engine and on moto's: the same definition on both."""

from __future__ import annotations

import json
import random
import time
from datetime import UTC, datetime
from typing import Any

import boto3
from moto import mock_aws

from bench.moto_lambda import functions_for_moto
from sandbox.engine import Engine
from sandbox.scheduler import Scheduler
from sandbox.testing.machines import FakeAWS

ROLE_ARN = "arn:aws:iam::123456789012:role/bench"
FUNCTION_ARN = "arn:aws:lambda:us-east-1:123456789012:function:no-op"
# Long enough for moto on a busy machine; a run that takes longer is a hang.
LONGEST_SECONDS = 300


def definition() -> dict[str, Any]:
    """Return a Distributed Map whose items are batches (moto has no ItemBatcher), in each an inline Map of sends."""
    send = {
        "Type": "Task",
        "Resource": "arn:aws:states:::lambda:invoke",
        "Parameters": {"FunctionName": FUNCTION_ARN, "Payload.$": "$"},
        "ResultSelector": {"sent.$": "$.Payload"},
        "TimeoutSeconds": 60,
        "End": True,
    }
    items = {
        "Type": "Map",
        "ItemProcessor": {
            "ProcessorConfig": {"Mode": "INLINE"},
            "StartAt": "Send",
            "States": {"Send": send},
        },
        "End": True,
    }
    batches = {
        "Type": "Map",
        "MaxConcurrency": 40,
        "ItemProcessor": {
            "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
            "StartAt": "Send Items",
            "States": {"Send Items": items},
        },
        "End": True,
    }
    return {"StartAt": "Send Batches", "States": {"Send Batches": batches}}


def no_op(event: Any) -> Any:
    """Do nothing."""
    return event


def batches_of(batches: int, items: int) -> str:
    return json.dumps([[{"lead": batch * items + item} for item in range(items)] for batch in range(batches)])


def our_rate(batches: int, items: int) -> float:
    """Return our engine's no-op sends a second."""
    scheduler = Scheduler(datetime(2026, 1, 1, tzinfo=UTC))
    aws = FakeAWS({"no-op": no_op}, {})
    engine = Engine(scheduler, aws, rng=random.Random(1))
    machine = engine.create_state_machine("bench", definition(), ROLE_ARN)
    began = time.perf_counter()
    execution = engine.execution(engine.start_execution(machine, batches_of(batches, items)))
    scheduler.run(until=execution.done)
    seconds = time.perf_counter() - began
    _check("ours", execution.status, len(aws.calls), batches * items)
    return batches * items / seconds


def moto_rate(batches: int, items: int) -> float:
    """Return the no-op sends a second of moto's interpreter, its functions in process too."""
    calls: list[Any] = []

    def counted(event: Any) -> Any:
        calls.append(event)
        return event

    with mock_aws(config={"stepfunctions": {"execute_state_machine": True}}):
        boto3.setup_default_session(
            aws_access_key_id="bench",
            aws_secret_access_key="bench",  # noqa: S106 (moto takes any)
            region_name="us-east-1",
        )
        client = boto3.client("stepfunctions")
        machine = client.create_state_machine(name="bench", definition=json.dumps(definition()), roleArn=ROLE_ARN)
        with functions_for_moto({"no-op": counted}):
            began = time.perf_counter()
            arn = client.start_execution(
                stateMachineArn=machine["stateMachineArn"], name="bench", input=batches_of(batches, items)
            )["executionArn"]
            status = "RUNNING"
            while status == "RUNNING" and time.perf_counter() - began < LONGEST_SECONDS:
                time.sleep(0.02)
                status = client.describe_execution(executionArn=arn)["status"]
            seconds = time.perf_counter() - began
    boto3.DEFAULT_SESSION = None
    _check("moto", status, len(calls), batches * items)
    return batches * items / seconds


def _check(whose: str, status: str, calls: int, expected: int) -> None:
    if (status, calls) != ("SUCCEEDED", expected):
        raise RuntimeError(f"{whose}: {status}, {calls} of {expected} sends")
