"""The engine's API: state machines, executions, Map Runs and task tokens, as AWS names them."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sandbox.engine import lifecycle
from sandbox.engine.compiler import Program, compile_program
from sandbox.engine.documents import is_too_large
from sandbox.engine.errors import (
    ExecutionAlreadyExists,
    ExecutionDoesNotExist,
    ExecutionNotRedrivable,
    InvalidDefinition,
    InvalidExecutionInput,
    InvalidName,
    InvalidOutput,
    ResourceNotFound,
    StateMachineAlreadyExists,
    StateMachineDoesNotExist,
    ValidationException,
)
from sandbox.engine.executions import ABORTED, RUNNING, Execution
from sandbox.engine.history import History
from sandbox.engine.integrations import Integrations
from sandbox.engine.map_runs import MapRun
from sandbox.engine.runtime import Runtime
from sandbox.engine.timing import Timing
from sandbox.engine.validate import validate
from sandbox.scheduler import Scheduler

MAXIMUM_NAME_LENGTH = 80
_FORBIDDEN_IN_NAMES = re.compile(r"[\s<>{}\[\]?*\"#%\\^|~`$&,;:/\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class StateMachine:
    """A state machine as describe_state_machine shows it."""

    arn: str
    name: str
    definition: str
    role_arn: str
    creation_date: datetime
    program: Program
    timeout_seconds: int | None
    type: str = "STANDARD"
    status: str = "ACTIVE"


@dataclass
class Versions:
    """Published machines by the version's ARN, and versions by the alias's."""

    machines: dict[str, StateMachine] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)

    def publish(self, machine: StateMachine) -> str:
        """Keep a machine; return its version's ARN, numbered from 1."""
        earlier = [arn for arn, kept in self.machines.items() if kept.arn == machine.arn]
        if earlier and self.machines[earlier[-1]] == machine:
            return earlier[-1]
        arn = f"{machine.arn}:{len(earlier) + 1}"
        self.machines[arn] = machine
        return arn


class Engine:
    """Runs state machines on a scheduler. All that is random comes from `rng`, all time from the scheduler."""

    def __init__(
        self,
        scheduler: Scheduler,
        integrations: Integrations,
        *,
        rng: random.Random,
        timing: Timing = Timing(),  # noqa: B008 - immutable
        account: str = "123456789012",
        region: str = "us-east-1",
    ) -> None:
        self._runtime = Runtime(scheduler, integrations, rng, timing, account, region)
        self.state_machines: dict[str, StateMachine] = {}
        self.versions = Versions()

    @property
    def transitions(self) -> int:
        """States entered over all executions, retries included: what AWS bills."""
        return self._runtime.transitions

    @property
    def watchers(self) -> list[Callable[[Execution, str], None]]:
        """What is called whenever an execution enters a state, with the state's name; append to it to look on."""
        return self._runtime.watchers

    # -- state machines -----------------------------------------------------------------------------------------

    def create_state_machine(
        self, name: str, definition: str | dict[str, Any], role_arn: str, type: str = "STANDARD"
    ) -> str:
        """Return the new machine's ARN; creating the same machine again returns the same.

        Raises: InvalidDefinition (its `problems` name what is wrong or not supported), StateMachineAlreadyExists,
        InvalidName.
        """
        _check_name(name)
        if type != "STANDARD":
            raise InvalidDefinition([f"type {type} is not supported by the sandbox, only STANDARD"])
        text = definition if isinstance(definition, str) else json.dumps(definition)
        arn = self._runtime.arn("stateMachine", name)
        if (existing := self.state_machines.get(arn)) is not None:
            if (existing.definition, existing.role_arn) == (text, role_arn):
                return arn
            raise StateMachineAlreadyExists(f"State Machine Already Exists: '{arn}'")
        program, timeout_seconds = _compile(text)
        now = self._runtime.scheduler.now()
        self.state_machines[arn] = StateMachine(arn, name, text, role_arn, now, program, timeout_seconds)
        return arn

    def update_state_machine(self, arn: str, definition: str | None = None, role_arn: str | None = None) -> datetime:
        """Change a machine for the executions that start from now on; those that run keep what they have.

        Raises: StateMachineDoesNotExist, InvalidDefinition, ValidationException.
        """
        machine = self.state_machine(arn)
        if definition is None and role_arn is None:
            raise ValidationException("One of definition and roleArn is needed")
        if definition is not None:
            program, timeout_seconds = _compile(definition)
            machine = replace(machine, definition=definition, program=program, timeout_seconds=timeout_seconds)
        self.state_machines[arn] = replace(machine, role_arn=role_arn or machine.role_arn)
        return self._runtime.scheduler.now()

    def delete_state_machine(self, arn: str) -> None:
        """Forget a machine; where there is none, nothing happens. Its executions that run go on to their end."""
        self.state_machines.pop(arn, None)

    def state_machine(self, arn: str) -> StateMachine:
        """Raises: StateMachineDoesNotExist."""
        if (machine := self.state_machines.get(arn)) is None:
            raise StateMachineDoesNotExist(f"State Machine Does Not Exist: '{arn}'")
        return machine

    def publish_version(self, arn: str) -> str:
        """Keep the machine as it is now; return the version's ARN. Unchanged since the last one: that one's.

        Raises: StateMachineDoesNotExist.
        """
        return self.versions.publish(self.state_machine(arn))

    def machine_of(self, execution: Execution) -> StateMachine:
        """Return the machine as it was published, of an execution that was started by a version; else as it is now."""
        version = self.versions.machines.get(execution.version_arn or "")
        return version or self.state_machine(execution.state_machine_arn.partition("/")[0])

    def set_alias(self, name: str, version_arn: str) -> str:
        """Let an alias lead to a version, for the executions that start from now on; return the alias's ARN.

        Raises: ResourceNotFound.
        """
        if version_arn not in self.versions.machines:
            raise ResourceNotFound(f"State Machine Version Does Not Exist: '{version_arn}'")
        arn = f"{version_arn.rpartition(':')[0]}:{name}"
        self.versions.aliases[arn] = version_arn
        return arn

    # -- executions ---------------------------------------------------------------------------------------------

    def start_execution(self, state_machine_arn: str, input: str = "{}", name: str | None = None) -> str:
        """Start an execution and return its ARN. The same name and input as one that still runs: that one's ARN.

        Raises: StateMachineDoesNotExist, InvalidExecutionInput, InvalidName, ExecutionAlreadyExists.
        """
        machine, qualified = self._to_start(state_machine_arn)
        _check_input(input)
        if name is not None:
            _check_name(name)
        name = name or self._runtime.new_uuid()
        arn = self._runtime.arn("execution", f"{machine.name}:{name}")
        if (existing := self._runtime.executions.get(arn)) is not None:
            if existing.status == RUNNING and existing.input == input:
                return arn
            raise ExecutionAlreadyExists(f"Execution Already Exists: '{arn}'")
        execution = self._runtime.executions[arn] = self._execution(machine, arn, name, input)
        execution.version_arn, execution.alias_arn = qualified
        lifecycle.start(self._runtime, execution, machine.timeout_seconds)
        return arn

    def _to_start(self, arn: str) -> tuple[StateMachine, tuple[str | None, str | None]]:
        """Return a machine as its ARN, its version's or its alias's says; and the ARNs of version and alias."""
        if arn in self.state_machines:
            return self.state_machine(arn), (None, None)
        version = self.versions.aliases.get(arn, arn)
        if (machine := self.versions.machines.get(version)) is None:
            raise StateMachineDoesNotExist(f"State Machine Does Not Exist: '{arn}'")
        return machine, (version, arn if version != arn else None)

    def _execution(self, machine: StateMachine, arn: str, name: str, input: str) -> Execution:
        scheduler = self._runtime.scheduler
        return Execution(
            arn=arn,
            name=name,
            state_machine_arn=machine.arn,
            state_machine_name=machine.name,
            role_arn=machine.role_arn,
            input=input,
            program=machine.program,
            start_date=scheduler.now(),
            done=scheduler.future(),
            log=History(scheduler),
        )

    def execution(self, arn: str) -> Execution:
        """Return an execution, a child of a Distributed Map too. Raises: ExecutionDoesNotExist."""
        if (execution := self._runtime.executions.get(arn)) is None:
            raise ExecutionDoesNotExist(f"Execution Does Not Exist: '{arn}'")
        return execution

    def executions(self) -> list[Execution]:
        """Return all executions, children too, in the order in which they started."""
        return list(self._runtime.executions.values())

    def list_executions(
        self, state_machine_arn: str | None = None, *, map_run_arn: str | None = None, status: str | None = None
    ) -> list[Execution]:
        """Return the executions of a machine (without children) or of a Map Run, newest first."""
        if (state_machine_arn is None) == (map_run_arn is None):
            raise ValidationException("Exactly one of stateMachineArn and mapRunArn is needed")
        found: Iterable[Execution]
        if map_run_arn is not None:
            found = self.map_run(map_run_arn).children.values()
        else:
            machine = self.state_machine(state_machine_arn or "")
            found = (e for e in self._runtime.executions.values() if e.state_machine_arn == machine.arn)
        return [execution for execution in reversed(list(found)) if status in (None, execution.status)]

    def stop_execution(self, arn: str, error: str | None = None, cause: str | None = None) -> datetime:
        """Abort an execution and its children, at once. Returns the stop date; a no-op where it is over."""
        execution = self.execution(arn)
        lifecycle.stop(self._runtime, execution, ABORTED, error, cause)
        return execution.stop_date or self._runtime.scheduler.now()

    def redrive_execution(self, arn: str) -> datetime:
        """Go on with an execution that failed, was aborted or timed out. What succeeded is not run again.

        Raises: ExecutionDoesNotExist, ExecutionNotRedrivable.
        """
        execution = self.execution(arn)
        if execution.redrive_status != "REDRIVABLE":
            raise ExecutionNotRedrivable(f"Execution is {execution.status} and can not be redriven: '{arn}'")
        machine = self.state_machine(execution.state_machine_arn)
        lifecycle.redrive(self._runtime, execution, machine.timeout_seconds)
        return self._runtime.scheduler.now()

    # -- Map Runs -----------------------------------------------------------------------------------------------

    def map_run(self, arn: str) -> MapRun:
        """Raises: ResourceNotFound."""
        if (map_run := self._runtime.map_runs.get(arn)) is None:
            raise ResourceNotFound(f"Resource not found: '{arn}'")
        return map_run

    def list_map_runs(self, execution_arn: str) -> list[dict[str, Any]]:
        """Return the Map Runs of an execution as boto3's list_map_runs does."""
        self.execution(execution_arn)
        return [
            {
                "executionArn": execution_arn,
                "mapRunArn": run.arn,
                "stateMachineArn": self.execution(execution_arn).state_machine_arn,
                "startDate": run.start_date,
                **({"stopDate": run.stop_date} if run.stop_date else {}),
            }
            for run in self._runtime.map_runs.values()
            if run.execution_arn == execution_arn
        ]

    def describe_map_run(self, arn: str) -> dict[str, Any]:
        """Return what boto3's describe_map_run returns. Raises: ResourceNotFound."""
        return self.map_run(arn).describe()

    def update_map_run(
        self,
        arn: str,
        *,
        max_concurrency: int | None = None,
        tolerated_failure_percentage: float | None = None,
        tolerated_failure_count: int | None = None,
    ) -> None:
        """Change the limits of a Map Run while it runs. Raises: ResourceNotFound, ValidationException."""
        map_run = self.map_run(arn)
        if (max_concurrency or 0) < 0 or (tolerated_failure_count or 0) < 0:
            raise ValidationException("maxConcurrency and toleratedFailureCount must not be negative")
        if not 0 <= (tolerated_failure_percentage or 0) <= 100:
            raise ValidationException("toleratedFailurePercentage must be between 0 and 100")
        if max_concurrency is not None:
            map_run.max_concurrency = max_concurrency
        if tolerated_failure_percentage is not None:
            map_run.tolerance.percentage = tolerated_failure_percentage
        if tolerated_failure_count is not None:
            map_run.tolerance.count = tolerated_failure_count
        map_run.wake()

    # -- task tokens --------------------------------------------------------------------------------------------

    def send_task_success(self, token: str, output: str) -> None:
        """End a waiting task. Raises: InvalidToken, InvalidOutput, TaskDoesNotExist, TaskTimedOut."""
        try:
            json.loads(output)
        except ValueError as error:
            raise InvalidOutput(f"Invalid Output: '{error}'") from error
        self._runtime.tokens.succeed(token, output)

    def send_task_failure(self, token: str, error: str | None = None, cause: str | None = None) -> None:
        """Make a waiting task fail. Raises: InvalidToken, TaskDoesNotExist, TaskTimedOut."""
        self._runtime.tokens.fail(token, error, cause)

    def send_task_heartbeat(self, token: str) -> None:
        """Say that a waiting task is alive. Raises: InvalidToken, TaskDoesNotExist, TaskTimedOut."""
        self._runtime.tokens.heartbeat(token)


def _compile(text: str) -> tuple[Program, int | None]:
    try:
        definition = json.loads(text)
    except ValueError as error:
        raise InvalidDefinition([f"the definition is not JSON: {error}"]) from error
    if problems := validate(definition):
        raise InvalidDefinition(problems)
    return compile_program(definition), definition.get("TimeoutSeconds")


def _check_name(name: str) -> None:
    if not name or len(name) > MAXIMUM_NAME_LENGTH or _FORBIDDEN_IN_NAMES.search(name):
        raise InvalidName(f"Invalid Name: '{name}'")


def _check_input(text: str) -> None:
    try:
        json.loads(text)
    except ValueError as error:
        raise InvalidExecutionInput(f"Invalid State Machine Execution Input: '{error}'") from error
    if is_too_large(text):
        raise ValidationException("The execution input is larger than 262144 bytes")
