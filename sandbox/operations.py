"""What a run used of what AWS bills: each operation, by who used it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sandbox.dynamodb import Call
from sandbox.engine import Execution
from sandbox.functions import Function
from sandbox.world import Sandbox

# Lambda's own lines of an invocation: START, END, and REPORT with the trace's id where it is sampled, in bytes.
PLATFORM_LINES = 71 + 52 + 160
# X-Ray's default rule: the first request of a second, and 5 % of the others.
SAMPLED = 0.05
# Who makes a call that no function makes: the state machine (its manifests and results).
WORKFLOW, CUSTOMER = "workflow", "customer"


class Operation(StrEnum):
    """What is billed, as the price table names it."""

    TRANSITIONS = "state_transitions"
    LAMBDA_REQUESTS = "lambda_requests"
    LAMBDA_GB_SECONDS = "lambda_gb_seconds"
    WRITE_UNITS = "dynamodb_write_units"
    READ_UNITS = "dynamodb_read_units"
    TABLE_GB_MONTHS = "dynamodb_gb_months"
    BACKUP_GB_MONTHS = "dynamodb_backup_gb_months"
    S3_PUTS = "s3_puts_and_lists"
    S3_GETS = "s3_gets"
    S3_GB_MONTHS = "s3_gb_months"
    HTTP_REQUESTS = "http_api_requests"
    EVENTS = "eventbridge_events"
    SECRET_READS = "secret_reads"  # noqa: S105 (its name)
    LOG_GB = "log_gb"
    TRACES = "xray_traces"
    SQS_REQUESTS = "sqs_requests"
    EXPRESS_REQUESTS = "express_requests"
    EXPRESS_GB_SECONDS = "express_gb_seconds"


@dataclass
class Operations:
    """Counts from `watch` on. counts: by operation and by function's folder, WORKFLOW or CUSTOMER.

    states: how often each state was entered. function_ms: billed, by folder. sending_seconds: from a group's beginning
    to its batch's close, added up over the groups.
    """

    counts: dict[Operation, Counter[str]] = field(default_factory=dict)
    states: Counter[str] = field(default_factory=Counter)
    function_ms: Counter[str] = field(default_factory=Counter)
    sending_seconds: float = 0.0
    _seconds: set[int] = field(default_factory=set)
    _groups: dict[str, list[float]] = field(default_factory=dict)

    @classmethod
    def watch(cls, sandbox: Sandbox) -> Operations:
        """Count what the sandbox does from now on; what is called from outside its time is not counted."""
        self = cls()
        self._sandbox = sandbox
        sandbox.functions.watchers.append(self._invoked)
        sandbox.counters.watchers.append(self._table)
        sandbox.calls.watchers.append(self._service)
        sandbox.logs.watchers.append(self._logged)
        sandbox.engine.watchers.append(self._entered)
        for gateway in sandbox.gateways:
            gateway.watchers.append(self._requested)
        self._transitions_before = sandbox.engine.transitions
        return self

    def add(self, operation: Operation, who: str, amount: float = 1) -> None:
        self.counts.setdefault(operation, Counter())[who] += amount  # type: ignore[assignment]

    def total(self, operation: Operation, who: frozenset[str] | None = None) -> float:
        """Return how much was used, by all or by some."""
        used = self.counts.get(operation, Counter())
        return float(sum(amount for name, amount in used.items() if who is None or name in who))

    def finish(self) -> None:
        """Add what is known at the end: retries of states, which are billed as entering is; and sampled traces."""
        transitions = self._sandbox.engine.transitions - self._transitions_before
        self.add(Operation.TRANSITIONS, WORKFLOW, transitions - self.total(Operation.TRANSITIONS))
        first = len(self._seconds)
        rest = self.total(Operation.LAMBDA_REQUESTS) - first
        self.add(Operation.TRACES, "all", first + SAMPLED * rest)

    # -- what is watched --------------------------------------------------------------------------------------------

    def _invoked(self, function: Function, started: int, billed_ms: int) -> None:
        who = function.folder
        self.add(Operation.LAMBDA_REQUESTS, who)
        self.add(Operation.LAMBDA_GB_SECONDS, who, billed_ms / 1000 * function.memory_mb / 1024)
        self.add(Operation.LOG_GB, who, PLATFORM_LINES / 1e9)
        self.function_ms[who] += billed_ms
        self._seconds.add(started // 1_000_000)

    def _table(self, call: Call) -> None:
        if call.caller is not None:
            invocation = call.caller.context.get("invocation")
            who = invocation.function.folder if invocation else WORKFLOW
            self.add(Operation.WRITE_UNITS, who, call.write_units)
            self.add(Operation.READ_UNITS, who, call.read_units)

    def _service(self, service: str, operation: str) -> None:
        if self._sandbox.scheduler.current is None:
            return
        if service == "s3" and not operation.startswith("Delete"):
            reads = operation.startswith(("Get", "Head"))
            self.add(Operation.S3_GETS if reads else Operation.S3_PUTS, self._who())
        elif (service, operation) == ("events", "PutEvents"):
            self.add(Operation.EVENTS, self._who())
        elif (service, operation) == ("secretsmanager", "GetSecretValue"):
            self.add(Operation.SECRET_READS, self._who())

    def _requested(self, function: str) -> None:
        self.add(Operation.HTTP_REQUESTS, self._sandbox.functions.get(function).folder)

    def _logged(self, text: str) -> None:
        self.add(Operation.LOG_GB, self._who(), len(text.encode()) / 1e9)

    def _entered(self, execution: Execution, state: str) -> None:
        self.states[state] += 1
        self.add(Operation.TRANSITIONS, WORKFLOW)
        if state == "Send Items":
            self._groups.setdefault(execution.arn, []).append(self._sandbox.scheduler.time())
        elif state == "Close Batch":
            now = self._sandbox.scheduler.time()
            self.sending_seconds += sum(now - began for began in self._groups.pop(execution.arn, ()))

    def _who(self) -> str:
        invocation = self._sandbox.functions.running()
        return invocation.function.folder if invocation else WORKFLOW

    _sandbox: Any = None
    _transitions_before: int = 0
