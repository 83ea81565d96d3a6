"""How fast the engine is, without AWS and handlers: `PYTHONPATH=.:functions python tests/engine/bench_engine.py`.

campaign: 25,000 leads as 625 child executions of 40 inline iterations of (Wait, Task).
no-op: a Distributed Map of 40 batches of 25 items, one Pass for each item.
"""

from __future__ import annotations

import json
import random
import resource
import time
from datetime import UTC, datetime
from typing import Any

from sandbox.engine import Engine
from sandbox.scheduler import Scheduler
from tests.engine.fakes import FakeAws

START = datetime(2025, 1, 1, 7, 59, tzinfo=UTC)
ROLE_ARN = "arn:aws:iam::123456789012:role/campaign"
LAMBDA = "arn:aws:states:::lambda:invoke"


def campaign_definition() -> dict[str, Any]:
    send = {
        "StartAt": "Wait For Slot",
        "States": {
            "Wait For Slot": {"Type": "Wait", "TimestampPath": "$.send_at", "Next": "Send Message"},
            "Send Message": {
                "Type": "Task",
                "Resource": LAMBDA,
                "Parameters": {"FunctionName": "send", "Payload": {"lead.$": "$.lead", "send_at.$": "$.send_at"}},
                "ResultSelector": {"lead.$": "$.Payload.lead"},
                "TimeoutSeconds": 60,
                "Retry": [{"ErrorEquals": ["TransactionConflict"], "MaxDelaySeconds": 5, "JitterStrategy": "FULL"}],
                "End": True,
            },
        },
    }
    admit = {"FunctionName": "admit", "Payload.$": "$"}
    batch = {
        "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
        "StartAt": "Admit Batch",
        "States": {
            "Admit Batch": {
                "Type": "Task",
                "Resource": LAMBDA,
                "Parameters": admit,
                "ResultSelector": {"items.$": "$.Payload.items"},
                "TimeoutSeconds": 60,
                "Next": "Send Items",
            },
            "Send Items": {"Type": "Map", "ItemsPath": "$.items", "ItemProcessor": send, "Next": "Close Batch"},
            "Close Batch": {"Type": "Pass", "Result": {"closed": True}, "End": True},
        },
    }
    reader = {"Resource": "arn:aws:states:::s3:getObject", "Parameters": {"Bucket": "data", "Key": "manifest.json"}}
    writer = {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {"Bucket": "data", "Prefix": "results"}}
    batches = {"Type": "Map", "ItemReader": reader, "ItemProcessor": batch, "MaxConcurrency": 40, "End": True}
    return {"StartAt": "Send Batches", "States": {"Send Batches": {**batches, "ResultWriter": writer}}}


def no_op_definition() -> dict[str, Any]:
    each = {"StartAt": "Do Nothing", "States": {"Do Nothing": {"Type": "Pass", "End": True}}}
    batch = {
        "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
        "StartAt": "Each Item",
        "States": {"Each Item": {"Type": "Map", "ItemsPath": "$.Items", "ItemProcessor": each, "End": True}},
    }
    batches = {"Type": "Map", "ItemBatcher": {"MaxItemsPerBatch": 25}, "ItemProcessor": batch, "End": True}
    return {"StartAt": "Batches", "States": {"Batches": batches}}


def run(definition: dict[str, Any], input: Any, aws: FakeAws, scheduler: Scheduler) -> tuple[Engine, float]:
    engine = Engine(scheduler, aws, rng=random.Random(1))
    machine = engine.create_state_machine("bench", definition, ROLE_ARN)
    before = time.process_time()
    execution = engine.execution(engine.start_execution(machine, json.dumps(input)))
    scheduler.run(until=execution.done)
    assert execution.status == "SUCCEEDED", execution.cause
    return engine, time.process_time() - before


def main() -> None:
    scheduler = Scheduler(START)
    _, seconds = run(no_op_definition(), list(range(1000)), FakeAws(scheduler), scheduler)
    print(f"no-op: 1,000 items in {seconds:.2f} s of CPU, {1000 / seconds:,.0f} a second")

    scheduler = Scheduler(START)
    aws = FakeAws(scheduler, latency_seconds=0.05)
    aws.functions |= {"admit": lambda event: event, "send": lambda event: event}
    leads = [{"lead": f"lead-{n}", "send_at": f"2025-01-01T08:{n // 40 % 60:02d}:{n % 40:02d}Z"} for n in range(25_000)]
    manifest = [{"items": leads[first : first + 40]} for first in range(0, len(leads), 40)]
    aws.objects["data", "manifest.json"] = json.dumps(manifest).encode()
    engine, seconds = run(campaign_definition(), {}, aws, scheduler)
    events = sum(len(execution.log) for execution in engine.executions())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"campaign: {engine.transitions:,} transitions, {events:,} events in {seconds:.2f} s of CPU, {memory:.0f} MB")


if __name__ == "__main__":
    main()
