"""What the API refuses, it refuses with a problem of a stable type and a sentence that says what to do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.customer import ApiRefused, Customer, operator_of, set_up
from sandbox.world import Sandbox

BODY: dict[str, Any] = {"name": "Renewals", "message": "Hi", "file_name": "leads.csv"}


@pytest.fixture(scope="module")
def customer() -> Iterator[Customer]:
    with Sandbox() as sandbox:
        yield set_up(sandbox, credits=100)


def refusal(customer: Customer, method: str, path: str, body: object = None, **headers: str) -> tuple[int, str, str]:
    """Return the refused request's status, the end of the problem's type, and its sentence."""
    with pytest.raises(ApiRefused) as refused:
        customer.call(method, path, body, **headers)
    return refused.value.status, str(refused.value.problem.get("type", "")).rsplit(":", 1)[-1], str(refused.value)


def test_the_same_key_and_body_is_the_same_campaign_and_another_body_is_refused(customer: Customer) -> None:
    first = customer.post("/v1/campaigns", BODY, idempotency_key="once")

    again = customer.post("/v1/campaigns", BODY, idempotency_key="once")
    other = refusal(customer, "POST", "/v1/campaigns", BODY | {"receipt_deadline_hours": 5}, idempotency_key="once")

    assert again["campaign_id"] == first["campaign_id"]
    assert other[:2] == (422, "idempotency-key-reused")


def test_a_campaign_without_its_lead_file_is_neither_planned_nor_started(customer: Customer) -> None:
    campaign_id = customer.post("/v1/campaigns", BODY)["campaign_id"]

    for step in ("plan", "start"):
        status, _, sentence = refusal(customer, "POST", f"/v1/campaigns/{campaign_id}/{step}")
        assert (status, sentence) == (422, "The campaign has no lead file yet; upload it first.")
    assert customer.get(f"/v1/campaigns/{campaign_id}")["status"] == "created"


def test_a_report_before_the_end_is_not_ready(customer: Customer) -> None:
    campaign_id = customer.post("/v1/campaigns", BODY)["campaign_id"]

    assert refusal(customer, "GET", f"/v1/campaigns/{campaign_id}/report")[:2] == (409, "report-not-ready")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"x" * 65_536: 1}, id="a name of 64 KB"),
        pytest.param({"phone_numbers": [1] * 5_000}, id="a list that is wrong in every entry"),
    ],
)
def test_a_refusal_says_what_is_wrong_and_does_not_repeat_it(customer: Customer, body: dict[str, Any]) -> None:
    with pytest.raises(ApiRefused) as refused:
        customer.post("/v1/opt-outs", body)

    problem = refused.value.problem
    assert (refused.value.status, problem["title"]) == (422, "request malformed")
    assert len(json.dumps(problem)) < 4_000


@pytest.mark.parametrize(
    ("change", "field"),
    [
        pytest.param({"time_zone": "Mars/One"}, "time_zone", id="a zone that does not exist"),
        pytest.param({"parts_per_minute": 0}, "parts_per_minute", id="a cap of none"),
        pytest.param({"parts_per_day": 0}, "parts_per_day", id="a day of none"),
        pytest.param({"parts_per_minut": 5}, "parts_per_minut", id="a field that is misspelt"),
    ],
)
def test_a_route_that_could_not_be_used_is_refused_and_not_stored(
    customer: Customer, change: dict[str, Any], field: str
) -> None:
    operator = operator_of(customer.sandbox)

    status, kind, sentence = refusal(operator, "POST", "/v1/admin/routes", {"name": "odd", **change})

    assert (status, kind) == (422, "request-malformed")
    assert field in sentence
    assert "odd" not in [route["name"] for route in customer.get("/v1/routes")["routes"]]


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/v1/admin/accounts"), ("POST", "/v1/admin/routes"), ("POST", "/v1/admin/keys")],
)
def test_a_customers_key_opens_no_operators_route(customer: Customer, method: str, path: str) -> None:
    bodies = {"accounts": {"account_id": "other"}, "routes": {"name": "mine"}, "keys": {"account_id": "other"}}

    assert refusal(customer, method, path, bodies[path.rsplit("/", 1)[1]])[:2] == (403, "forbidden")


def test_a_campaign_of_another_account_does_not_exist(customer: Customer) -> None:
    campaign_id = customer.post("/v1/campaigns", BODY)["campaign_id"]
    operator = operator_of(customer.sandbox)
    operator.post("/v1/admin/accounts", {"account_id": "stranger"})
    key = operator.post("/v1/admin/keys", {"account_id": "stranger"})["api_key"]
    stranger = Customer(customer.sandbox, key)

    for method, step in [("GET", ""), ("GET", "/report"), *(("POST", f"/{s}") for s in ("upload", "plan", "start"))]:
        assert refusal(stranger, method, f"/v1/campaigns/{campaign_id}{step}")[:2] == (404, "campaign-not-found")
    for step in ("pause", "resume", "cancel"):
        assert refusal(stranger, "POST", f"/v1/campaigns/{campaign_id}/{step}")[:2] == (404, "campaign-not-found")


@pytest.mark.parametrize(("key", "status"), [("", 403), ("pk_wrong", 403)])
def test_nobody_without_a_key_gets_an_answer(customer: Customer, key: str, status: int) -> None:
    assert refusal(Customer(customer.sandbox, key), "GET", "/v1/account")[0] == status
