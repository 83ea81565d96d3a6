"""moto's own Step Functions interpreter in the place of our engine; functions, rows and carrier are the sandbox's.

moto runs a machine in threads and in real time, one thread a child and iteration. The sandbox's world is one thread
with a virtual clock. So moto's threads only ask, and the test's thread lets the world run until there is an answer.

moto 5.2.5's gaps that show in our machines, and what is done about each:

- Lambda without Docker echoes its input → `Invoke` is answered by the sandbox's functions (`_answer_invoke`).
- Waits are real, cut to whole seconds, and reckon a UTC timestamp against local time → `_wait` waits on our clock.
- A client is made for every invocation, about 10 ms each → nothing: the campaigns here are tiny.
- Iterations recurse and run in threads, so the order of two iterations at one instant is not repeatable → the tests
  assert outcomes, never an order.
- A failed child of a Distributed Map is swallowed and tolerance is ignored → no test here lets a child fail.
- ResultWriter reckons its paths from the Map's result instead of its input (and writes an empty manifest) →
  `_for_moto` leaves it out; our workflow reads nothing of it: the ledger says what is left.
- An unnamed execution is called None → executions are named here, as Paceline names its own.
- ItemBatcher and JSONL are missing → our machines use neither: batches are planned by `Plan Campaign`.
- Its grammar takes a percentage only with a decimal point → `_for_moto` writes 100 as 100.0.
- A Fail state whose ErrorPath leads to a `States.…` name breaks the interpreter → no test here ends in one.
- CloudFormation creates the machine on the backend that does not execute → it is created again by the API.
- `TimeoutSecondsPath` of a task token is counted in real seconds → no test here waits for a hold to time out.
"""

from __future__ import annotations

import io
import json
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import boto3
import pytest
from moto.core.config import default_user_config
from moto.stepfunctions.parser.asl.component.state.wait.wait_function.timestamp import Timestamp

from paceline.moments import to_us
from sandbox.engine import TaskFailed
from sandbox.scheduler import Task
from sandbox.testing.campaigns import CampaignSandbox

# How long moto's threads get, in real seconds, to ask for something before the clock moves on; and for all of a test.
QUIET_SECONDS = 0.05
LONGEST_SECONDS = 120
NAME = "campaign-on-moto"


@dataclass
class Question:
    """What one of moto's threads waits for: a function that runs in the sandbox's world, and its answer."""

    function: Callable[[], Any]
    answered: threading.Event = field(default_factory=threading.Event)
    task: Task | None = None


class _Http:
    status_code = 200
    headers: dict[str, str] = {}  # noqa: RUF012 (never written)


class MotoWorld:
    """A sandbox whose state machine runs on moto. invoked: the functions' names, in order."""

    def __init__(self, sandbox: CampaignSandbox, patch: pytest.MonkeyPatch) -> None:
        self.sandbox = sandbox
        self.world = sandbox.world
        self.invoked: list[str] = []
        self._open: list[Question] = []
        self._questions: queue.Queue[Question] = queue.Queue()
        patch.setitem(default_user_config, "stepfunctions", {"execute_state_machine": True})
        patch.setattr(Timestamp, "_eval_body", lambda state, env: self._wait(state, env))
        patch.setattr(self.world.calls.workflows, "call", self._call_workflows)
        events = boto3.DEFAULT_SESSION.events
        events.register("provide-client-params.lambda.Invoke", self._keep_invoke)
        events.register("before-call.lambda.Invoke", self._answer_invoke)
        self._client = boto3.client("stepfunctions")

    # -- what a test does --------------------------------------------------------------------------------------------

    def create(self, definition: str) -> None:
        """Create the machine under which campaigns start."""
        role = "arn:aws:iam::123456789012:role/moto"
        self._arn = self._moto("CreateStateMachine", name=NAME, definition=_for_moto(definition), roleArn=role)[
            "stateMachineArn"
        ]

    def start(self, name: str, input: Any) -> str:
        """Start an execution and return its ARN."""
        started = self._moto("StartExecution", stateMachineArn=self._arn, name=name, input=json.dumps(input))
        return str(started["executionArn"])

    def run_to_end(self, arn: str) -> dict[str, Any]:
        """Let the world run until an execution is over; return its description."""
        self.run_until(lambda: self._moto("DescribeExecution", executionArn=arn)["status"] != "RUNNING")
        return self._moto("DescribeExecution", executionArn=arn)

    def run_until(self, is_reached: Callable[[], bool]) -> None:
        """Let the world run, as moto's threads ask for it, until something is so."""
        began = time.monotonic()
        while not is_reached():
            assert time.monotonic() - began < LONGEST_SECONDS, f"moto hangs; invoked: {self.invoked}"
            self._open += self._asked()
            self._run_until_one_is_answered(self._open)
            self._open = [question for question in self._open if not question.answered.is_set()]

    # -- the world's thread ------------------------------------------------------------------------------------------

    def _asked(self) -> list[Question]:
        """Return what was asked once moto's threads have been quiet for a while."""
        found = []
        try:
            while True:
                found.append(self._questions.get(timeout=QUIET_SECONDS))
        except queue.Empty:
            return found

    def _run_until_one_is_answered(self, open_: list[Question]) -> None:
        done = self.world.scheduler.future()
        for question in open_:
            if question.task is None:
                question.task = self.world.scheduler.spawn(question.function)
            question.task.when_done(lambda: done.set())
        if open_:
            self.world.run_until(done)
        for question in open_:
            if question.task is not None and question.task.done:
                question.answered.set()

    # -- moto's threads ----------------------------------------------------------------------------------------------

    def _ask(self, function: Callable[[], Any]) -> Any:
        question = Question(function)
        self._questions.put(question)
        assert question.answered.wait(LONGEST_SECONDS), "the world did not answer"
        assert question.task is not None
        if question.task.error is not None:
            raise question.task.error
        return question.task.value

    def _wait(self, state: Timestamp, env: Any) -> None:
        state.string.eval(env=env)
        moment = to_us(datetime.fromisoformat(env.stack.pop()))
        self._ask(lambda: self.world.scheduler.sleep_until(moment))

    def _keep_invoke(self, params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        context["invoke"] = params

    def _answer_invoke(self, context: dict[str, Any], **_: Any) -> tuple[_Http, dict[str, Any]]:
        params = context["invoke"]
        name = params["FunctionName"]
        self.invoked.append(self.world.functions.get(name).handler.partition(".")[0])
        payload = params["Payload"]
        text = payload.decode() if isinstance(payload, bytes) else payload
        shown: dict[str, Any] = {"StatusCode": 200, "ExecutedVersion": "$LATEST"}
        try:
            body = self._ask(lambda: self.world.functions.invoke(name, text))
        except TaskFailed as failure:
            shown["FunctionError"] = "Unhandled"
            body = json.dumps({"errorType": failure.error, "errorMessage": failure.cause})
        shown["Payload"] = io.BytesIO(body.encode())
        return _Http(), shown | {"ResponseMetadata": {"HTTPStatusCode": 200, "RetryAttempts": 0, "HTTPHeaders": {}}}

    # -- Step Functions ----------------------------------------------------------------------------------------------

    def _call_workflows(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Send what the functions ask of Step Functions (start, task tokens) to moto, under moto's own machine."""
        if "stateMachineArn" in parameters:
            parameters = {**parameters, "stateMachineArn": self._arn}
        return self._moto(operation, **parameters)

    def _moto(self, operation: str, **parameters: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self.world.calls._original(self._client, operation, parameters)
        return answer


def _for_moto(definition: str) -> str:
    """Return a definition without what moto cannot read; see the list of gaps above."""
    return json.dumps(_changed(json.loads(definition)))


def _changed(value: Any) -> Any:
    if isinstance(value, list):
        return [_changed(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {name: _changed(item) for name, item in value.items() if name != "ResultWriter"}
    if "ToleratedFailurePercentage" in kept:
        kept["ToleratedFailurePercentage"] = float(kept["ToleratedFailurePercentage"])
    return kept
