"""A batch of a planned campaign on Amazon's Step Functions Local, its functions called through `paceline up`.

The batch workflow is taken out of the deployed definition as it stands. The whole campaign cannot run there: its two
Distributed Maps read manifests from S3, and Step Functions Local has no setting for an S3 endpoint. The campaign is
planned by the sandbox's own engine, which then sleeps until a start an hour away.

The same test also runs with the sandbox's own Step Functions endpoint in that place, so that all of it but the
container is known to work where there is no Docker.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import pytest
import requests

from sandbox.testing.leads import make_leads, to_csv

ROOT = Path(__file__).resolve().parents[2]
LOCAL = "http://127.0.0.1:8083"
UP = [sys.executable, "-c", "from console.cli import main; main()", "up", "--port", "0", "--json"]


def docker_answers() -> bool:
    if shutil.which("docker") is None:
        return False
    command = ["docker", "version", "--format", "{{.Server.Version}}"]
    try:
        return subprocess.run(command, capture_output=True, timeout=20, check=False).returncode == 0  # noqa: S603
    except subprocess.TimeoutExpired:
        return False


@dataclass(frozen=True)
class Up:
    """`paceline up` on the real time of day: Step Functions Local has no other."""

    facts: dict[str, Any]

    @property
    def address(self) -> str:
        return str(self.facts["address"])

    def call(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        headers = {"x-api-key": self.facts["customer_key"], "idempotency-key": str(uuid4())}
        answer = requests.request(method, self.address + path, json=body, headers=headers, timeout=30)
        assert answer.ok, answer.text
        return dict(answer.json())

    def client(self, service: str, endpoint: str | None = None) -> Any:
        return boto3.session.Session().client(
            service,
            endpoint_url=endpoint or self.address,
            region_name="us-east-1",
            aws_access_key_id="any",
            aws_secret_access_key="any",  # noqa: S106 (no signature is verified)
        )


@contextmanager
def running_up(host: str) -> Iterator[Up]:
    command = [*UP, "--host", host, "--start", datetime.now(UTC).isoformat()]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)  # noqa: S603 (our own command)
    assert process.stdout is not None
    try:
        yield Up(json.loads(process.stdout.readline()))
    finally:
        process.terminate()
        process.wait(timeout=20)


@pytest.fixture(scope="module")
def up() -> Iterator[Up]:
    with running_up("127.0.0.1") as running:
        yield running


@pytest.fixture(scope="module")
def reachable_up() -> Iterator[Up]:
    """The same on all of this machine's addresses: a container does not see its loopback."""
    if not docker_answers():
        pytest.skip("no Docker engine answers, so there is no Step Functions Local")
    with running_up("0.0.0.0") as running:  # noqa: S104
        yield running


@pytest.fixture(scope="module")
def local(reachable_up: Up) -> Iterator[str]:
    """Step Functions Local in its container, its Lambda endpoint that of `up`."""
    port = reachable_up.address.rpartition(":")[2]
    environment = {**os.environ, "LAMBDA_ENDPOINT": f"http://host.docker.internal:{port}"}
    compose = ["docker", "compose", "--file", str(ROOT / "compose.yaml")]
    subprocess.run([*compose, "up", "--detach"], env=environment, check=True)  # noqa: S603
    try:
        until(lambda: answers(reachable_up, LOCAL))
        yield LOCAL
    finally:
        subprocess.run([*compose, "down"], env=environment, check=True)  # noqa: S603


def answers(up: Up, endpoint: str) -> bool:
    try:
        return "stateMachines" in up.client("stepfunctions", endpoint).list_state_machines()
    except Exception:  # it is starting
        return False


def until(look: Callable[[], Any], seconds: float = 90) -> Any:
    """Look again and again until there is something; return it."""
    end = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < end, "it did not come about in time"
        time.sleep(0.2)
    return found


def plan_campaign(up: Up, leads: int) -> tuple[str, dict[str, Any]]:
    """Start a campaign that begins in an hour; return its id and the one batch that its plan made."""
    window = {"opens": "00:00:00", "closes": "00:00:00"}  # never closed: the test runs at any time of day
    start_at = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    body = {"name": "batch", "message": "Hi {{first_name}}", "start_at": start_at, "sending_window": window}
    campaign_id = up.call("POST", "/v1/campaigns", body)["campaign_id"]
    form = up.call("POST", f"/v1/campaigns/{campaign_id}/upload")
    file = {"file": to_csv(make_leads(leads))}
    requests.post(form["url"], data=form["fields"], files=file, timeout=30).raise_for_status()
    up.call("POST", f"/v1/campaigns/{campaign_id}/start")
    plan = until(lambda: planned(up, campaign_id))
    (stream,) = read(up, plan["manifest_bucket"], plan["streams_manifest_key"])
    (batch,) = read(up, stream["manifest_bucket"], stream["manifest_key"])
    return campaign_id, batch


def planned(up: Up, campaign_id: str) -> Any:
    machine = up.facts["outputs"]["CampaignStateMachineArn"]
    arn = f"{machine.replace(':stateMachine:', ':execution:')}:{campaign_id}"
    for event in up.client("stepfunctions").get_execution_history(executionArn=arn)["events"]:
        if event.get("stateExitedEventDetails", {}).get("name") == "Plan Campaign":
            return json.loads(event["stateExitedEventDetails"]["output"])["plan"]
    return None


def read(up: Up, bucket: str, key: str) -> Any:
    return json.loads(up.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read())


def deployed(up: Up) -> dict[str, Any]:
    machine = up.facts["outputs"]["CampaignStateMachineArn"]
    return dict(up.client("stepfunctions").describe_state_machine(stateMachineArn=machine))


def deployed_states(up: Up) -> dict[str, Any]:
    states: dict[str, Any] = json.loads(deployed(up)["definition"])["States"]
    return states


def run_on(up: Up, endpoint: str | None, name: str, definition: dict[str, Any], input: Any) -> dict[str, Any]:
    """Run an execution to its end on an engine; return its description."""
    client = up.client("stepfunctions", endpoint)
    role = deployed(up)["roleArn"]
    machine = client.create_state_machine(name=name, definition=json.dumps(definition), roleArn=role)
    arn = client.start_execution(stateMachineArn=machine["stateMachineArn"], name=name, input=json.dumps(input))
    until(lambda: client.describe_execution(executionArn=arn["executionArn"])["status"] != "RUNNING")
    return dict(client.describe_execution(executionArn=arn["executionArn"]))


def send_a_batch(up: Up, endpoint: str | None, name: str) -> None:
    campaign_id, batch = plan_campaign(up, leads=3)
    send_batches = deployed_states(up)["Send Streams"]["ItemProcessor"]["States"]["Send Batches"]
    processor = send_batches["ItemProcessor"]
    definition = {"StartAt": processor["StartAt"], "States": processor["States"]}
    input = {"batch": batch, "admission": send_batches["ItemSelector"]["admission"]}

    described = run_on(up, endpoint, name, definition, input)

    assert described["status"] == "SUCCEEDED", described
    assert json.loads(described["output"])["admission"]["left"] == 0
    counts = up.call("GET", f"/v1/campaigns/{campaign_id}")["messages"]
    assert sum(counts.values()) == 3


def fail_by_name(up: Up, endpoint: str | None, name: str) -> None:
    """An error's name must come through the Lambda endpoint, or no Retry and no Catch of ours would match."""
    report = deployed_states(up)["Build Report"]["Parameters"]["FunctionName"]
    invoke = {
        "Type": "Task",
        "Resource": "arn:aws:states:::lambda:invoke",
        "Parameters": {"FunctionName": report, "Payload": {"campaign_id": "no-such-campaign"}},
        "TimeoutSeconds": 30,
        "Catch": [{"ErrorEquals": ["CampaignNotFound"], "ResultPath": "$.caught", "Next": "Caught"}],
        "End": True,
    }
    definition = {"StartAt": "Call", "States": {"Call": invoke, "Caught": {"Type": "Succeed"}}}

    described = run_on(up, endpoint, name, definition, {})

    assert described["status"] == "SUCCEEDED", described
    assert json.loads(described["output"])["caught"]["Error"] == "CampaignNotFound"


@pytest.mark.stepfunctions_local
def test_a_batch_is_sent_by_step_functions_local(reachable_up: Up, local: str) -> None:
    send_a_batch(reachable_up, local, "batch-on-local")


@pytest.mark.stepfunctions_local
def test_an_error_keeps_its_name_on_step_functions_local(reachable_up: Up, local: str) -> None:
    fail_by_name(reachable_up, local, "error-on-local")


def test_the_same_batch_is_sent_by_the_sandboxs_own_endpoint(up: Up) -> None:
    send_a_batch(up, None, "batch-on-ours")


def test_an_error_keeps_its_name_on_the_sandboxs_own_endpoint(up: Up) -> None:
    fail_by_name(up, None, "error-on-ours")
