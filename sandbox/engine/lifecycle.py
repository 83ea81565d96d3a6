"""How an execution begins, ends, is stopped and is redriven."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

from greenlet import GreenletExit

from sandbox.engine.errors import STATES_RUNTIME, STATES_TIMEOUT, ExecutionFailed, StateFailed
from sandbox.engine.executions import ABORTED, FAILED, RUNNING, SUCCEEDED, TIMED_OUT, Branch, Checkpoint, Execution
from sandbox.engine.history import MAXIMUM_EVENTS, History, HistoryClosed, HistoryFull

if TYPE_CHECKING:
    from sandbox.engine.compiler import Program
    from sandbox.engine.runtime import Runtime

_END_EVENTS = {
    SUCCEEDED: "ExecutionSucceeded",
    FAILED: "ExecutionFailed",
    TIMED_OUT: "ExecutionTimedOut",
    ABORTED: "ExecutionAborted",
}
ENGINE_ERROR = "Sandbox.EngineError"
"""The error of an execution that met a fault of the sandbox itself; the cause is the traceback."""


def new_child(runtime: Runtime, parent: Execution, program: Program, label: str, data: str) -> Execution:
    """Return a child execution of a Distributed Map, not yet started."""
    name, machine = runtime.new_uuid(), parent.state_machine_name.partition("/")[0]
    execution = Execution(
        arn=runtime.arn("execution", f"{machine}/{label}:{name}"),
        name=name,
        state_machine_arn=runtime.arn("stateMachine", f"{machine}/{label}"),
        state_machine_name=f"{machine}/{label}",
        role_arn=parent.role_arn,
        input=data,
        program=program,
        start_date=runtime.scheduler.now(),
        done=runtime.scheduler.future(),
        log=History(runtime.scheduler),
    )
    runtime.executions[execution.arn] = execution
    return execution


def start(runtime: Runtime, execution: Execution, timeout_seconds: int | None = None) -> None:
    """Start a new execution. timeout_seconds: the machine's TimeoutSeconds."""
    execution.checkpoint = Checkpoint()
    execution.log.add("ExecutionStarted", 0, {"input": execution.input, "roleArn": execution.role_arn})
    _spawn(runtime, execution, 0, timeout_seconds)


def redrive(runtime: Runtime, execution: Execution, timeout_seconds: int | None = None) -> None:
    """Go on with an execution that did not succeed, from the state in which it failed."""
    execution.redrive_count += 1
    execution.redrive_date = runtime.scheduler.now()
    execution.status, execution.error, execution.cause, execution.stop_date = RUNNING, None, None, None
    execution.done = runtime.scheduler.future()
    execution.log.reopen()
    previous = execution.log.add("ExecutionRedriven", len(execution.log), {"redriveCount": execution.redrive_count})
    _spawn(runtime, execution, previous, timeout_seconds)


def _spawn(runtime: Runtime, execution: Execution, previous: int, timeout_seconds: int | None) -> None:
    execution.task = runtime.scheduler.spawn(_run, runtime, execution, previous, name=execution.arn)
    if timeout_seconds is not None:
        timer = runtime.scheduler.call_after(timeout_seconds, stop, runtime, execution, TIMED_OUT, STATES_TIMEOUT)
        execution.done.when_done(timer.cancel)


def _run(runtime: Runtime, execution: Execution, previous: int) -> None:
    branch = Branch(runtime, execution)
    branch.previous = execution.last_event = previous
    try:
        assert execution.checkpoint is not None
        output = execution.program.run(branch, execution.input_document, execution.checkpoint)
        execution.output = output.text
        _finish(runtime, execution, SUCCEEDED, branch.previous)
    except StateFailed as failure:
        _finish(runtime, execution, FAILED, branch.previous, failure.error, failure.cause)
    except ExecutionFailed as failure:
        _finish(runtime, execution, FAILED, execution.last_event, failure.error, failure.cause)
    except HistoryFull:
        cause = f"The execution reached the maximum number of history events ({MAXIMUM_EVENTS})."
        _finish(runtime, execution, FAILED, branch.previous, STATES_RUNTIME, cause)
    except (HistoryClosed, GreenletExit):
        pass  # it was stopped, and its end is recorded
    except Exception:
        _finish(runtime, execution, FAILED, branch.previous, ENGINE_ERROR, traceback.format_exc())


def stop(
    runtime: Runtime, execution: Execution, status: str, error: str | None = None, cause: str | None = None
) -> None:
    """End a running execution from outside, at once: ABORTED or TIMED_OUT. What it called goes on."""
    if execution.status != RUNNING:
        return
    task = execution.task
    _finish(runtime, execution, status, len(execution.log), error, cause)
    if task is not None:
        task.kill()


def _finish(
    runtime: Runtime,
    execution: Execution,
    status: str,
    previous: int,
    error: str | None = None,
    cause: str | None = None,
) -> None:
    if execution.status != RUNNING:
        return
    execution.status, execution.error, execution.cause = status, error, cause
    execution.stop_date = runtime.scheduler.now()
    if status == SUCCEEDED:
        details = {"output": execution.output}
        execution.checkpoint = None
    else:
        details = {name: text for name, text in (("error", error), ("cause", cause)) if text is not None}
    execution.log.add(_END_EVENTS[status], previous, details, is_last=True)
    execution.log.close()
    execution.forget_documents()
    execution.done.set(status)
