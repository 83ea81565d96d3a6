"""Step Functions as boto3 sees it: the operations that the functions call, answered by the engine."""

from __future__ import annotations

from typing import Any

from sandbox.engine import Engine
from sandbox.engine.errors import ApiError


class WorkflowError(Exception):
    """A call that Step Functions refuses. code: AWS's name of the error."""

    def __init__(self, error: ApiError) -> None:
        super().__init__(str(error))
        self.code = type(error).__name__


class Workflows:
    """The engine behind the operations of the `stepfunctions` client."""

    OPERATIONS = frozenset({"StartExecution", "DescribeExecution", "StopExecution", "SendTaskSuccess"})

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def call(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Answer one operation. Raises: WorkflowError."""
        try:
            if operation == "StartExecution":
                return self._start(parameters)
            if operation == "DescribeExecution":
                return self._describe(parameters["executionArn"])
            if operation == "StopExecution":
                arn, error, cause = (parameters.get(name) for name in ("executionArn", "error", "cause"))
                return {"stopDate": self._engine.stop_execution(str(arn), error, cause)}
            self._engine.send_task_success(parameters["taskToken"], parameters["output"])
            return {}
        except ApiError as error:
            raise WorkflowError(error) from error

    def _start(self, parameters: dict[str, Any]) -> dict[str, Any]:
        arn = self._engine.start_execution(
            parameters["stateMachineArn"], parameters.get("input", "{}"), parameters.get("name")
        )
        return {"executionArn": arn, "startDate": self._engine.execution(arn).start_date}

    def _describe(self, arn: str) -> dict[str, Any]:
        execution = self._engine.execution(arn)
        described = {
            "executionArn": arn,
            "stateMachineArn": execution.state_machine_arn,
            "name": execution.name,
            "status": execution.status,
            "startDate": execution.start_date,
            "stopDate": execution.stop_date,
            "input": execution.input,
            "output": execution.output,
            "error": execution.error,
            "cause": execution.cause,
        }
        return {name: value for name, value in described.items() if value is not None}
