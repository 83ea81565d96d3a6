"""An AWS for the engine's tests: functions are Python callables, buckets a dict, all on the scheduler's clock."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from sandbox.engine import TaskFailed
from sandbox.scheduler import Scheduler


class FakeAws:
    """functions: name -> callable of the event; what it raises becomes the error of that class's bare name.

    objects: (bucket, key) -> body. calls: (function, event) in order, with the second at which each began.
    """

    def __init__(self, scheduler: Scheduler, latency_seconds: float = 0.0) -> None:
        self.scheduler = scheduler
        self.latency_seconds = latency_seconds
        self.functions: dict[str, Callable[[Any], Any]] = {}
        self.objects: dict[tuple[str, str], bytes] = {}
        self.calls: list[tuple[str, Any]] = []
        self.call_times: list[float] = []
        self.roles: set[str] = set()

    def invoke_function(self, function_name: str, payload: str, *, role_arn: str) -> str:
        name, event = function_name.rpartition(":")[2], json.loads(payload)
        self.calls.append((name, event))
        self.call_times.append(self.scheduler.time())
        self.roles.add(role_arn)
        if self.latency_seconds:
            self.scheduler.sleep(self.latency_seconds)
        try:
            return json.dumps(self.functions[name](event))
        except TaskFailed:
            raise
        except Exception as error:
            cause = {"errorMessage": str(error), "errorType": type(error).__name__, "requestId": "r", "stackTrace": []}
            raise TaskFailed(type(error).__name__, json.dumps(cause)) from error

    def get_object(self, bucket: str, key: str, *, role_arn: str, version_id: str | None = None) -> bytes:
        if (bucket, key) not in self.objects:
            raise TaskFailed("S3.NoSuchKeyException", "The specified key does not exist.")
        return self.objects[bucket, key]

    def list_objects(self, bucket: str, prefix: str, *, role_arn: str) -> Iterator[dict[str, Any]]:
        for (of_bucket, key), body in sorted(self.objects.items()):
            if of_bucket == bucket and key.startswith(prefix):
                yield {"Etag": "e", "Key": key, "LastModified": 0, "Size": len(body), "StorageClass": "STANDARD"}

    def put_object(self, bucket: str, key: str, body: bytes, *, role_arn: str) -> None:
        self.objects[bucket, key] = body

    def put_events(self, entries: list[dict[str, Any]], *, role_arn: str) -> dict[str, Any]:
        return {"Entries": [{"EventId": "e"} for _ in entries], "FailedEntryCount": 0}
