"""The campaign's state machine."""

from __future__ import annotations

import json
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from paceline.adapters.service_faults import as_ours

# The alias by which executions are started: the template's AutoPublishAlias.
ALIAS = "live"

# The task ended before our word came: its timeout was first, or somebody else's word.
_OVER = {"TaskDoesNotExist", "TaskTimedOut", "InvalidToken"}


class StepFunctions:
    """A `paceline.ports.Workflow`. state_machine_arn: of the machine, of one of its versions or of an alias."""

    def __init__(self, client: Any, state_machine_arn: str) -> None:
        self._client = client
        self._arn = state_machine_arn

    def start(self, campaign_id: str) -> str:
        """Start the execution named after the campaign; one that exists is found, never doubled."""
        return self._start(campaign_id, {"campaign_id": campaign_id})

    def revise(self, campaign_id: str, reports_begun: int) -> str:
        """Start the execution that makes the next report; one that exists is found, never doubled."""
        return self._start(f"{campaign_id}.r{reports_begun}", {"campaign_id": campaign_id, "revision": reports_begun})

    def _start(self, name: str, given: dict[str, object]) -> str:
        try:
            answer = self._client.start_execution(stateMachineArn=self._arn, name=name, input=json.dumps(given))
        except ClientError as error:
            if error.response["Error"]["Code"] != "ExecutionAlreadyExists":
                raise as_ours(error) from error
            machine = ":".join(self._arn.split(":")[:7])  # an execution's ARN names neither version nor alias
            return machine.replace(":stateMachine:", ":execution:") + f":{name}"
        except BotoCoreError as error:
            raise as_ours(error) from error
        return str(answer["executionArn"])

    def resume(self, token: str, output: dict[str, object]) -> None:
        """Send a waiting task its success."""
        try:
            self._client.send_task_success(taskToken=token, output=json.dumps(output))
        except ClientError as error:
            if error.response["Error"]["Code"] not in _OVER:
                raise as_ours(error) from error
        except BotoCoreError as error:
            raise as_ours(error) from error
