"""The real AWS CLI as a client."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from server_machines import ROLE, fans_out, waits_for_token
from server_process import Server, until

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("awscli") is None, reason="awscli is not installed: pip install -e .[dev]"
)


class Cli:
    """Runs `aws` in this process (it brings a botocore of its own), which is ten times as fast as a process each."""

    def __init__(self, server: Server, capture: pytest.CaptureFixture[str]) -> None:
        self._address, self._capture = server.address, capture

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Return the exit status, and what was printed on stdout and stderr."""
        from awscli.clidriver import create_clidriver

        self._capture.readouterr()
        status = create_clidriver().main(["--endpoint-url", self._address, *arguments])
        printed = self._capture.readouterr()
        return status, printed.out, printed.err

    def __call__(self, *arguments: str) -> Any:
        """Return what the command printed, read as JSON."""
        status, printed, said = self.run(*arguments)
        assert status == 0, said
        return json.loads(printed or "{}")

    def states(self, operation: str, **options: str) -> Any:
        listed = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", value)]
        return self("stepfunctions", operation, *listed)


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set what a person's shell would; keep the person's own out."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("AWS_DATA_PATH", raising=False)
    import awscli  # sets AWS_DATA_PATH, which boto3 must not see once this test is over

    monkeypatch.setenv("AWS_DATA_PATH", str(Path(awscli.__file__).parent / "data"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "any")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")  # whatever it signs for: the sandbox is the one region
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")


@pytest.fixture
def aws(server: Server, settings: None, capfd: pytest.CaptureFixture[str]) -> Cli:
    return Cli(server, capfd)


def test_command_itself_finds_the_server_by_its_environment_variable(server: Server, settings: None) -> None:
    command = [sys.executable, "-m", "awscli", "stepfunctions", "list-state-machines", "--output", "text"]
    environment = os.environ | {"AWS_ENDPOINT_URL": server.address}

    done = subprocess.run(  # noqa: S603 (our own command)
        command, env=environment, capture_output=True, text=True, timeout=30, check=False
    )

    assert done.returncode == 0, done.stderr
    assert server.machine_arn in done.stdout


def test_map_run_is_watched_changed_stopped_and_redriven(aws: Cli) -> None:
    definition = json.dumps(fans_out(40_000))
    machine = aws.states("create-state-machine", name="cli-map", definition=definition, role_arn=ROLE)
    machine_arn = machine["stateMachineArn"]
    started = aws.states("start-execution", state_machine_arn=machine_arn, input="[1, 2, 3, 4]", name="first")
    arn = started["executionArn"]

    run = until(lambda: aws.states("list-map-runs", execution_arn=arn)["mapRuns"])[0]["mapRunArn"]
    aws.states("update-map-run", map_run_arn=run, max_concurrency="3")
    described = aws.states("describe-map-run", map_run_arn=run)
    children = aws.states("list-executions", map_run_arn=run, max_items="1")
    stopped = aws.states("stop-execution", execution_arn=arn, error="Enough")
    after_stop = aws.states("describe-execution", execution_arn=arn)
    redriven = aws.states("redrive-execution", execution_arn=arn)
    history = aws.states("get-execution-history", execution_arn=arn)["events"]
    listed = aws.states("list-executions", state_machine_arn=machine_arn, status_filter="RUNNING")["executions"]
    aws.states("stop-execution", execution_arn=arn)

    assert (described["status"], described["maxConcurrency"]) == ("RUNNING", 3)
    assert (len(children["executions"]), "NextToken" in children) == (1, True)
    assert "stopDate" in stopped
    assert after_stop["error"] == "Enough"
    assert "redriveDate" in redriven
    assert [event["type"] for event in history[:3]] == ["ExecutionStarted", "MapStateEntered", "MapStateStarted"]
    assert [execution["name"] for execution in listed] == ["first"]


def test_waiting_task_is_answered_with_its_token(aws: Cli, server: Server) -> None:
    campaigns = aws.states("describe-state-machine", state_machine_arn=server.machine_arn)
    function = server.facts["functions"]["PublishFunction"]
    definition = json.dumps(waits_for_token(function))
    machine = aws.states("create-state-machine", name="cli-ask", definition=definition, role_arn=campaigns["roleArn"])
    arn = aws.states("start-execution", state_machine_arn=machine["stateMachineArn"])["executionArn"]

    events = until(lambda: ended(aws.states("get-execution-history", execution_arn=arn)["events"]))

    # The campaigns' functions refuse a made-up payload: the error is Lambda's, and its name is the condition.
    assert events[-1]["executionFailedEventDetails"]["error"] == "RequestMalformed"
    _, _, said = aws.run("stepfunctions", "send-task-success", "--task-token", "made up", "--task-output", "{}")
    assert "InvalidToken" in said


def ended(events: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    return events if events[-1]["type"].startswith("Execution") and len(events) > 1 else None


def test_function_file_and_stack(aws: Cli, server: Server, tmp_path: Path) -> None:
    bucket, table = server.facts["outputs"]["BucketName"], server.facts["outputs"]["TableName"]
    answer, leads, back = tmp_path / "answer.json", tmp_path / "leads.csv", tmp_path / "back.csv"
    leads.write_text("phone\n+12125550100\n")
    item = '{"pk": {"S": "cli"}, "sk": {"S": "a"}, "n": {"N": "1"}}'

    invoked = aws("lambda", "invoke", "--function-name", "PlanFunction", "--payload", "{}", str(answer))
    copied = aws.run("s3", "cp", str(leads), f"s3://{bucket}/uploads/cli.csv")
    fetched = aws.run("s3", "cp", f"s3://{bucket}/uploads/cli.csv", str(back))
    aws("dynamodb", "put-item", "--table-name", table, "--item", item)
    scanned = aws("dynamodb", "scan", "--table-name", table, "--filter-expression", "attribute_exists(n)")
    stacks = aws("cloudformation", "describe-stacks", "--query", "Stacks[].StackName")

    assert invoked["FunctionError"] == "Unhandled"
    assert json.loads(answer.read_text())["errorType"] == "RequestMalformed"
    assert (copied[0], fetched[0], back.read_text()) == (0, 0, leads.read_text())
    assert json.loads(item) in scanned["Items"]
    assert stacks == ["paceline"]
