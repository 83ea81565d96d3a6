"""Lists page by page, the limits of a body, a weight changed live; and real answers against the document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from api.limits import MAX_BODY_BYTES
from paceline.campaign_ids import own_id
from tests.builders.api import DOCUMENT, operations
from tests.builders.campaigns import CUSTOMER, OPERATOR, Office, Refusal, an_office, id_of
from tests.builders.core import phone_number

LEADS = 13
FILE = "phone,first_name,timezone,carrier\n" + "".join(
    f"{phone_number(n)},Ana,{('America/New_York', 'America/Chicago')[n % 2]},{('Verizon', 'Other')[n % 3 == 0]}\n"
    for n in range(1, LEADS + 1)
)


@pytest.fixture(scope="module")
def office() -> Iterator[Office]:
    """Two routes and two time zones, so that lead numbers go to and fro between four streams."""
    with an_office() as office:
        office.post("/v1/admin/routes", {"name": "verizon", "carriers": ["Verizon"]}, OPERATOR)
        office.start(FILE.encode())
        office.report()
        yield office


def an_account(office: Office, name: str) -> str:
    """Make an account with nothing in it; return its key."""
    office.post("/v1/admin/accounts", {"account_id": name}, OPERATOR)
    return str(office.post("/v1/admin/keys", {"account_id": name}, OPERATOR)["api_key"])


def pages(office: Office, path: str, name: str, limit: int, key: str = CUSTOMER) -> list[list[Any]]:
    found, after = [], ""
    while True:
        page = office.call("GET", f"{path}?limit={limit}{after}", key=key)
        found.append(page[name])
        if page["next"] is None:
            return found
        after = f"&after={page['next']}"


@pytest.mark.parametrize("limit", [1, 7, LEADS, 99])
def test_messages_come_by_lead_number_each_once_and_without_numbers(office: Office, limit: int) -> None:
    found = pages(office, "/v1/campaigns/renewals/messages", "messages", limit)

    assert [one["lead_no"] for page in found for one in page] == list(range(1, LEADS + 1))
    assert max(map(len, found)) <= limit
    assert {one["status"] for page in found for one in page} == {"delivered"}
    assert phone_number(1)[-7:] not in json.dumps(found)
    assert all(one["sent_at"] <= one["final_at"] for page in found for one in page)


def test_a_campaign_that_was_not_planned_has_no_messages(office: Office) -> None:
    office.post("/v1/campaigns", {"campaign_id": "unplanned", "name": "N", "message": "Hi"})

    assert office.call("GET", "/v1/campaigns/unplanned/messages") == {"messages": [], "next": None}


@pytest.mark.parametrize("limit", [1, 2, 99])
def test_campaigns_come_the_newest_first(office: Office, limit: int) -> None:
    key = an_account(office, f"lister-{limit}")
    names = [f"campaign-{limit}-{number}" for number in range(5)]
    for name in names:
        office.post("/v1/campaigns", {"campaign_id": name, "name": name, "message": "Hi"}, key)

    found = pages(office, "/v1/campaigns", "campaigns", limit, key)
    by_operator = office.call("GET", f"/v1/campaigns?account_id=lister-{limit}", key=OPERATOR)

    assert [one["campaign_id"] for page in found for one in page] == [
        own_id(f"lister-{limit}", name) for name in names[::-1]
    ]
    assert by_operator == office.call("GET", "/v1/campaigns", key=key)


@pytest.mark.parametrize("limit", [1, 4, 99])
def test_opt_outs_are_imported_once_and_exported_by_number(office: Office, limit: int) -> None:
    key = an_account(office, f"stopper-{limit}")
    numbers = [phone_number(n) for n in range(9, 0, -1)]

    first = office.post("/v1/opt-outs", {"phone_numbers": [*numbers, "911", numbers[0]]}, key)
    again = office.post("/v1/opt-outs", {"phone_numbers": numbers}, key)
    found = [one for page in pages(office, "/v1/opt-outs", "opt_outs", limit, key) for one in page]

    assert (first["added"], [one["row_number"] for one in first["refused"]]) == (9, [10])
    assert (again["added"], again["known"]) == (0, 9)
    assert [one["phone_number"] for one in found] == sorted(numbers)
    assert {one["source"] for one in found} == {"import"}


@pytest.mark.parametrize("path", ["/v1/campaigns", "/v1/opt-outs", "/v1/campaigns/renewals/messages"])
@pytest.mark.parametrize("after", ["x", "bnVsbA", "WzEsIFtdXQ", "IiI", "%00"])
def test_what_is_no_place_in_a_list_is_refused_with_its_field(office: Office, path: str, after: str) -> None:
    with pytest.raises(Refusal) as refused:
        office.call("GET", f"{path}?after={after}")

    assert (refused.value.status, refused.value.problem["field"]) == (422, "after")


def test_a_body_over_the_limit_is_told_to_use_the_upload(office: Office) -> None:
    with pytest.raises(Refusal) as refused:
        office.post("/v1/campaigns", {"name": "N", "message": "x" * MAX_BODY_BYTES})

    assert refused.value.status == 413
    assert refused.value.problem["type"] == "urn:paceline:problem:body-too-large"
    assert "/upload" in refused.value.problem["detail"]


@pytest.mark.parametrize("megabytes", [7, 11], ids=["over Lambda's limit", "over the gateway's"])
def test_a_body_over_awss_own_limits_is_refused_by_the_gateway_in_its_words(office: Office, megabytes: int) -> None:
    url, headers = f"{office.sandbox.outputs['ApiUrl']}/v1/campaigns", {"x-api-key": CUSTOMER}

    answer = office.sandbox.do(office.sandbox.network.request, "POST", url, headers, b"x" * megabytes * 1_000_000)

    assert (answer.status, json.loads(answer.body)) == (413, {"message": "Request Entity Too Large"})


@pytest.mark.parametrize(
    ("content_type", "body", "status", "field"),
    [
        ("text/csv", b"phone\n", 415, "content-type"),
        ("application/x-www-form-urlencoded", b"name=N&message=Hi", 415, "content-type"),
        ("application/json", b"{", 422, "body"),
        ("application/json", b'"\xff"', 422, "body"),
        ("application/json", b"", 422, "body"),
        ("application/json", b'{"name": "N"}', 422, "body.message"),
        ("application/json", b'{"name": "N", "message": "Hi", "mesage": 1}', 422, "body.mesage"),
        ("application/json", b'{"name": "N", "message": "Hi", "start_at": 0}', 422, "body.start_at"),
        (
            "application/json",
            b'{"name": "N", "message": "Hi", "start_at": "9999-12-31T23:59:59Z"}',
            422,
            "body.start_at",
        ),
        ("application/json", b'{"name": "N", "message": "Hi", "sending_window": {"opens": 0}}', 422, "opens"),
        ("application/json", b'{"name": "N", "message": "Hi", "sending_window": {"opens": "08:00Z"}}', 422, "opens"),
        ("application/json", b'{"name": "N", "message": "Hi", "weight": true}', 422, "body.weight"),
        ("application/json", b'{"name": "N", "message": "\\ud800"}', 422, "body.message"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_field(
    office: Office, content_type: str, body: bytes, status: int, field: str
) -> None:
    headers = {"x-api-key": CUSTOMER, "content-type": content_type}
    url = f"{office.sandbox.outputs['ApiUrl']}/v1/campaigns"

    answer = office.sandbox.do(office.sandbox.network.request, "POST", url, headers, body)

    problem = json.loads(answer.body)
    assert (answer.status, answer.headers["content-type"]) == (status, "application/problem+json")
    assert problem["field"].startswith(field) or problem["field"].endswith(field)
    assert problem["status"] == status
    assert problem["detail"]


def test_a_running_campaigns_weight_is_changed_by_an_operator_alone_and_audited(office: Office) -> None:
    office.start(5, "weighed", start_at="2026-12-01T17:00:00Z")

    with pytest.raises(Refusal) as refused:
        office.call("PATCH", "/v1/admin/campaigns/weighed", {"weight": 4})
    changed = office.call("PATCH", f"/v1/admin/campaigns/{id_of('weighed')}", {"weight": 4}, OPERATOR)
    [newest, *_] = office.call("GET", "/v1/admin/accounts/acme/changes", key=OPERATOR)["changes"]

    assert refused.value.status == 403
    assert (changed["weight"], office.shown("weighed")["weight"], changed["status"]) == (4, 4, "running")
    assert newest["changes"] == {f"weight of campaign {id_of('weighed')}": {"before": 1, "after": 4}}
    assert newest["by"] == "operator"


def test_a_campaign_that_is_over_has_no_weight_to_change(office: Office) -> None:
    with pytest.raises(Refusal) as refused:
        office.call("PATCH", f"/v1/admin/campaigns/{id_of('renewals')}", {"weight": 4}, OPERATOR)

    assert refused.value.status == 422


@pytest.mark.parametrize("operation", operations(), ids=lambda operation: operation.operation_id)
def test_a_real_answer_is_as_the_document_says(office: Office, operation: Any) -> None:
    key = OPERATOR if operation.path.startswith("/v1/admin/") else CUSTOMER

    answer = office.sandbox.call_api(operation.method, operation.address(), operation.body, key)

    content = operation.definition["responses"][str(answer.status)]["content"]
    schema = content[answer.headers["content-type"]]["schema"]
    Draft202012Validator(schema | {"components": DOCUMENT["components"]}).validate(json.loads(answer.body))
