"""One run of a state machine, and the lines of control inside it."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sandbox.engine.documents import Document
from sandbox.engine.history import History
from sandbox.engine.timestamps import format_timestamp
from sandbox.scheduler import Future, Task

if TYPE_CHECKING:
    from sandbox.engine.compiler import Program
    from sandbox.engine.map_runs import MapRun
    from sandbox.engine.runtime import Runtime

RUNNING, SUCCEEDED, FAILED, TIMED_OUT, ABORTED = "RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"
UNSUCCESSFUL = (FAILED, TIMED_OUT, ABORTED)


@dataclass
class Checkpoint:
    """How far a line of control has come, so that a redrive can go on from there.

    state, data: the state entered last and its input. children: the branches or iterations of that state, by index.
    output: set once this line is done. map_run: of that state, when it is a Distributed Map.
    """

    state: str | None = None
    data: Document | None = None
    children: dict[int, Checkpoint] = field(default_factory=dict)
    output: Document | None = None
    map_run: MapRun | None = None

    def enter(self, state: str, data: Document) -> None:
        self.state, self.data = state, data
        self.children, self.map_run = {}, None

    def child(self, index: int) -> Checkpoint:
        return self.children.setdefault(index, Checkpoint())


@dataclass(eq=False)
class Execution:
    """An execution as describe_execution shows it; dates are aware, UTC.

    `done` is set when it ends; a redrive gives it a new one.
    """

    arn: str
    name: str
    state_machine_arn: str
    state_machine_name: str
    role_arn: str
    input: str
    program: Program
    start_date: datetime
    done: Future
    log: History
    map_run_arn: str | None = None
    version_arn: str | None = None
    alias_arn: str | None = None
    item_count: int = 0
    status: str = RUNNING
    output: str | None = None
    error: str | None = None
    cause: str | None = None
    stop_date: datetime | None = None
    redrive_count: int = 0
    redrive_date: datetime | None = None
    checkpoint: Checkpoint | None = None
    task: Task | None = None
    last_event: int = 0
    _input_document: Document | None = None

    def history(self) -> list[dict[str, Any]]:
        """Return the events as boto3's get_execution_history does."""
        return self.log.events()

    @property
    def redrive_status(self) -> str:
        """REDRIVABLE, NOT_REDRIVABLE, or REDRIVABLE_BY_MAP_RUN (a child goes on when its parent is redriven)."""
        if self.status not in UNSUCCESSFUL:
            return "NOT_REDRIVABLE"
        return "REDRIVABLE" if self.map_run_arn is None else "REDRIVABLE_BY_MAP_RUN"

    @property
    def input_document(self) -> Document:
        if self._input_document is None:
            self._input_document = Document.parse(self.input)
        return self._input_document

    def forget_documents(self) -> None:
        """Drop what only a running execution needs."""
        self._input_document = None
        self.task = None

    def context(self) -> dict[str, Any]:
        """Return the execution's part of the context object."""
        return {
            "Execution": {
                "Id": self.arn,
                "Input": self.input_document.value,
                "StartTime": format_timestamp(self.start_date),
                "Name": self.name,
                "RoleArn": self.role_arn,
                "RedriveCount": self.redrive_count,
            },
            "StateMachine": {"Id": self.state_machine_arn, "Name": self.state_machine_name},
        }


class Branch:
    """One line of control of an execution: its main line, a Parallel branch or a Map iteration.

    previous: the id of the line's last event. retry_count: None in a state of a type that cannot be retried.
    """

    __slots__ = (
        "entered_at", "execution", "map_item", "previous", "retry_count", "runtime", "state_name", "state_type",
        "task_token",
    )  # fmt: skip

    def __init__(self, runtime: Runtime, execution: Execution, map_item: dict[str, Any] | None = None) -> None:
        self.runtime = runtime
        self.execution = execution
        self.map_item = map_item
        self.previous = 0
        self.state_name = ""
        self.state_type = ""
        self.entered_at = execution.start_date
        self.task_token: str | None = None
        self.retry_count: int | None = None

    @property
    def rng(self) -> random.Random:
        return self.runtime.rng

    def fork(self, map_item: dict[str, Any] | None = None) -> Branch:
        """Return a new line that begins in the current state."""
        branch = Branch(self.runtime, self.execution, map_item or self.map_item)
        branch.previous = self.previous
        branch.state_name, branch.entered_at = self.state_name, self.entered_at
        return branch

    def event(self, event_type: str, details: dict[str, Any] | None = None) -> int:
        """Record an event of this line and return its id."""
        self.previous = self.execution.log.add(event_type, self.previous, details)
        return self.previous

    def abort(self) -> None:
        """Record that the line ends inside a state, because a line beside it failed."""
        if self.state_type in ("Task", "Wait", "Map", "Parallel"):
            self.event(f"{self.state_type}StateAborted")

    def context(self) -> dict[str, Any]:
        """Return the context object, `$$`."""
        context = self.execution.context()
        state: dict[str, Any] = {"Name": self.state_name, "EnteredTime": format_timestamp(self.entered_at)}
        if self.retry_count is not None:
            state["RetryCount"] = self.retry_count
        context["State"] = state
        if self.map_item is not None:
            context["Map"] = {"Item": self.map_item}
        if self.task_token is not None:
            context["Task"] = {"Token": self.task_token}
        return context
