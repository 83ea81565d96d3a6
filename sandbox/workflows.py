"""Step Functions as its API shows it: every operation that the sandbox has, answered by the engine."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from sandbox import workflow_views as views
from sandbox.engine import Engine
from sandbox.engine.errors import ApiError, InvalidDefinition, ValidationException
from sandbox.engine.executions import RUNNING, UNSUCCESSFUL, Execution
from sandbox.engine.validate import validate
from sandbox.pages import page

Parameters = dict[str, Any]
_STATUSES = frozenset({RUNNING, "SUCCEEDED", *UNSUCCESSFUL, "PENDING_REDRIVE"})
# What a machine may be created with that the sandbox only keeps and shows.
_KEPT = ("loggingConfiguration", "tracingConfiguration")
# What it may not: it would be a promise that nothing here keeps.
_REFUSED = ("publish", "versionDescription", "encryptionConfiguration")


class WorkflowError(Exception):
    """A call that Step Functions refuses. code: AWS's name of the error."""

    def __init__(self, error: ApiError) -> None:
        super().__init__(str(error))
        self.code = type(error).__name__


class Workflows:
    """The engine behind the operations of the `stepfunctions` client."""

    OPERATIONS = frozenset(
        {"CreateStateMachine", "UpdateStateMachine", "DeleteStateMachine", "DescribeStateMachine", "ListStateMachines"}
        | {"ValidateStateMachineDefinition", "DescribeStateMachineForExecution"}
        | {"StartExecution", "DescribeExecution", "ListExecutions", "GetExecutionHistory"}
        | {"StopExecution", "RedriveExecution", "ListMapRuns", "DescribeMapRun", "UpdateMapRun"}
        | {"SendTaskSuccess", "SendTaskFailure", "SendTaskHeartbeat"}
        | {"ListTagsForResource", "TagResource", "UntagResource"}
    )

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._settings: dict[str, Parameters] = {}
        self._tags: dict[str, dict[str, str]] = {}
        self._operations: dict[str, Callable[[Parameters], Parameters]] = {
            "CreateStateMachine": self._create,
            "UpdateStateMachine": self._update,
            "DeleteStateMachine": self._delete,
            "DescribeStateMachine": self._describe_machine,
            "ListStateMachines": self._list_machines,
            "ValidateStateMachineDefinition": self._validate,
            "DescribeStateMachineForExecution": self._describe_machine_of,
            "StartExecution": self._start,
            "DescribeExecution": self._describe,
            "ListExecutions": self._list,
            "GetExecutionHistory": self._history,
            "StopExecution": self._stop,
            "RedriveExecution": lambda p: {"redriveDate": engine.redrive_execution(p["executionArn"])},
            "ListMapRuns": self._list_map_runs,
            "DescribeMapRun": lambda p: engine.describe_map_run(p["mapRunArn"]),
            "UpdateMapRun": self._update_map_run,
            "SendTaskSuccess": self._succeed,
            "SendTaskFailure": self._fail,
            "SendTaskHeartbeat": self._beat,
            "ListTagsForResource": self._list_tags,
            "TagResource": self._tag,
            "UntagResource": self._untag,
        }

    def call(self, operation: str, parameters: Parameters) -> Parameters:
        """Answer one of OPERATIONS, as boto3 shows it after parsing. Raises: WorkflowError."""
        try:
            return self._operations[operation](parameters)
        except ApiError as error:
            raise WorkflowError(error) from error

    # -- state machines -----------------------------------------------------------------------------------------------

    def _create(self, parameters: Parameters) -> Parameters:
        _refuse(parameters)
        arn = self._engine.create_state_machine(
            parameters["name"], parameters["definition"], parameters["roleArn"], parameters.get("type", "STANDARD")
        )
        self._settings[arn] = {name: parameters[name] for name in _KEPT if name in parameters}
        self._tags[arn] = {tag["key"]: tag["value"] for tag in parameters.get("tags", [])}
        return {"stateMachineArn": arn, "creationDate": self._engine.state_machine(arn).creation_date}

    def _update(self, parameters: Parameters) -> Parameters:
        _refuse(parameters)
        arn = parameters["stateMachineArn"]
        updated = self._engine.update_state_machine(arn, parameters.get("definition"), parameters.get("roleArn"))
        self._settings.setdefault(arn, {}).update({name: parameters[name] for name in _KEPT if name in parameters})
        return {"updateDate": updated}

    def _delete(self, parameters: Parameters) -> Parameters:
        self._engine.delete_state_machine(parameters["stateMachineArn"])
        return {}

    def _describe_machine(self, parameters: Parameters) -> Parameters:
        arn = parameters["stateMachineArn"]
        return views.machine_described(self._engine.state_machine(arn), self._settings.get(arn, {}))

    def _describe_machine_of(self, parameters: Parameters) -> Parameters:
        """Of a child of a Distributed Map it is the item processor, as on AWS."""
        execution = self._engine.execution(parameters["executionArn"])
        arn, _, label = execution.state_machine_arn.partition("/")
        machine = self._engine.machine_of(execution)
        shown = views.machine_described(machine, self._settings.get(arn, {}))
        shown["updateDate"] = machine.creation_date
        for name in ("type", "status", "creationDate"):
            del shown[name]
        if label:
            processor = _processor(json.loads(machine.definition), label)
            definition = machine.definition if processor is None else json.dumps(processor)
            arn = execution.state_machine_arn
            shown |= {"stateMachineArn": arn, "name": arn.rsplit(":", 1)[1], "label": label}
            shown |= {"definition": definition, "mapRunArn": execution.map_run_arn}
        return shown

    def _list_machines(self, parameters: Parameters) -> Parameters:
        machines = sorted(self._engine.state_machines.values(), key=lambda machine: machine.name)
        shown, more = page(machines, lambda machine: machine.arn, parameters)
        return {"stateMachines": [views.machine_in_list(machine) for machine in shown], **more}

    def _validate(self, parameters: Parameters) -> Parameters:
        try:
            problems, code = validate(json.loads(parameters["definition"])), "SCHEMA_VALIDATION_FAILED"
        except ValueError as error:
            problems, code = [f"the definition is not JSON: {error}"], "INVALID_JSON_DESCRIPTION"
        if parameters.get("type", "STANDARD") != "STANDARD":
            problems.append(f"type {parameters['type']} is not supported by the sandbox, only STANDARD")
        most = parameters.get("maxResults") or 100
        diagnostics = [_diagnostic(code, problem) for problem in problems[:most]]
        return {
            "result": "FAIL" if problems else "OK",
            "diagnostics": diagnostics,
            "truncated": len(problems) > most,
        }

    # -- executions ---------------------------------------------------------------------------------------------------

    def _start(self, parameters: Parameters) -> Parameters:
        arn = self._engine.start_execution(
            parameters["stateMachineArn"], parameters.get("input", "{}"), parameters.get("name")
        )
        return {"executionArn": arn, "startDate": self._engine.execution(arn).start_date}

    def _describe(self, parameters: Parameters) -> Parameters:
        execution = self._engine.execution(parameters["executionArn"])
        return views.execution_described(execution, with_data=parameters.get("includedData") != "METADATA_ONLY")

    def _list(self, parameters: Parameters) -> Parameters:
        status = parameters.get("statusFilter")
        if status is not None and status not in _STATUSES:
            raise ValidationException(f"statusFilter must be one of {', '.join(sorted(_STATUSES))}, not {status!r}")
        found = self._engine.list_executions(
            parameters.get("stateMachineArn"), map_run_arn=parameters.get("mapRunArn"), status=status
        )
        redriven = parameters.get("redriveFilter")
        if redriven is not None:
            found = [execution for execution in found if (execution.redrive_count > 0) == (redriven == "REDRIVEN")]
        shown, more = page(found, _arn, parameters)
        return {"executions": [views.execution_in_list(execution) for execution in shown], **more}

    def _history(self, parameters: Parameters) -> Parameters:
        log = self._engine.execution(parameters["executionArn"]).log
        events, more = views.history_page(log, parameters)
        if not parameters.get("includeExecutionData", True):
            events = [views.event_without_data(event) for event in events]
        return {"events": events, **more}

    def _stop(self, parameters: Parameters) -> Parameters:
        arn, error, cause = (parameters.get(name) for name in ("executionArn", "error", "cause"))
        return {"stopDate": self._engine.stop_execution(str(arn), error, cause)}

    def _succeed(self, parameters: Parameters) -> Parameters:
        self._engine.send_task_success(parameters["taskToken"], parameters["output"])
        return {}

    def _fail(self, parameters: Parameters) -> Parameters:
        self._engine.send_task_failure(parameters["taskToken"], parameters.get("error"), parameters.get("cause"))
        return {}

    def _beat(self, parameters: Parameters) -> Parameters:
        self._engine.send_task_heartbeat(parameters["taskToken"])
        return {}

    # -- Map Runs, tags -----------------------------------------------------------------------------------------------

    def _list_map_runs(self, parameters: Parameters) -> Parameters:
        runs = self._engine.list_map_runs(parameters["executionArn"])
        shown, more = page(runs, lambda run: str(run["mapRunArn"]), parameters)
        return {"mapRuns": shown, **more}

    def _update_map_run(self, parameters: Parameters) -> Parameters:
        self._engine.update_map_run(
            parameters["mapRunArn"],
            max_concurrency=parameters.get("maxConcurrency"),
            tolerated_failure_percentage=parameters.get("toleratedFailurePercentage"),
            tolerated_failure_count=parameters.get("toleratedFailureCount"),
        )
        return {}

    def _list_tags(self, parameters: Parameters) -> Parameters:
        tags = self._tags_of(parameters)
        return {"tags": [{"key": key, "value": value} for key, value in tags.items()]}

    def _tag(self, parameters: Parameters) -> Parameters:
        self._tags_of(parameters).update({tag["key"]: tag["value"] for tag in parameters["tags"]})
        return {}

    def _untag(self, parameters: Parameters) -> Parameters:
        for key in parameters["tagKeys"]:
            self._tags_of(parameters).pop(key, None)
        return {}

    def _tags_of(self, parameters: Parameters) -> dict[str, str]:
        arn = self._engine.state_machine(parameters["resourceArn"]).arn
        return self._tags.setdefault(arn, {})


def _arn(execution: Execution) -> str:
    return execution.arn


def _refuse(parameters: Parameters) -> None:
    for name in _REFUSED:
        if parameters.get(name):
            raise InvalidDefinition([f"{name} is not supported by the sandbox"])


def _diagnostic(code: str, problem: str) -> Parameters:
    where, _, message = problem.partition(": ")
    located = {"location": where, "message": message} if where.startswith("/") else {"message": problem}
    return {"severity": "ERROR", "code": code, **located}


def _processor(value: Any, label: str) -> Any:
    """Return the item processor of the Distributed Map with a label, wherever in a definition it is."""
    if isinstance(value, dict):
        if value.get("Type") == "Map" and value.get("Label") == label:
            return value.get("ItemProcessor") or value.get("Iterator")
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            if (found := _processor(inner, label)) is not None:
                return found
    return None
