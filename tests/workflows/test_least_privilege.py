"""Each role allows what its function calls and no more: a full run's calls, compared with the template's statements."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from moto.iam.models import iam_backends

from sandbox.carrier import DELIVERED, FILTERED, NO_FINAL_RECEIPT, Profile, Script
from sandbox.deployment import ACCOUNT, ROOT
from sandbox.faults import Boundary, Fault, nothing
from tests.builders.campaigns import KIND, OPERATOR, Office, Refusal, a_file, an_office, id_of
from tests.builders.core import phone_number
from tests.builders.everything import a_file_for_every_route, administrate, invoke, people_write, plan_before_the_start


def a_batch_fails_while_others_wait(office: Office) -> None:
    """Admission dies each time after it took its leases; what it took comes back when the campaign is reconciled."""

    def dies(boundary: Boundary) -> Fault | None:
        return Fault.AFTER if (boundary.function, boundary.call) == ("admit", "invoke") else None

    office.sandbox.faults.arm(dies)
    office.start(a_file(1), "failing")
    office.passes(minutes=3)  # it has failed, and is not looked at yet
    office.sandbox.faults.arm(nothing)
    office.set_route(is_enabled=False)
    office.start(a_file(1), "waiting")
    office.report("failing")
    office.set_route(is_enabled=True)
    office.report("waiting")


def a_hold_comes_too_late(office: Office) -> None:
    """Its campaign is over when the hold's row is written."""
    event = json.loads((ROOT / "events" / "hold-batch.input.json").read_text())
    event["batch"]["campaign_id"] = id_of("renewals")
    invoke(office, "HoldFunction", event)


@pytest.fixture(scope="module")
def office() -> Iterator[Office]:
    scripts = {
        phone_number(1): Script(NO_FINAL_RECEIPT),
        phone_number(2): Script(FILTERED),
        phone_number(3): Script(DELIVERED, silent=True, receipts=0),
        phone_number(5): Script(FILTERED, throttles=1),
        phone_number(6): Script(DELIVERED, throttles=1),
        phone_number(7): Script(NO_FINAL_RECEIPT),
        phone_number(9): Script(NO_FINAL_RECEIPT),
    }
    profile = Profile(shares=KIND.shares, refused=(), doubled=0.0, scripts=scripts)
    with an_office(credits=14, profile=profile, route={"parts_per_minute": 4}) as office:
        administrate(office)
        unplanned = plan_before_the_start(office)
        office.start(a_file_for_every_route(12))
        office.call("PATCH", "/v1/admin/accounts/acme", {"in_doubt": "resend_once"}, OPERATOR)
        office.start(a_file_for_every_route(6), "second")
        office.passes(minutes=3)
        office.change("pause", "second")
        office.passes(minutes=1)
        office.shown("second")
        office.change("resume", "second")
        people_write(office)
        office.report()
        office.buy(20)
        office.report("second")
        for lead in (7, 9):
            office.receive(lead, "delivered")
        a_batch_fails_while_others_wait(office)
        a_hold_comes_too_late(office)
        with pytest.raises(Refusal):
            office.call("GET", f"/v1/campaigns/{unplanned}/report")
        office.post(f"/v1/admin/campaigns/{id_of('renewals')}/leads/1/reveal", {"reason": "a complaint"}, OPERATOR)
        yield office


# What no call of a run needs: whose, the action, the end of its resource, and why it is there all the same.
MACHINE, LOGGING = "CampaignStateMachine", "AWS's setting up of a state machine's log, which takes no resource"
LISTING = "S3 itself, which tells only those who may list that an object is not there"
READERS = ("PlanFunction", "AdmitFunction", "SendFunction", "ReconcileFunction", "ReportFunction")
UNSEEN = {
    **{(reader, "s3:ListBucket", ""): LISTING for reader in READERS},
    ("ApiFunction", "s3:PutObject", "/uploads/*"): "a customer's upload is made in the name of whoever signed its form",
    ("ApiFunction", "s3:GetObject", "/campaigns/*/rejects.csv"): "the same of a download: its address is signed",
    ("ProviderEventsFunction", "sqs:SendMessage", ""): "Lambda itself, when an event failed for good",
    (MACHINE, "states:StartExecution", ""): "Step Functions itself, for the children of a Distributed Map",
    (MACHINE, "states:DescribeExecution", ""): "the same",
    (MACHINE, "states:StopExecution", ""): "the same, of a map beyond its tolerance",
    (MACHINE, "states:RedriveExecution", ""): "the same, when an operator redrives a campaign",
    (MACHINE, "s3:GetObject", "/campaigns/*/runs/*"): "ResultWriter, by AWS's list of what it needs",
    (MACHINE, "s3:ListMultipartUploadParts", "/campaigns/*/runs/*"): "the same, of large results",
    (MACHINE, "s3:AbortMultipartUpload", "/campaigns/*/runs/*"): "the same",
    (MACHINE, "logs:CreateLogDelivery", "*"): LOGGING,
    (MACHINE, "logs:GetLogDelivery", "*"): LOGGING,
    (MACHINE, "logs:UpdateLogDelivery", "*"): LOGGING,
    (MACHINE, "logs:DeleteLogDelivery", "*"): LOGGING,
    (MACHINE, "logs:ListLogDeliveries", "*"): LOGGING,
    (MACHINE, "logs:PutResourcePolicy", "*"): LOGGING,
    (MACHINE, "logs:DescribeResourcePolicies", "*"): LOGGING,
    (MACHINE, "logs:DescribeLogGroups", "*"): LOGGING,
}


def is_of(permission: tuple[str, str, str], known: tuple[str, str, str]) -> bool:
    role, action, resource = permission
    return f"-{known[0]}Role-" in role and action == known[1] and resource.endswith(known[2])


def test_every_permission_is_needed_by_a_call_or_has_its_reason(office: Office) -> None:
    unused = office.sandbox.permissions.unused()

    assert [one for one in unused if not any(is_of(one, known) for known in UNSEEN)] == []


def test_every_reason_is_of_a_permission_that_is_there(office: Office) -> None:
    unused = office.sandbox.permissions.unused()

    assert [known for known in UNSEEN if not any(is_of(one, known) for one in unused)] == []


def test_no_call_of_the_run_is_refused(office: Office) -> None:
    assert office.sandbox.permissions.refused == set()


def test_a_permission_that_nothing_uses_is_found(office: Office) -> None:
    role = next(iter(iam_backends[ACCOUNT]["aws"].roles.values()))
    statement = {"Effect": "Allow", "Action": "dynamodb:DeleteTable", "Resource": "*"}
    role.policies["more"] = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    try:
        office.sandbox.permissions.read_again()

        assert (role.arn, "dynamodb:DeleteTable", "*") in office.sandbox.permissions.unused()
    finally:
        del role.policies["more"]
        office.sandbox.permissions.read_again()
