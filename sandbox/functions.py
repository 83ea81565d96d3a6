"""Lambda: the template's functions, run in this process as greenlets, one at a time.

The handlers are the production ones, imported as Lambda does (module.path.function, with the function's environment),
once for each function: what they keep between calls, they keep here too.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import sys
import traceback
import typing
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from sandbox.engine import TaskFailed
from sandbox.faults import Fault, Faults
from sandbox.latency import Latencies
from sandbox.scheduler import Future, Scheduler, Task

MAX_PAYLOAD_BYTES = 6 * 1024 * 1024

# How Lambda names the end of a function whose process is gone; Step Functions takes the name over.
# https://repost.aws/knowledge-center/lambda-runtime-error; of older runtimes Step Functions says Lambda.Unknown.
KILLED = "Runtime.ExitError"

# By then the workflow's retry, which comes within a second or two, is through.
ORPHANED_SECONDS = 4.0

# How Step Functions names an invocation that Lambda refused, or whose answer it did not get.
REFUSED = {
    Fault.THROTTLED: "Lambda.TooManyRequestsException",
    Fault.FAILED: "Lambda.ServiceException",
    Fault.LOST: "Lambda.SdkClientException",
}


@dataclass(frozen=True)
class Function:
    """A function as the template configures it. timeout: seconds."""

    name: str
    arn: str
    handler: str
    role_arn: str
    timeout: float
    memory_mb: int
    environment: dict[str, str]

    @property
    def folder(self) -> str:
        """The folder of its code: what people call it."""
        return self.handler.split(".")[0]


@dataclass(frozen=True)
class Context:
    """The part of Lambda's context object that handlers may read."""

    function_name: str
    invoked_function_arn: str
    aws_request_id: str
    memory_limit_in_mb: int
    function_version: str = "$LATEST"
    log_group_name: str = ""
    log_stream_name: str = ""


@dataclass
class Invocation:
    """One running invocation: whose role the calls made in it have. payload: its JSON text. answer: for its caller."""

    function: Function
    context: Context
    payload: str
    answer: Future


@dataclass
class Usage:
    """What a run used of a function: how often it was invoked, for how long, and how often it failed."""

    invocations: int = 0
    seconds: float = 0.0
    errors: dict[str, int] = field(default_factory=dict)


class Functions:
    """The deployed functions.

    watchers: told of each invocation that ends: its function, when it began (microseconds), what is billed (ms).
    """

    def __init__(
        self, scheduler: Scheduler, latencies: Latencies, rng: random.Random, code: Path, faults: Faults | None = None
    ) -> None:
        self._scheduler = scheduler
        self._faults = faults or Faults()
        self._latencies = latencies
        self._rng = rng
        self._code = code
        self._functions: dict[str, Function] = {}
        self._handlers: dict[str, Callable[[Any, Any], Any]] = {}
        self.usage: dict[str, Usage] = {}
        self.watchers: list[Callable[[Function, int, int], None]] = []

    def deploy(self, functions: list[Function]) -> None:
        """Take the functions, and forget the modules of an earlier deployment in this process: each starts cold."""
        if str(self._code) not in sys.path:
            sys.path.insert(0, str(self._code))
        self._forget({function.folder for function in functions})
        for function in functions:
            self._functions[function.name] = self._functions[function.arn] = function
            self.usage[function.name] = Usage()

    def undeploy(self) -> None:
        """Let go of the handlers, and of what their modules keep between calls."""
        self._handlers.clear()
        self._forget({function.folder for function in self._functions.values()})
        for forget in getattr(typing, "_cleanups", ()):  # typing remembers each Annotated, its validators' modules too
            forget()

    def get(self, name_or_arn: str) -> Function:
        """Raises: TaskFailed, as Lambda answers for a function that does not exist."""
        try:
            return self._functions[name_or_arn.removesuffix(":$LATEST")]
        except KeyError:
            raise TaskFailed("Lambda.ResourceNotFoundException", f"Function not found: {name_or_arn}") from None

    def invoke(self, name_or_arn: str, payload: str) -> str:
        """Invoke a function with JSON text and return JSON text. Raises: TaskFailed.

        When the caller is killed meanwhile, the function runs on, as on AWS.
        """
        function = self.get(name_or_arn)
        if len(payload) > MAX_PAYLOAD_BYTES:
            raise TaskFailed("Lambda.RequestTooLargeException", f"the payload has {len(payload)} bytes")
        answer = self._scheduler.future()
        task = self._scheduler.spawn(self._run, function, payload, answer, name=function.name)
        task.when_done(lambda: answer.settle_as(task))
        try:
            return str(answer.wait(function.timeout + self._latencies.start()))
        except TimeoutError:
            if answer.done:  # the handler's own TimeoutError, as it was reported
                raise
            task.kill()
            self._count_error(function, "Sandbox.Timedout")
            cause = f"RequestId: {self._request_id()} Error: Task timed out after {function.timeout:.2f} seconds"
            raise TaskFailed("Sandbox.Timedout", json.dumps({"errorMessage": cause})) from None

    def invoke_event(self, name_or_arn: str, payload: str) -> None:
        """Invoke a function and wait for nothing, as InvocationType Event does; its error is counted. No retries."""
        self._scheduler.spawn(self._run_event, self.get(name_or_arn).name, payload, name=name_or_arn)

    def _run_event(self, name: str, payload: str) -> None:
        with suppress(TaskFailed):
            self.invoke(name, payload)

    def running(self) -> Invocation | None:
        """Return the invocation whose code is running now."""
        task: Task | None = self._scheduler.current
        return task.context.get("invocation") if task is not None else None

    def kill_running(self) -> NoReturn:
        """End the running invocation as where its execution environment dies: its next one starts cold."""
        invocation = self.running()
        assert invocation is not None
        self._chill(invocation.function)
        self._count_error(invocation.function, KILLED)
        text = f"RequestId: {invocation.context.aws_request_id} Error: Runtime exited with error: signal: killed"
        self._scheduler.abandon(TaskFailed(KILLED, json.dumps({"errorType": KILLED, "errorMessage": text})))

    def orphan_running(self) -> None:
        """Tell the caller of the running invocation that its answer was lost; it goes on, when it was asked again."""
        invocation = self.running()
        assert invocation is not None
        invocation.answer.fail(TaskFailed(REFUSED[Fault.LOST], "the connection to Lambda broke"))
        self._scheduler.sleep(ORPHANED_SECONDS)

    def _run(self, function: Function, payload: str, answer: Future) -> str:
        task = self._scheduler.current
        assert task is not None
        self._scheduler.sleep(self._latencies.start())
        usage, started = self.usage[function.name], self._scheduler.microseconds
        usage.invocations += 1
        context = Context(function.name, function.arn, self._request_id(), function.memory_mb)
        task.context["invocation"] = Invocation(function, context, payload, answer)
        try:
            result = self._faults.meet(
                function.folder,
                "invoke",
                lambda: json.dumps(self._handler(function)(json.loads(payload), context)),
                kill=self.kill_running,
                orphan=self.orphan_running,
                refuse=_refuse,
            )
        except _Refused as refused:
            raise TaskFailed(*refused.args) from None
        except Exception as error:
            self._count_error(function, type(error).__name__)
            raise _as_task_failed(error, context.aws_request_id) from error
        finally:
            taken = self._scheduler.microseconds - started
            usage.seconds += taken / 1e6
            for watcher in self.watchers:
                watcher(function, started, max(1, -(-taken // 1000)))
        self._scheduler.sleep(self._latencies.finish())
        return result

    def _count_error(self, function: Function, name: str) -> None:
        errors = self.usage[function.name].errors
        errors[name] = errors.get(name, 0) + 1

    def _handler(self, function: Function) -> Callable[[Any, Any], Any]:
        if function.name not in self._handlers:
            self._handlers[function.name] = self._load(function)
        return self._handlers[function.name]

    def _chill(self, function: Function) -> None:
        """Forget what the function's execution environment has in memory."""
        self._handlers.pop(function.name, None)
        self._forget({function.folder})

    def _forget(self, folders: set[str]) -> None:
        for module in [name for name in sys.modules if name.partition(".")[0] in folders]:
            del sys.modules[module]

    def _load(self, function: Function) -> Callable[[Any, Any], Any]:
        """Import the handler as at a cold start: with the function's own environment, which it reads once."""
        module, _, name = function.handler.rpartition(".")
        before = dict(os.environ)
        os.environ.update(function.environment, AWS_LAMBDA_FUNCTION_NAME=function.name)
        try:
            handler: Callable[[Any, Any], Any] = getattr(importlib.import_module(module), name)
        finally:
            os.environ.clear()
            os.environ.update(before)
        return handler

    def _request_id(self) -> str:
        bits = f"{self._rng.getrandbits(128):032x}"
        return f"{bits[:8]}-{bits[8:12]}-4{bits[13:16]}-a{bits[17:20]}-{bits[20:]}"


class _Refused(Exception):
    """Lambda's own error, which is none of the handler's: its name and its cause."""


def _refuse(fault: Fault) -> NoReturn:
    raise _Refused(REFUSED[fault], "Lambda did not answer")


def _as_task_failed(error: Exception, request_id: str) -> TaskFailed:
    """Return a Python exception as Lambda reports it: the name is the bare class name."""
    cause = {
        "errorMessage": str(error),
        "errorType": type(error).__name__,
        "requestId": request_id,
        "stackTrace": traceback.format_tb(error.__traceback__)[-3:],
    }
    return TaskFailed(type(error).__name__, json.dumps(cause))
