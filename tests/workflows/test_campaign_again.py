"""A campaign that is stopped, redriven, started or posted again sends only what was never sent."""

from __future__ import annotations

from collections import Counter

import boto3
import pytest

from tests.builders.campaigns import OPERATOR, Office, Refusal, an_office, is_balanced

LEADS = 60


def stopped_midway(office: Office) -> str:
    """Start a campaign, and stop its execution when a third is sent; return its ARN."""
    arn = office.start(LEADS).arn
    office.wait_until(lambda: office.sent >= LEADS // 3)
    boto3.client("stepfunctions").stop_execution(executionArn=arn, error="Stopped", cause="by an operator")
    office.passes(minutes=2)
    assert LEADS // 3 <= office.sent < LEADS
    return arn


def test_a_campaign_whose_execution_was_stopped_goes_on_when_it_is_redriven() -> None:
    with an_office() as office:
        arn = stopped_midway(office)

        boto3.client("stepfunctions").redrive_execution(executionArn=arn)
        report = office.report()

        assert Counter(entry.to for entry in office.sandbox.carrier.book).most_common(1)[0][1] == 1
        assert report["outcomes"]["delivered"] == office.sent == LEADS
        assert is_balanced(office, report)


POSTED = {
    "campaign_id": "renewals",
    "name": "Renewals",
    "message": "Hi {{first_name}}, your renewal is due.",
    "receipt_deadline_hours": 1,
}


def test_the_same_requests_again_send_nothing_again() -> None:
    with an_office() as office:
        office.start(LEADS)
        office.call("PATCH", "/v1/admin/accounts/acme", {"charging": {"charged": "delivered"}}, OPERATOR)
        office.wait_until(lambda: office.sent >= LEADS // 3)
        office.post("/v1/campaigns", POSTED)
        office.post("/v1/campaigns/renewals/start")
        report = office.report()

        again = office.post("/v1/campaigns", POSTED)
        with pytest.raises(Refusal):
            office.post("/v1/campaigns/renewals/start")
        office.passes(hours=1)

        assert again["status"] == "finished"
        assert office.sent == LEADS == report["outcomes"]["delivered"]
        assert len([one for one in office.sandbox.engine.executions() if one.name.startswith("renewals")]) == 1
