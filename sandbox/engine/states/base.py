"""What all states do alike: input and output processing, entering and leaving, Retry and Catch."""

from __future__ import annotations

from typing import Any

from sandbox.engine.documents import EMPTY, Document, is_too_large
from sandbox.engine.errors import (
    STATES_DATA_LIMIT_EXCEEDED,
    STATES_RUNTIME,
    ExecutionFailed,
    StateFailed,
    StateRuntimeError,
)
from sandbox.engine.executions import Branch, Checkpoint
from sandbox.engine.paths import Path, PathNotFound, compile_path
from sandbox.engine.references import put
from sandbox.engine.retry import RetryPolicy
from sandbox.engine.templates import Template, compile_template


def optional_path(fields: dict[str, Any], name: str) -> Path | None:
    """Compile a path field; `$` and null both mean that there is no path to follow (see `is_null`)."""
    text = fields.get(name)
    return compile_path(text) if text is not None and text != "$" else None


def is_null(fields: dict[str, Any], name: str) -> bool:
    """Say whether a path field is there and null: the data it stands for is dropped."""
    return name in fields and fields[name] is None


def merge(data: Document, result: Document, path: Path | None, drops_result: bool) -> Document:
    """Return the input with a result at ResultPath. Raises: StateFailed States.ResultPathMatchFailure."""
    if drops_result:
        return data
    return result if path is None else Document(put(data.value, path, result.value))


class Catcher:
    """A compiled catcher."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.error_equals: list[str] = fields["ErrorEquals"]
        self.next: str = fields["Next"]
        self.result_path = optional_path(fields, "ResultPath")
        self.drops_result = is_null(fields, "ResultPath")


class State:
    """A compiled state. `run` is what its type does; `execute` is one visit, from entered to exited."""

    type = ""
    can_retry = False
    failure_event: str | None = None
    """Recorded when a failure is not retried (a Map's and a Parallel's own; a Task records each attempt)."""

    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        self.name = name
        self.next: str | None = fields.get("Next")
        self.input_path = optional_path(fields, "InputPath")
        self.output_path = optional_path(fields, "OutputPath")
        self.result_path = optional_path(fields, "ResultPath")
        self.drops_input = is_null(fields, "InputPath")
        self.drops_output = is_null(fields, "OutputPath")
        self.drops_result = is_null(fields, "ResultPath")
        self.parameters = self._template(fields, "Parameters")
        self.result_selector = self._template(fields, "ResultSelector")
        self.retriers: list[dict[str, Any]] = fields.get("Retry", [])
        self.catchers = [Catcher(catcher) for catcher in fields.get("Catch", [])]

    @staticmethod
    def _template(fields: dict[str, Any], name: str) -> Template | None:
        return compile_template(fields[name]) if name in fields else None

    # -- one visit ----------------------------------------------------------------------------------------------

    def run(self, branch: Branch, data: Document, checkpoint: Checkpoint) -> tuple[Document, str | None]:
        """Do one attempt. Returns the output and the next state's name.

        Raises: StateFailed, StateRuntimeError, ExecutionFailed.
        """
        raise NotImplementedError

    def execute(self, branch: Branch, data: Document, checkpoint: Checkpoint) -> tuple[Document, str | None]:
        branch.runtime.transition()
        branch.state_name, branch.entered_at = self.name, branch.runtime.scheduler.now()
        branch.state_type = self.type
        branch.retry_count = 0 if self.can_retry else None
        entered = branch.event(f"{self.type}StateEntered", {"name": self.name, "input": data.text})
        for watcher in branch.runtime.watchers:
            watcher(branch.execution, self.name)
        try:
            output, following = self._attempt(branch, data, checkpoint)
        except StateRuntimeError as error:
            raise self._runtime_failure(branch, entered, str(error)) from error
        except PathNotFound as error:
            message = f"Invalid path '{error.path}' : {error.reason}"
            raise self._runtime_failure(branch, entered, message) from error
        branch.event(f"{self.type}StateExited", {"name": self.name, "output": output.text})
        return output, following

    def _runtime_failure(self, branch: Branch, entered: int, message: str) -> ExecutionFailed:
        branch.execution.last_event = branch.previous
        where = f"An error occurred while executing the state '{self.name}' (entered at the event id #{entered})."
        return ExecutionFailed(STATES_RUNTIME, f"{where} {message}")

    def _attempt(self, branch: Branch, data: Document, checkpoint: Checkpoint) -> tuple[Document, str | None]:
        policy = RetryPolicy(self.retriers, branch.rng)
        while True:
            try:
                output, following = self.run(branch, data, checkpoint)
                if is_too_large(output.text):
                    raise data_limit_exceeded(self.name, only_by_name=True)
                return output, following
            except StateFailed as failure:
                if (delay := policy.delay(failure)) is None:
                    if self.failure_event is not None and not failure.only_by_name:
                        branch.event(self.failure_event)
                    return self._catch(branch, data, failure)
                branch.retry_count = policy.count
                checkpoint.enter(self.name, data)
                branch.runtime.scheduler.sleep(delay)
                branch.runtime.transition()

    def _catch(self, branch: Branch, data: Document, failure: StateFailed) -> tuple[Document, str]:
        """Return the output and target of the first catcher that matches, or raise the failure again."""
        for catcher in self.catchers:
            if failure.matches(catcher.error_equals):
                caught = Document({"Error": failure.error or "", "Cause": failure.cause or ""})
                return merge(data, caught, catcher.result_path, catcher.drops_result), catcher.next
        raise failure

    # -- input and output ---------------------------------------------------------------------------------------

    def effective_input(self, branch: Branch, data: Document) -> Document:
        """Return what InputPath leaves."""
        if self.drops_input:
            return EMPTY
        return data if self.input_path is None else Document(self.input_path.find(data.value, branch))

    def payload(self, branch: Branch, data: Document) -> Document:
        """Return what InputPath and Parameters make."""
        effective = self.effective_input(branch, data)
        return effective if self.parameters is None else Document(self.parameters(effective.value, branch))

    def output(self, branch: Branch, data: Document, result: Document) -> Document:
        """Return what ResultSelector, ResultPath and OutputPath make of a result."""
        if self.result_selector is not None:
            result = Document(self.result_selector(result.value, branch))
        return self.filtered(branch, merge(data, result, self.result_path, self.drops_result))

    def filtered(self, branch: Branch, output: Document) -> Document:
        """Return what OutputPath leaves."""
        if self.drops_output:
            return EMPTY
        return output if self.output_path is None else Document(self.output_path.find(output.value, branch))


def data_limit_exceeded(name: str, *, only_by_name: bool) -> StateFailed:
    """Return the failure of a state, or of what a task called, whose result is too large."""
    excess = "returned a result with a size exceeding the maximum number of bytes service limit."
    return StateFailed(STATES_DATA_LIMIT_EXCEEDED, f"The state/task '{name}' {excess}", only_by_name=only_by_name)
