"""Builders: a running engine in one line, machines of one state, definitions with defaults."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from typing import Any

from sandbox.engine import Engine, Execution, Timing
from sandbox.scheduler import Scheduler
from tests.engine.fakes import FakeAws

START = datetime(2025, 1, 1, 12, 0, tzinfo=UTC)
ROLE_ARN = "arn:aws:iam::123456789012:role/campaign"
LAMBDA = "arn:aws:states:::lambda:invoke"
LAMBDA_WITH_TOKEN = f"{LAMBDA}.waitForTaskToken"


class Bench:
    """A scheduler, a fake AWS and an engine that belong together."""

    def __init__(self, *, seed: int = 1, timing: Timing = Timing()) -> None:  # noqa: B008 - immutable
        self.scheduler = Scheduler(START)
        self.aws = FakeAws(self.scheduler)
        self.engine = Engine(self.scheduler, self.aws, rng=random.Random(seed), timing=timing)
        self._machines = 0

    def start(self, definition: dict[str, Any], input: Any = None, name: str | None = None) -> Execution:
        """Create a machine and start an execution of it; nothing has run yet."""
        self._machines += 1
        machine = self.engine.create_state_machine(f"machine-{self._machines}", definition, ROLE_ARN)
        text = json.dumps({} if input is None else input)
        return self.engine.execution(self.engine.start_execution(machine, text, name))

    def run(self, definition: dict[str, Any], input: Any = None) -> Execution:
        """Run an execution to its end."""
        execution = self.start(definition, input)
        self.scheduler.run(until=execution.done)
        return execution

    def run_for(self, seconds: float) -> None:
        """Let time pass."""
        self.scheduler.run(deadline=self.scheduler.microseconds + round(seconds * 1_000_000))

    def seconds(self) -> float:
        """Return the seconds since the start."""
        return (self.scheduler.now() - START).total_seconds()


def machine(**states: dict[str, Any]) -> dict[str, Any]:
    """Return a definition of these states in their order; a state without a way out goes on to the next."""
    names = list(states)
    for name, following in zip(names, [*names[1:], None], strict=True):
        state = states[name]
        if state["Type"] in ("Choice", "Succeed", "Fail") or "Next" in state or "End" in state:
            continue
        state |= {"Next": following} if following else {"End": True}
    return {"StartAt": names[0], "States": states}


def task(function: str = "work", payload: Any = None, **fields: Any) -> dict[str, Any]:
    """Return a lambda:invoke whose result is the function's."""
    parameters: dict[str, Any] = {"FunctionName": function}
    parameters |= {"Payload.$": "$"} if payload is None else {"Payload": payload}
    state = {"Type": "Task", "Resource": LAMBDA, "Parameters": parameters, "ResultSelector": {"result.$": "$.Payload"}}
    return {**state, "TimeoutSeconds": 60, **fields}


def distributed(processor: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a Distributed Map of a processor."""
    config = {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}
    return {"Type": "Map", "ItemProcessor": {"ProcessorConfig": config, **processor}, **fields}


def output(execution: Execution) -> Any:
    """Return the output of an execution that succeeded."""
    assert execution.status == "SUCCEEDED", f"{execution.error}: {execution.cause}"
    assert execution.output is not None
    return json.loads(execution.output)


def types(execution: Execution) -> list[str]:
    return [event["type"] for event in execution.history()]
