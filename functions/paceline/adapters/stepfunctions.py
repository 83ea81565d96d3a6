"""The campaign's state machine."""

from __future__ import annotations

import json
from typing import Any

from botocore.exceptions import ClientError

# The task ended before our word came: its timeout was first, or somebody else's word.
_OVER = {"TaskDoesNotExist", "TaskTimedOut", "InvalidToken"}


class StepFunctions:
    """A `paceline.ports.Workflow`."""

    def __init__(self, client: Any, state_machine_arn: str) -> None:
        self._client = client
        self._arn = state_machine_arn

    def start(self, campaign_id: str) -> str:
        """Start the execution named after the campaign; one that exists is found, never doubled."""
        try:
            answer = self._client.start_execution(
                stateMachineArn=self._arn, name=campaign_id, input=json.dumps({"campaign_id": campaign_id})
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != "ExecutionAlreadyExists":
                raise
            return self._arn.replace(":stateMachine:", ":execution:") + f":{campaign_id}"
        return str(answer["executionArn"])

    def resume(self, token: str, output: dict[str, object]) -> None:
        """Send a waiting task its success."""
        try:
            self._client.send_task_success(taskToken=token, output=json.dumps(output))
        except ClientError as error:
            if error.response["Error"]["Code"] not in _OVER:
                raise
