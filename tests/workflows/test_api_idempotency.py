"""The same request again: the same answer, nothing twice; and of two at once, one is done."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import boto3
import pytest

from paceline.api_keys import store_key
from sandbox.gateway import Answer
from tests.builders.campaigns import OPERATOR, Office, a_file, an_office

BODY: dict[str, Any] = {"name": "Renewals", "message": "Hi"}


@pytest.fixture(scope="module")
def shared() -> Iterator[Office]:
    with an_office() as office:
        yield office


@dataclass
class Client(Office):
    """A customer with an account of its own: each test begins with no campaign and no key used."""

    name: str = ""

    @property
    def key(self) -> str:
        return f"pk_{self.name}_key-of-a-tests-customer"

    def call(self, method: str, path: str, body: object = None, key: str = "") -> dict[str, Any]:
        return super().call(method, path, body, key or self.key)

    def post(self, path: str, body: object = None, key: str = "") -> dict[str, Any]:
        return self.call("POST", path, body, key)

    def sleeps(self, days: float) -> None:
        self.sandbox.do(self.sandbox.scheduler.sleep, days * 86_400)


@pytest.fixture
def office(shared: Office, request: pytest.FixtureRequest) -> Client:
    client = Client(shared.sandbox, f"client{zlib.crc32(request.node.name.encode())}")
    client.post("/v1/admin/accounts", {"account_id": client.name, "credits": 100}, OPERATOR)
    store_key(client.table, client.sandbox.key_pepper, client.key, client.name, "customer")
    return client


def post(office: Client, key: str, body: object = BODY, path: str = "/v1/campaigns") -> Answer:
    return office.sandbox.call_api("POST", path, body, office.key, idempotency_key=key)


def at_once(office: Client, *requests: tuple[str, object, str]) -> list[Answer]:
    """Make requests (path, body, idempotency key) at the same moment; return their answers."""
    sandbox = office.sandbox
    tasks = [
        sandbox.scheduler.spawn(
            sandbox.network.request,
            "POST",
            sandbox.outputs["ApiUrl"] + path,
            {"x-api-key": office.key, "content-type": "application/json", "idempotency-key": key},
            b"" if body is None else json.dumps(body).encode(),
        )
        for path, body, key in requests
    ]
    for task in tasks:
        sandbox.scheduler.run(until=task)
    return [task.wait() for task in tasks]


def campaigns(office: Client) -> list[str]:
    return [one["campaign_id"] for one in office.call("GET", "/v1/campaigns")["campaigns"]]


def with_leads(office: Client) -> str:
    campaign_id = str(office.post("/v1/campaigns", BODY)["campaign_id"])
    key = f"uploads/{office.name}/{campaign_id}/leads.csv"
    boto3.client("s3").put_object(Bucket=office.sandbox.outputs["BucketName"], Key=key, Body=a_file(2))
    return campaign_id


def test_the_same_key_and_body_get_the_very_same_answer_whatever_came_meanwhile(office: Client) -> None:
    first = post(office, "spring")
    office.sleeps(days=6.9)

    again = post(office, "spring", {"message": "Hi", "name": "Renewals"})

    assert (again.status, again.body) == (200, first.body)
    assert len(campaigns(office)) == 1


def test_the_same_key_with_another_body_is_refused_and_creates_nothing(office: Client) -> None:
    post(office, "spring")

    other = post(office, "spring", BODY | {"message": "Hello"})

    problem = json.loads(other.body)
    assert (other.status, problem["type"]) == (422, "urn:paceline:problem:idempotency-key-reused")
    assert problem["field"] == "idempotency-key"
    assert len(campaigns(office)) == 1


@pytest.mark.parametrize("how_many", [2, 5])
def test_of_requests_at_once_one_creates_and_all_get_its_campaign(office: Client, how_many: int) -> None:
    answers = at_once(office, *[("/v1/campaigns", BODY, "spring")] * how_many)

    assert {answer.status for answer in answers} == {200}
    assert len({answer.body for answer in answers}) == 1
    assert campaigns(office) == [json.loads(answers[0].body)["campaign_id"]]


def test_of_two_bodies_at_once_with_one_key_one_is_refused(office: Client) -> None:
    answers = at_once(office, ("/v1/campaigns", BODY, "spring"), ("/v1/campaigns", BODY | {"name": "Other"}, "spring"))

    assert sorted(answer.status for answer in answers) == [200, 422]
    assert len(campaigns(office)) == 1


def test_a_key_is_forgotten_after_a_week_and_then_makes_another_campaign(office: Client) -> None:
    first = post(office, "spring")
    office.sleeps(days=7.1)

    later = post(office, "spring")

    assert later.status == 200
    assert json.loads(later.body)["campaign_id"] != json.loads(first.body)["campaign_id"]


def test_without_a_key_the_same_body_is_another_campaign(office: Client) -> None:
    ids = {office.post("/v1/campaigns", BODY)["campaign_id"] for _ in range(2)}

    assert len(ids) == 2


def test_a_start_with_a_key_gets_the_same_answer_when_the_campaign_is_over(office: Client) -> None:
    campaign_id = with_leads(office)
    path = f"/v1/campaigns/{campaign_id}/start"
    first = post(office, "go", None, path)
    office.sandbox.run_until(office.execution(campaign_id).done)

    again = post(office, "go", None, path)

    assert (again.status, again.body) == (200, first.body)
    assert json.loads(again.body)["status"] == "running"


def test_a_starts_key_is_no_other_starts(office: Client) -> None:
    first, second = with_leads(office), with_leads(office)
    post(office, "go", None, f"/v1/campaigns/{first}/start")

    refused = post(office, "go", None, f"/v1/campaigns/{second}/start")

    assert refused.status == 422
    assert office.shown(second)["status"] == "created"


def test_two_starts_at_once_are_one_execution(office: Client) -> None:
    campaign_id = with_leads(office)
    path = f"/v1/campaigns/{campaign_id}/start"

    answers = at_once(office, (path, None, "go"), (path, None, "go"), (path, None, "other"))
    office.sandbox.run_until(office.execution(campaign_id).done)

    assert {answer.status for answer in answers} == {200}
    book = office.sandbox.carrier.book
    assert sum(entry.message_id.startswith(f"{campaign_id}.") for entry in book) == 2


def test_a_start_that_was_refused_can_be_tried_again_with_its_key(office: Client) -> None:
    campaign_id = str(office.post("/v1/campaigns", BODY)["campaign_id"])
    path = f"/v1/campaigns/{campaign_id}/start"
    assert post(office, "go", None, path).status == 422
    key = f"uploads/{office.name}/{campaign_id}/leads.csv"
    boto3.client("s3").put_object(Bucket=office.sandbox.outputs["BucketName"], Key=key, Body=a_file(2))

    assert post(office, "go", None, path).status == 200


@pytest.mark.parametrize("key", ["", "x" * 256])
def test_a_key_of_no_or_too_many_characters_is_refused_with_its_field(office: Client, key: str) -> None:
    refused = post(office, key)

    assert refused.status == 422
    assert json.loads(refused.body)["field"] == "header.idempotency-key"


# -- credits -------------------------------------------------------------------------------------------------------


def buy(office: Client, credits: int, key: str) -> Answer:
    path = f"/v1/admin/accounts/{office.name}/credits"
    return office.sandbox.call_api("POST", path, {"credits": credits}, OPERATOR, idempotency_key=key)


def test_the_same_purchase_again_buys_nothing(office: Client) -> None:
    answers = [buy(office, 50, f"{office.name}-1") for _ in range(2)]
    other = buy(office, 60, f"{office.name}-1")
    more = buy(office, 50, f"{office.name}-2")

    assert [json.loads(answer.body)["bought"] for answer in answers] == [150, 150]
    assert (other.status, json.loads(other.body)["field"]) == (422, "idempotency-key")
    assert json.loads(more.body)["bought"] == 200


def test_of_two_same_purchases_at_once_one_is_made(office: Client) -> None:
    path = f"/v1/admin/accounts/{office.name}/credits"
    store_key(
        office.table, office.sandbox.key_pepper, f"pk_{office.name}o_key-of-the-tests-operator", "operators", "operator"
    )

    operator = OperatorsClient(office.sandbox, office.name)
    answers = at_once(operator, *[(path, {"credits": 50}, f"{office.name}-at-once")] * 2)

    assert [json.loads(answer.body).get("bought") for answer in answers] == [150, 150]


@dataclass
class OperatorsClient(Client):
    """The same, with an operator's key."""

    @property
    def key(self) -> str:
        return f"pk_{self.name}o_key-of-the-tests-operator"
