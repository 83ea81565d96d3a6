"""An operator looks at one lead's number: only so, only with a reason, and never without a line in the trail."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest

from paceline.api_keys import key_id_of, store_key
from paceline.leads.lines import lead_to_line
from paceline.models import Lead
from paceline.revealing import REVEALED
from sandbox.faults import Boundary, Fault, nothing
from sandbox.gateway import Answer
from tests.builders.campaigns import CUSTOMER, OPERATOR, Office, a_file, an_office, id_of
from tests.builders.core import phone_number

NAME = id_of("renewals")
REASON = "The customer says that Ana got no text"
STRANGER = "pk_stranger_key-of-the-tests-stranger"
LEADS = 45  # more than a batch


@pytest.fixture(scope="module")
def office() -> Iterator[Office]:
    """A campaign that ran; row 46 of its file holds no number, row 47 the first again."""
    with an_office(credits=100, route={"parts_per_minute": 240}) as office:
        office.start(a_file(LEADS) + b"none,Ben\n" + f"{phone_number(1)},Cora\n".encode())
        office.report()
        office.post("/v1/admin/accounts", {"account_id": "other"}, OPERATOR)
        store_key(office.table, office.sandbox.key_pepper, STRANGER, "other", "customer")
        yield office


def path(lead_no: int | str = 7, campaign_id: str = NAME) -> str:
    return f"/v1/admin/campaigns/{campaign_id}/leads/{lead_no}/reveal"


def ask(office: Office, where: str, reason: Any = REASON, key: str = OPERATOR) -> Answer:
    return office.sandbox.call_api("POST", where, {"reason": reason}, key)


def trail(office: Office) -> list[dict[str, Any]]:
    """Return what the account's changes say of looks, the newest first."""
    changes = office.call("GET", "/v1/admin/accounts/acme/changes", key=OPERATOR)["changes"]
    return [one for one in changes if REVEALED in one["changes"]]


def digits(lead_no: int) -> str:
    return phone_number(lead_no).removeprefix("+1")


@pytest.mark.parametrize("lead_no", [1, 41, LEADS])
def test_an_operator_sees_a_leads_number_and_text_and_the_trail_says_so(office: Office, lead_no: int) -> None:
    answer = json.loads(ask(office, path(lead_no)).body)

    assert answer == {
        "campaign_id": NAME,
        "lead_no": lead_no,
        "phone_number": phone_number(lead_no),
        "text": "Hi Ana, your renewal is due.",
    }
    newest = trail(office)[0]
    assert newest["by"] == key_id_of(OPERATOR)
    assert newest["changes"][REVEALED] == {
        "before": None,
        "after": {"campaign_id": NAME, "lead_no": lead_no, "reason": REASON},
    }


def test_an_operator_looks_up_nobody_unseen(office: Office) -> None:
    before = len(trail(office))

    answers = [ask(office, path(2)), ask(office, path(2))]

    assert [answer.status for answer in answers] == [200, 200]
    assert len(trail(office)) == before + 2
    kept = json.dumps([*office.table.query("AUDIT#ACCOUNT#acme"), *office.sandbox.logs.lines])
    assert digits(2) not in kept
    assert "renewal is due" not in kept


@pytest.mark.parametrize("key", [CUSTOMER, STRANGER])
def test_a_customer_reveals_nobody_not_even_of_the_own_campaign(office: Office, key: str) -> None:
    before = trail(office)

    answer = ask(office, path(), key=key)

    assert answer.status == 403
    assert digits(7).encode() not in answer.body
    assert trail(office) == before


@pytest.mark.parametrize(
    ("where", "status"),
    [
        pytest.param(path(LEADS + 1), 404, id="a row that was rejected"),
        pytest.param(path(LEADS + 2), 404, id="a duplicate"),
        pytest.param(path(9_999), 404, id="no lead of the file"),
        pytest.param(path(0), 422, id="no number of a lead"),
        pytest.param(path("+12025550101"), 422, id="a phone number"),
        pytest.param(path(campaign_id="nobodys1"), 404, id="no campaign"),
        pytest.param(path(campaign_id="unplanned"), 404, id="a campaign without a plan"),
    ],
)
def test_who_is_not_there_is_a_problem_and_no_line_in_the_trail(office: Office, where: str, status: int) -> None:
    office.sandbox.call_api(
        "POST", "/v1/campaigns", {"campaign_id": "unplanned", "name": "N", "message": "H"}, CUSTOMER
    )
    before = trail(office)

    answer = ask(office, where.replace("unplanned", id_of("unplanned")))

    assert (answer.status, answer.headers["content-type"]) == (status, "application/problem+json")
    assert json.loads(answer.body)["detail"]
    assert trail(office) == before


@pytest.mark.parametrize(
    "reason",
    [
        pytest.param(None, id="none"),
        pytest.param("", id="empty"),
        pytest.param("ab", id="two letters"),
        pytest.param("     ", id="blanks"),
        pytest.param("a" * 201, id="too long"),
        pytest.param("asked by 2025550107", id="a number"),
        pytest.param("asked by +1 (202) 555-0107", id="a number as people write it"),
        pytest.param("asked by 202.555.0107", id="a number with dots"),
        pytest.param("call 555-0107", id="a number without its area"),
        pytest.param("a line \x1b[2J", id="a control character"),
    ],
)
def test_without_a_reason_that_may_be_kept_nothing_is_told(office: Office, reason: Any) -> None:
    before = trail(office)

    answer = ask(office, path(), reason)

    assert answer.status == 422
    assert b"555" not in answer.body
    assert trail(office) == before


def test_a_short_number_in_a_reason_is_none_of_a_phone(office: Office) -> None:
    assert ask(office, path(), "Ticket 48213 of 2 September").status == 200


@pytest.mark.parametrize("fault", [Fault.FAILED, Fault.THROTTLED, Fault.LOST, Fault.BEFORE, Fault.AFTER])
def test_nothing_is_told_where_the_trail_could_not_be_written(office: Office, fault: Fault) -> None:
    def writes_fail(at: Boundary) -> Fault | None:
        return fault if at.function == "api" and at.call == "dynamodb:TransactWriteItems" else None

    office.sandbox.faults.arm(writes_fail)
    answer = ask(office, path(3))
    office.sandbox.faults.arm(nothing)

    assert answer.status in (500, 503)
    assert digits(3).encode() not in answer.body
    assert digits(3) not in "\n".join(office.sandbox.logs.lines)


def test_a_lead_that_is_no_longer_kept_is_not_found(office: Office) -> None:
    office.start(3, "gone")
    office.report("gone")
    s3, bucket = boto3.client("s3"), office.sandbox.outputs["BucketName"]
    keys = [one["Key"] for one in s3.list_objects_v2(Bucket=bucket, Prefix=f"campaigns/{id_of('gone')}/")["Contents"]]
    before = trail(office)
    for end in ("leads/shared-01-0001.jsonl", "leads/shared-01-0001.numbers.json", "batches.json"):
        [gone] = [key for key in keys if key.endswith(end)]
        s3.delete_object(Bucket=bucket, Key=gone)

        answer = ask(office, path(1, id_of("gone")))

        assert answer.status == 404
        assert "kept until" in json.loads(answer.body)["detail"]
    assert trail(office) == before


def test_of_somebody_who_was_forgotten_nothing_is_told(office: Office) -> None:
    office.start(1, "forgetful")
    office.report("forgetful")
    s3, bucket = boto3.client("s3"), office.sandbox.outputs["BucketName"]
    prefix = f"campaigns/{id_of('forgetful')}/"
    keys = [one["Key"] for one in s3.list_objects_v2(Bucket=bucket, Prefix=prefix)["Contents"]]
    [leads] = [key for key in keys if key.endswith(".jsonl") and "/leads/" in key]
    s3.put_object(Bucket=bucket, Key=leads, Body=lead_to_line(Lead(1, "", "", 1, 2)))
    before = trail(office)

    answer = ask(office, path(1, id_of("forgetful")))

    assert (answer.status, trail(office)) == (404, before)
    assert "forgotten" in json.loads(answer.body)["detail"]
