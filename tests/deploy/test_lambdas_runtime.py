"""Every function starts as on Lambda: its own process under Lambda's runtime client, from an artifact, with its event.

AWS is `paceline up` in another process. One campaign goes through all its functions: what each leaves, the next finds.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import boto3
import pytest

from deploy.check import handlers_of
from deploy.here import link_packages
from deploy.target import ROOT
from paceline.adapters.dynamodb import DynamoDBTable
from paceline.campaigns import create_campaign
from paceline.contracts import check
from paceline.opt_outs import opt_out
from paceline.status import CampaignStatus
from tests.builders.core import a_campaign, phone_number
from tests.deploy.runtime_api import Answer, invoke
from tests.server.server_process import Server, start_server

HANDLERS = handlers_of(ROOT / "template.yaml")
KEYS = {"AWS_DEFAULT_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any"}
CAMPAIGN = "spring-renewals"
Invoke = Callable[..., Answer]


def event(name: str, **changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "events" / f"{name}.json").read_text())
    return found | changes


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    running = start_server()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def client(server: Server) -> Callable[[str], Any]:
    secret = {"aws_access_key_id": "any", "aws_secret_access_key": "any"}
    return partial(boto3.session.Session().client, endpoint_url=server.address, region_name="us-east-1", **secret)


@pytest.fixture(scope="module")
def table(server: Server, client: Callable[[str], Any]) -> DynamoDBTable:
    """The table of a world in which the campaign of `events/` is started: 40 leads in its file."""
    made = DynamoDBTable(client("dynamodb"), server.facts["outputs"]["TableName"])
    key = f"uploads/acme/{CAMPAIGN}/leads.csv"
    rows = "".join(f"{phone_number(n)},Ana\n" for n in range(1, 41))
    body = f"phone,first_name\n{rows}".encode()
    client("s3").put_object(Bucket=server.facts["outputs"]["BucketName"], Key=key, Body=body)
    changes = {"campaign_id": CAMPAIGN, "leads_key": key, "created_at": datetime.now(UTC)}
    create_campaign(made, a_campaign(**changes, status=CampaignStatus.RUNNING))
    return made


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is beside the artifact on Lambda."""
    made = tmp_path_factory.mktemp("runtime")
    link_packages(made, ["awslambdaric", "simplejson", "snapshot-restore-py"])
    return made


@pytest.fixture(scope="module")
def function(tree: Path, runtime: Path, server: Server, client: Callable[[str], Any]) -> Invoke:
    """Starts a function of the template, with the environment that it has there."""
    deployed = client("lambda").list_functions()["Functions"]
    variables = {f["Handler"]: {k: str(v) for k, v in f["Environment"]["Variables"].items()} for f in deployed}

    def run(logical: str, given: dict[str, Any]) -> Answer:
        handler = HANDLERS[logical]
        environment = variables[handler] | KEYS | {"AWS_ENDPOINT_URL": server.address, "PATH": sys.exec_prefix}
        return invoke(handler, given, [tree, runtime], environment)

    return run


def answered(answer: Answer) -> Any:
    assert answer.kind == "response", answer.content
    return answer.content


def test_a_campaign_goes_through_every_step_of_the_workflow(
    function: Invoke, table: DynamoDBTable, client: Callable[[str], Any], server: Server
) -> None:
    def step(logical: str, state: str, **changes: Any) -> Any:
        given = event(f"{state}.input", **changes)
        check(f"states/{state}.input", given)
        answer = answered(function(logical, given))
        check(f"states/{state}.output", answer)
        return answer

    def stored(key: str) -> Any:
        bucket = server.facts["outputs"]["BucketName"]
        return json.loads(client("s3").get_object(Bucket=bucket, Key=key)["Body"].read())

    # The plan, and the batch that it made
    plan = step("PlanFunction", "plan-campaign")
    [stream] = stored(plan["streams_manifest_key"])
    [batch] = stored(stream["manifest_key"])
    assert (plan["accepted"], batch["leads"], batch["route"]) == (40, 40, "shared")

    # Admitted; a lead writes STOP, so that no carrier is asked for; closed
    admission = step("AdmitFunction", "admit-batch", batch=batch)
    item = admission["groups"][0]["items"][0]
    opt_out(table, "acme", phone_number(item["lead_no"]), "2026-09-02T16:00:00Z")
    sent = step("SendFunction", "send-message", batch=batch, given_at=admission["given_at"], **item)
    assert (admission["decision"], sent) == ("send", {"lead_no": item["lead_no"], "status": "skipped"})
    assert step("CloseFunction", "close-batch", batch=batch)["left"] == 39
    assert step("HoldFunction", "hold-batch", batch=batch) == {"waits": False}  # the cause is over

    # Looked at, reported, published, told
    assert step("CountOpenFunction", "count-open-messages")["open_batches"] == 1
    step("ReconcileFunction", "reconcile-batch", open=event("reconcile-batch.input")["open"] | {"batch": batch})
    report = step("ReportFunction", "build-report")
    assert step("PublishFunction", "publish-outcome", **report)
    assert step("NotifyFunction", "notify-customer", report_prefix=report["report_prefix"])


@pytest.mark.parametrize(
    ("logical", "name", "expected"),
    [
        pytest.param("AuthorizeFunction", "authorize", {"isAuthorized": False}, id="a key that nobody has"),
        pytest.param("ApiFunction", "api-create-campaign", {"statusCode": 200}, id="the API"),
        pytest.param("DryRunFunction", "dry-run", {"stage": None}, id="a dry run that nobody waits for"),
        pytest.param("CallbacksFunction", "callback-delivered", {"statusCode": 204}, id="a signed callback"),
        pytest.param("ProviderEventsFunction", "provider-event-stop", {"taken": 1}, id="a provider's event"),
    ],
)
def test_what_is_no_step_of_the_workflow_answers_its_event(
    function: Invoke, table: DynamoDBTable, logical: str, name: str, expected: dict[str, Any]
) -> None:
    answer = answered(function(logical, event(name)))

    assert answer | expected == answer


def test_what_a_function_raises_is_told_by_its_bare_name(function: Invoke) -> None:
    answer = function("AdmitFunction", {"no": "batch"})

    assert (answer.kind, answer.content["errorType"]) == ("error", "RequestMalformed")


def test_a_function_that_is_told_too_little_does_not_start(tree: Path, runtime: Path) -> None:
    answer = invoke("send.app.lambda_handler", {}, [tree, runtime], KEYS)

    assert (answer.kind, answer.content["errorType"]) == ("init", "ValidationError")


def test_every_function_of_the_template_is_started_here() -> None:
    source = Path(__file__).read_text()

    assert {name for name in HANDLERS if f'"{name}"' not in source} == set()
