"""A state machine alone: any JSONPath definition, Python functions for its Lambda functions, a dict for S3."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from sandbox.engine import Engine, Execution, TaskFailed
from sandbox.scheduler import Scheduler
from sandbox.testing.history import all_states_entered, assert_in_order, states_entered
from sandbox.testing.timeline import Timeline, moment

START = "2026-01-05T12:00Z"
ROLE_ARN = "arn:aws:iam::123456789012:role/test"

Function = Callable[[Any], Any]


class FakeAWS:
    """What the machine calls. calls: (function, event) in order. events: what was put on a bus."""

    def __init__(self, functions: Mapping[str, Function], objects: Mapping[tuple[str, str], Any]) -> None:
        self.functions = dict(functions)
        self.objects = {place: _bytes(value) for place, value in objects.items()}
        self.calls: list[tuple[str, Any]] = []
        self.events: list[dict[str, Any]] = []

    def invoke_function(self, function_name: str, payload: str, *, role_arn: str) -> str:
        """Call the Python function of that name; what it raises is an error of its class's bare name, as on Lambda."""
        name, event = function_name.removesuffix(":$LATEST").rpartition(":")[2], json.loads(payload)
        if name not in self.functions:
            raise TaskFailed("Lambda.ResourceNotFoundException", f"Function not found: {function_name}")
        self.calls.append((name, event))
        try:
            return json.dumps(self.functions[name](event))
        except TaskFailed:
            raise
        except Exception as error:
            cause = {"errorMessage": str(error), "errorType": type(error).__name__, "requestId": "0", "stackTrace": []}
            raise TaskFailed(type(error).__name__, json.dumps(cause)) from error

    def get_object(self, bucket: str, key: str, *, role_arn: str, version_id: str | None = None) -> bytes:
        """Return an object."""
        if (bucket, key) not in self.objects:
            raise TaskFailed("S3.NoSuchKeyException", "The specified key does not exist.")
        return self.objects[bucket, key]

    def list_objects(self, bucket: str, prefix: str, *, role_arn: str) -> Iterator[dict[str, Any]]:
        """Yield the objects below a prefix."""
        for (of_bucket, key), body in sorted(self.objects.items()):
            if of_bucket == bucket and key.startswith(prefix):
                yield {"Etag": '"0"', "Key": key, "LastModified": 0, "Size": len(body), "StorageClass": "STANDARD"}

    def put_object(self, bucket: str, key: str, body: bytes, *, role_arn: str) -> None:
        """Keep an object."""
        self.objects[bucket, key] = body

    def put_events(self, entries: list[dict[str, Any]], *, role_arn: str) -> dict[str, Any]:
        """Keep events."""
        self.events += entries
        return {"Entries": [{"EventId": "0"} for _ in entries], "FailedEntryCount": 0}


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    return value.encode() if isinstance(value, str) else json.dumps(value).encode()


class TestedStateMachine(Timeline):
    """A state machine and its clock.

    functions: name (the last part of the ARN) → callable of the event. objects: (bucket, key) → bytes, text or JSON.
    """

    __test__ = False  # not a test, whatever pytest makes of the name

    def __init__(
        self,
        definition: dict[str, Any] | str,
        functions: Mapping[str, Function],
        objects: Mapping[tuple[str, str], Any],
        start: datetime | str = START,
        seed: int = 1,
    ) -> None:
        scheduler = Scheduler(moment(start))
        self.aws = FakeAWS(functions, objects)
        self.engine = Engine(scheduler, self.aws, rng=random.Random(seed))
        super().__init__(scheduler, self.engine)
        self._arn = self.engine.create_state_machine("tested", definition, ROLE_ARN)

    def start(self, input: Any = None, name: str | None = None) -> Execution:
        """Start an execution; nothing has happened yet."""
        return self.engine.execution(self.engine.start_execution(self._arn, json.dumps(input or {}), name))

    def run(self, input: Any = None) -> Any:
        """Run an execution to its end and return its output. Raises: AssertionError, where it does not succeed."""
        execution = self.start(input)
        self.run_to_end(execution)
        if execution.output is None:
            raise AssertionError(f"the execution is {execution.status}: {execution.error}: {execution.cause}")
        return json.loads(execution.output)

    def run_to_end(self, execution: Execution) -> None:
        """Let time pass until an execution is over, however it ends."""
        self.until_done([execution])

    def run_until(self, execution: Execution, state: str) -> Execution:
        """Let time pass until the execution, or a child of it, enters a state; return the one that did."""
        return self.until_state(state, execution)

    def sleep(self, seconds: float) -> None:
        """Let a function take time. Only inside one."""
        self._scheduler.sleep(seconds)

    def states(self, execution: Execution, *, with_children: bool = False) -> list[str]:
        """Return the states that were entered, in order."""
        return all_states_entered(self.engine, execution) if with_children else states_entered(execution)

    def assert_states(self, execution: Execution, *names: str) -> None:
        """Assert that states were entered in this order; others may come between."""
        assert_in_order(self.states(execution, with_children=True), names)
