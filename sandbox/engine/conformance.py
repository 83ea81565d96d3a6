"""Runs recorded executions on the engine, each alone, on a virtual clock: what a comparator needs to judge it.

The format of the recordings (behaviours of the functions, flattened events) is that of their README.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sandbox.engine.engine import Engine
from sandbox.engine.errors import InvalidDefinition
from sandbox.engine.history import details_key
from sandbox.engine.integrations import TaskFailed
from sandbox.scheduler import Scheduler

ACCOUNT = "111111111111"
START = datetime(2025, 1, 1, tzinfo=UTC)
ROLE_ARN = f"arn:aws:iam::{ACCOUNT}:role/conformance"
_DECODED = ("input", "output", "parameters")
_DROPPED = ("inputDetails", "outputDetails", "roleArn", "region")


class RecordedWorld:
    """The functions and buckets that a recording describes."""

    def __init__(self, case: dict[str, Any], scheduler: Scheduler) -> None:
        self.functions: dict[str, dict[str, Any]] = case.get("lambdas", {})
        self.buckets = {
            bucket: {key: text.encode() for key, text in objects.items()}
            for bucket, objects in case.get("s3", {}).items()
        }
        self.scheduler = scheduler

    def invoke_function(self, function_name: str, payload: str, *, role_arn: str) -> str:
        name = re.sub(r".*:function:", "", function_name)
        if name not in self.functions:
            raise TaskFailed(
                "Lambda.ResourceNotFoundException",
                f"Function not found: arn:aws:lambda:us-east-1:{ACCOUNT}:function:{name}:$LATEST (Service: AWSLambda; "
                "Status Code: 404; Error Code: ResourceNotFoundException; Request ID: 0; Proxy: null)",
            )
        return self._behave(self.functions[name], payload)

    def _behave(self, function: dict[str, Any], payload: str) -> str:
        behaviour = function["behaviour"]
        if behaviour == "echo":
            return payload
        if behaviour == "return":
            return json.dumps(function["value"])
        if behaviour == "prefix_input":
            return json.dumps(f"{function['prefix']}{json.loads(payload)}")
        if behaviour == "return_large_string":
            return json.dumps(function["char"] * function["bytes"])
        if behaviour == "sleep_then_echo":
            self.scheduler.sleep(function["seconds"])
            return payload
        if behaviour == "raise":
            cause = {"errorMessage": function["errorMessage"], "errorType": function["errorType"]}
            raise TaskFailed(function["errorType"], json.dumps({**cause, "requestId": "0", "stackTrace": []}))
        raise ValueError(f"unknown behaviour {behaviour!r}")

    def _bucket(self, name: str) -> dict[str, bytes]:
        if name not in self.buckets:
            raise TaskFailed("S3.NoSuchBucketException", "The specified bucket does not exist")
        return self.buckets[name]

    def get_object(self, bucket: str, key: str, *, role_arn: str, version_id: str | None = None) -> bytes:
        if (body := self._bucket(bucket).get(key)) is None:
            raise TaskFailed("S3.NoSuchKeyException", "The specified key does not exist.")
        return body

    def list_objects(self, bucket: str, prefix: str, *, role_arn: str) -> Iterator[dict[str, Any]]:
        for key, body in sorted(self._bucket(bucket).items()):
            if key.startswith(prefix):
                yield {
                    "Etag": f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"',
                    "Key": key,
                    "LastModified": int(START.timestamp()),
                    "Size": len(body),
                    "StorageClass": "STANDARD",
                }

    def put_object(self, bucket: str, key: str, body: bytes, *, role_arn: str) -> None:
        self._bucket(bucket)[key] = body

    def put_events(self, entries: list[dict[str, Any]], *, role_arn: str) -> dict[str, Any]:
        results = [_put_event(entry) for entry in entries]
        return {"Entries": results, "FailedEntryCount": sum("ErrorCode" in result for result in results)}


def _put_event(entry: dict[str, Any]) -> dict[str, Any]:
    """Judge an entry as EventBridge does: what is required, and that Detail is a JSON object."""
    for name in ("Source", "DetailType", "Detail"):
        if not entry.get(name):
            message = f"Parameter {name} is not valid. Reason: {name} is a required argument."
            return {"ErrorCode": "InvalidArgument", "ErrorMessage": message}
    try:
        if isinstance(json.loads(entry["Detail"]), dict):
            return {"EventId": "0"}
    except ValueError:
        pass
    return {"ErrorCode": "MalformedDetail", "ErrorMessage": "Detail is malformed."}


def run_cases(path: str | Path) -> dict[str, dict[str, Any]]:
    """Run every case of a file. Returns {id: {status, output, error, cause, events}}."""
    cases = json.loads(Path(path).read_text())["cases"]
    return {case["id"]: run_case(case) for case in cases}


def run_case(case: dict[str, Any], seed: int = 0) -> dict[str, Any]:
    """Run one case. A definition that the engine refuses has the status INVALID_DEFINITION."""
    scheduler = Scheduler(START)
    engine = Engine(scheduler, RecordedWorld(case, scheduler), rng=random.Random(seed), account=ACCOUNT)
    try:
        machine = engine.create_state_machine("conformance", case["definition"], ROLE_ARN)
    except InvalidDefinition as error:
        return {"status": "INVALID_DEFINITION", "cause": str(error)}
    execution = engine.execution(engine.start_execution(machine, json.dumps(case["input"])))
    scheduler.run(until=execution.done)
    return {
        "status": execution.status,
        "output": None if execution.output is None else json.loads(execution.output),
        "error": execution.error,
        "cause": execution.cause,
        "events": [flattened(event) for event in execution.history()],
    }


def flattened(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event with its details beside its type, and JSON texts decoded."""
    details = dict(event.get(details_key(event["type"]), {}))
    for key in _DECODED:
        if key in details:
            details[key] = json.loads(details[key])
    kept = {key: value for key, value in details.items() if key not in _DROPPED}
    return {"type": event["type"], "id": event["id"], "previousEventId": event["previousEventId"], **kept}
