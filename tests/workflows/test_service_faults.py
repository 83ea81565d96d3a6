"""A fault of AWS's own at a call of any function: the step is run again, and the customer is told to ask again."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sandbox.faults import Boundary, Fault
from tests.builders.campaigns import CUSTOMER, KIND, OPERATOR, Office, an_office, is_balanced

REFUSALS = (Fault.FAILED, Fault.THROTTLED)


def fail_each_call_once(office: Office, fault: Fault) -> list[Boundary]:
    """Let the first call of each kind of each function of the workflow fail; return where it did."""
    seen: set[tuple[str, str]] = set()
    met: list[Boundary] = []

    def choose(at: Boundary) -> Fault | None:
        if at.function in ("api", "authorize", "callbacks") or at.call.startswith(("invoke", "GET", "POST")):
            return None
        if (at.function, at.call) in seen:
            return None
        seen.add((at.function, at.call))
        met.append(at)
        return fault

    office.sandbox.faults.arm(choose)
    return met


@pytest.mark.parametrize("fault", REFUSALS)
def test_a_campaign_outlives_a_fault_at_every_kind_of_call_of_every_step(fault: Fault) -> None:
    with an_office(credits=4) as office:
        met = fail_each_call_once(office, fault)
        execution = office.start(6)
        office.passes(minutes=30)
        office.buy(20)

        report = office.report()

        assert {at.function for at in met} >= {
            "plan",
            "admit",
            "send",
            "hold",
            "close",
            "count_open",
            "report",
            "publish",
        }
        assert {at.call.partition(":")[0] for at in met} >= {"dynamodb", "s3", "events", "secretsmanager"}
        assert execution.status == "SUCCEEDED"
        assert is_balanced(office, report)
        assert report["outcomes"]["delivered"] + report["outcomes"]["unconfirmed"] == 6
        assert office.account().reserved == 0


@pytest.mark.parametrize("fault", [*REFUSALS, Fault.LOST])
def test_a_customer_is_told_to_ask_again_when_a_service_fails(fault: Fault) -> None:
    with an_office() as office:
        left = [fault]
        office.sandbox.faults.arm(
            lambda at: left.pop() if left and at.function == "api" and "dynamodb" in at.call else None
        )

        answer = office.sandbox.call_api("GET", "/v1/routes", key=CUSTOMER)

        body = json.loads(answer.body)
        assert (answer.status, body["status"]) == (503, 503)
        assert int(answer.headers["retry-after"]) >= 1
        assert "send it again" in body["detail"]
        assert "dynamodb" not in json.dumps(body).lower()
        assert office.sandbox.call_api("GET", "/v1/routes", key=CUSTOMER).status == 200


@pytest.mark.parametrize("fault", [Fault.FAILED, Fault.LOST])
def test_a_secret_that_cannot_be_read_now_is_no_fault_of_ours(fault: Fault) -> None:
    with an_office() as office:
        left = [fault]
        office.sandbox.faults.arm(
            lambda at: left.pop() if left and (at.function, at.call[:7]) == ("api", "secrets") else None
        )
        new = ("POST", "/v1/admin/keys", {"account_id": "acme"}, OPERATOR)

        answers = [office.sandbox.call_api(*new).status for _ in range(2)]

        assert not left
        assert answers == [503, 200]


def invocations(office: Office, function: str) -> int:
    return sum(use.invocations for name, use in office.sandbox.functions.usage.items() if function in name)


@pytest.mark.parametrize("fault", [Fault.FAILED, Fault.LOST])
def test_a_receipt_that_meets_a_fault_is_a_500_and_counts_when_it_is_repeated(fault: Fault) -> None:
    with an_office(profile=replace(KIND, intermediate=False)) as office:
        office.start(1)
        office.wait_until(lambda: office.sent == 1)
        left = [fault]
        office.sandbox.faults.arm(
            lambda at: left.pop() if left and (at.function, at.call[:8]) == ("callbacks", "dynamodb") else None
        )

        report = office.report()

        assert not left
        assert invocations(office, "CallbacksFunction") == 2
        assert report["outcomes"]["delivered"] == 1
