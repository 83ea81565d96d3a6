"""`paceline lost-events`: what Lambda gave up is taken once more by its own function, and what fails again stays."""

from __future__ import annotations

import io
import json
from typing import Any

import boto3
import pytest
from click.testing import CliRunner, Result

from console import reach
from console.cli import main
from paceline.opt_outs import TableOptOuts
from sandbox.deployment import ROOT
from sandbox.engine import TaskFailed
from tests.builders.campaigns import OPERATOR, Office, an_office
from tests.builders.core import phone_number

SAMPLE = ROOT / "events" / "provider-event-delivered.json"
NUMBER = "+12025550199"


class SandboxLambda:
    """Lambda's client, as far as the command uses it, with the sandbox's functions behind it."""

    def __init__(self, office: Office) -> None:
        self._office = office

    def invoke(self, FunctionName: str, Payload: bytes) -> dict[str, Any]:
        try:
            answer = self._office.sandbox.functions.invoke(FunctionName, Payload.decode())
        except TaskFailed as failed:
            return {
                "FunctionError": "Unhandled",
                "Payload": io.BytesIO(json.dumps({"errorType": failed.error}).encode()),
            }
        return {"Payload": io.BytesIO(answer.encode())}


def lost_events(office: Office, *arguments: str) -> Result:
    words = ("lost-events", "--stack", "paceline", *arguments)
    with pytest.MonkeyPatch.context() as patch:
        clients = reach._clients
        others = {"lambda": SandboxLambda(office)}
        patch.setattr(
            reach, "_clients", lambda *given: lambda name, **more: others.get(name) or clients(*given)(name, **more)
        )
        return office.sandbox.do(lambda: CliRunner().invoke(main, words, env={"COLUMNS": "200"}))


def queue(office: Office) -> str:
    resource = {"StackName": "paceline", "LogicalResourceId": "LostProviderEvents"}
    found = boto3.client("cloudformation").describe_stack_resource(**resource)
    return str(found["StackResourceDetail"]["PhysicalResourceId"])


def lose(office: Office, text: str) -> None:
    """Put an event where Lambda puts what failed through all its tries."""
    event: dict[str, Any] = json.loads(SAMPLE.read_text())
    event["Records"][0]["Sns"]["Message"] = text
    boto3.client("sqs").send_message(QueueUrl=queue(office), MessageBody=json.dumps(event))


def test_lost_events_are_counted_then_taken_and_what_fails_again_stays() -> None:
    with an_office() as office:
        aws = {"provider": "end_user_messaging", "sender": NUMBER, "inbound_accounts": ["acme"]}
        office.post("/v1/admin/routes", {"name": "verizon", "parts_per_minute": 60, **aws}, OPERATOR)
        words = {"originationNumber": phone_number(7), "destinationNumber": NUMBER, "messageBody": "STOP"}
        lose(office, json.dumps(words | {"inboundMessageId": "in-1"}))
        lose(office, "{not an event")

        counted = lost_events(office, "--json")
        unwanted = lost_events(office, "--apply")
        done = lost_events(office, "--apply", "--yes", "--json")
        shown = lost_events(office)

        assert [one.exit_code for one in (counted, unwanted, done)] == [1, 1, 1]
        assert json.loads(counted.stdout)["waiting"] == 2
        assert json.loads(done.stdout) == {"waiting": 2, "taken": 1, "failed": ["RequestMalformed"]}
        assert TableOptOuts(office.table).opted_out("acme", [phone_number(7)]) == {phone_number(7)}
        assert "0 events" in shown.output, "the one that failed is hidden for some minutes"
        assert phone_number(7) not in done.output


def test_where_none_is_lost_nothing_is_done() -> None:
    with an_office() as office:
        done = lost_events(office, "--apply", "--yes")

    assert done.exit_code == 0
    assert "0 events were taken" in done.output
