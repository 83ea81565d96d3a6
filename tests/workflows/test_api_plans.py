"""The plan before the start: at once for a small file, looked for while a large one is planned."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import boto3
import pytest

from paceline import dry_runs
from paceline.adapters.functions import DryRunFunction
from sandbox.gateway import Answer
from tests.builders.campaigns import CUSTOMER, OPERATOR, Office, Refusal, a_file, an_office, id_of

FILE = a_file(3) + b"nobody,Bo\n"


@pytest.fixture(scope="module")
def shared() -> Iterator[Office]:
    with an_office() as office:
        yield office


@dataclass
class Planner(Office):
    """A customer with one campaign, its file uploaded."""

    campaign: str = ""


@pytest.fixture
def office(shared: Office) -> Planner:
    campaign = shared.post("/v1/campaigns", {"name": "N", "message": "Hi {{first_name}}"})["campaign_id"]
    planner = Planner(shared.sandbox, str(campaign))
    put_file(planner, FILE)
    return planner


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file is too large to be planned while its customer waits."""
    monkeypatch.setattr(dry_runs, "MOST_BYTES_AT_ONCE", 10)


def put_file(office: Planner, content: bytes) -> None:
    key = f"uploads/acme/{office.campaign}/leads.csv"
    boto3.client("s3").put_object(Bucket=office.sandbox.outputs["BucketName"], Key=key, Body=content)


def ask(office: Planner, method: str, key: str = CUSTOMER) -> Answer:
    return office.sandbox.call_api(method, f"/v1/campaigns/{office.campaign}/plan", None, key)


def body(answer: Answer) -> dict[str, Any]:
    return json.loads(answer.body)  # type: ignore[no-any-return]


def planned_in_the_end(office: Planner) -> Answer:
    for _ in range(20):
        answer = ask(office, "GET")
        if answer.status != 202:
            return answer
        office.passes(seconds=float(answer.headers["retry-after"]))
    raise AssertionError("it was never planned")


def findings_of(plan: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value for name, value in plan.items() if name in ("leads", "parts", "streams", "excluded", "warnings")
    }


def test_a_small_file_is_planned_at_once_and_its_plan_can_be_looked_at_again(office: Planner) -> None:
    asked, again = ask(office, "POST"), ask(office, "GET")

    assert (asked.status, again.status) == (200, 200)
    assert body(asked)["leads"] == {"in": 4, "accepted": 3, "rejected": 1, "duplicates": 0, "opted_out": 0}
    assert findings_of(body(asked)) == findings_of(body(again))
    assert body(asked)["asked_at"] == body(again)["asked_at"]


def test_the_plan_has_the_rows_that_are_not_sent_to_and_says_nothing_of_where_things_are(office: Planner) -> None:
    plan = body(ask(office, "POST"))

    key = plan["files"]["rejects.csv"].partition("?")[0].partition(".com/")[2]
    rejects = boto3.client("s3").get_object(Bucket=office.sandbox.outputs["BucketName"], Key=key)["Body"].read()
    assert b"\n4,5,rejected,not_a_number," in rejects.replace(b"\r", b"")
    assert [entry["row_numbers"] for entry in plan["excluded"]] == [[5]]
    assert not [name for name in json.dumps(plan).split('"') if name.endswith("_key") or name == "manifest_bucket"]


@pytest.mark.usefixtures("large")
def test_a_large_file_is_planned_while_nobody_waits_and_its_plan_is_the_same(
    office: Planner, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as at_once:
        at_once.setattr(dry_runs, "MOST_BYTES_AT_ONCE", 2_000_000)
        small = body(ask(office, "POST"))
    asked = ask(office, "POST")
    meanwhile = ask(office, "GET")

    large = planned_in_the_end(office)

    assert (asked.status, meanwhile.status, large.status) == (202, 202, 200)
    assert asked.headers["location"] == f"/v1/campaigns/{office.campaign}/plan"
    assert body(asked)["stage"] == "planning"
    assert findings_of(body(large)) == findings_of(small)


@pytest.mark.usefixtures("large")
def test_who_asks_again_while_it_is_planned_begins_nothing_anew_but_for_another_file(
    office: Planner, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    monkeypatch.setattr(DryRunFunction, "begin", lambda self, campaign_id, dry_run_id: begun.append(dry_run_id))
    for _ in range(3):
        assert ask(office, "POST").status == 202
    assert len(begun) == 1
    put_file(office, a_file(2))

    assert ask(office, "POST").status == 202

    assert len(set(begun)) == 2


@pytest.mark.usefixtures("large")
def test_what_is_wrong_with_a_large_file_is_the_problem_that_a_small_one_gets(
    office: Planner, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_file(office, b"first name\nAna\nBo\n")
    assert ask(office, "POST").status == 202

    large = planned_in_the_end(office)
    monkeypatch.setattr(dry_runs, "MOST_BYTES_AT_ONCE", 2_000_000)
    small = ask(office, "POST")

    assert (large.status, small.status) == (422, 422)
    assert body(large) == body(small)
    assert body(large)["type"] == "urn:paceline:problem:lead-file-invalid"


@pytest.mark.usefixtures("large")
def test_planning_that_came_to_no_end_is_no_plan_and_can_be_asked_for_again(
    office: Planner, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as lost:
        lost.setattr(DryRunFunction, "begin", lambda *_: None)
        assert ask(office, "POST").status == 202
    office.sandbox.do(office.sandbox.scheduler.sleep, 17 * 60)

    gone, asked = ask(office, "GET"), ask(office, "POST")

    assert (gone.status, body(gone)["type"]) == (404, "urn:paceline:problem:plan-not-found")
    assert asked.status == 202
    assert planned_in_the_end(office).status == 200


def test_a_plan_that_nobody_asked_for_is_not_found(office: Planner) -> None:
    answer = ask(office, "GET")

    assert (answer.status, body(answer)["type"]) == (404, "urn:paceline:problem:plan-not-found")


def test_a_campaign_that_was_started_has_no_plan_of_a_start(office: Planner) -> None:
    ask(office, "POST")
    office.post(f"/v1/campaigns/{office.campaign}/start")

    for method in ("POST", "GET"):
        answer = ask(office, method)
        assert (answer.status, body(answer)["campaign_status"]) == (422, "running")
        assert "GET /v1/campaigns/" in body(answer)["detail"]


def test_a_plan_that_an_operator_asked_for_shows_a_customer_no_other_accounts_campaign(shared: Office) -> None:
    shared.post("/v1/admin/accounts", {"account_id": "other", "credits": 500}, OPERATOR)
    shared.start(100, "ahead")
    campaign = {"account_id": "other", "name": "N", "message": "Hi"}
    theirs = shared.post("/v1/campaigns", campaign, OPERATOR)["campaign_id"]
    key = str(shared.post("/v1/admin/keys", {"account_id": "other"}, OPERATOR)["api_key"])
    file = f"uploads/other/{theirs}/leads.csv"
    boto3.client("s3").put_object(Bucket=shared.sandbox.outputs["BucketName"], Key=file, Body=FILE)
    shared.passes(seconds=5)

    seen = shared.post(f"/v1/campaigns/{theirs}/plan", key=OPERATOR)
    shown = shared.call("GET", f"/v1/campaigns/{theirs}/plan", key=key)

    assert [one["campaign_id"] for one in seen["campaigns_ahead"]] == [id_of("ahead")]
    assert [one["campaign_id"] for one in shown["campaigns_ahead"]] == [None]


def test_the_function_that_plans_large_files_may_touch_nothing_but_its_own_place(shared: Office) -> None:
    with pytest.raises(Refusal):
        shared.call("GET", "/v1/campaigns/none-such/plan")
    role = next(f.role_arn for name, f in shared.sandbox.functions._functions.items() if "DryRun" in name)
    bucket = f"arn:aws:s3:::{shared.sandbox.outputs['BucketName']}"

    for action, resource in (
        ("s3:PutObject", f"{bucket}/campaigns/x/leads/1.jsonl"),
        ("s3:PutObject", f"{bucket}/uploads/acme/x/leads.csv"),
        ("states:StartExecution", shared.sandbox.outputs["CampaignStateMachineArn"]),
    ):
        with pytest.raises(Exception, match="not"):
            shared.sandbox.permissions.check(role, "the function", action, resource)
