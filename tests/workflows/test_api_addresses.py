"""Addresses and bodies that nobody meant: every answer is a problem that says what to do."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

import pytest

from sandbox.gateway import Answer
from tests.builders.campaigns import CUSTOMER, Office, Refusal, an_office

OK = {"name": "N", "message": "Hi"}


@pytest.fixture(scope="module")
def office() -> Iterator[Office]:
    with an_office() as office:
        yield office


def ask(office: Office, method: str, path: str, body: bytes = b"", key: str | None = CUSTOMER) -> Answer:
    headers = {"content-type": "application/json"} | ({} if key is None else {"x-api-key": key})
    url = f"{office.sandbox.outputs['ApiUrl']}{path}"
    return office.sandbox.do(office.sandbox.network.request, method, url, headers, body)


@pytest.mark.parametrize("key", [CUSTOMER, None, "pk_unknown"])
@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v1/nothing", "/v1/account/", "/v1//account", "/v2/account", "/v1/Account"]
)
def test_an_address_that_is_none_is_a_problem_with_or_without_a_key(office: Office, path: str, key: str | None) -> None:
    answer = ask(office, "GET", path, key=key)

    assert (answer.status, answer.headers["content-type"]) == (404, "application/problem+json")
    assert json.loads(answer.body)["type"] == "urn:paceline:problem:no-such-route"
    assert "openapi.json" in json.loads(answer.body)["detail"]


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/v1/campaigns", "GET, POST"),
        ("PUT", "/v1/campaigns/spring/plan", "GET, POST"),
        ("OPTIONS", "/v1/account", "GET, PATCH"),
        ("GET", "/v1/campaigns/spring/start", "POST"),
        ("POST", "/v1/openapi.json", "GET"),
    ],
)
def test_a_method_that_an_address_does_not_take_is_told_which_it_takes(
    office: Office, method: str, path: str, allowed: str
) -> None:
    answer = ask(office, method, path, b"{}")

    assert (answer.status, answer.headers["allow"]) == (405, allowed)
    assert json.loads(answer.body)["type"] == "urn:paceline:problem:method-not-allowed"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param(b"{", "line 1, column 2", id="half of it"),
        pytest.param(b"[" * 200_000, "nested too deeply", id="deep arrays"),
        pytest.param(b'{"a":' * 100_000, "nested too deeply", id="deep objects"),
        pytest.param(b'{"name": "N", "message": "Hi", "name": "M"}', '"name" is there twice', id="a name twice"),
        pytest.param(b'{"name": "N", "message": "Hi", "weight": NaN}', "NaN is no number", id="no number"),
        pytest.param(b'["name"]', "one JSON object", id="an array"),
        pytest.param(b"null", "one JSON object", id="null"),
        pytest.param(b"", "one JSON object", id="nothing"),
    ],
)
def test_a_body_that_is_no_object_says_so_of_the_body(office: Office, body: bytes, says: str) -> None:
    answer = ask(office, "POST", "/v1/campaigns", body)

    problem = json.loads(answer.body)
    assert (answer.status, problem["field"]) == (422, "body")
    assert says in problem["detail"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        pytest.param({"name": " \t"}, "body.name", id="a name of blanks"),
        pytest.param({"message": "\u00a0\n"}, "body.message", id="a message of blanks"),
        pytest.param({"message": "Hi\0"}, "body.message", id="a character that no handset shows"),
        pytest.param({"message": "Hi {{name"}, "message", id="half a field"),
        pytest.param({"route": "nowhere"}, "route", id="no route"),
        pytest.param({"send_by": "2026-09-02T15:00:00Z"}, "send_by", id="an end that is past"),
        pytest.param(
            {"start_at": "2026-09-03T15:00:00Z", "send_by": "2026-09-03T14:00:00Z"},
            "send_by",
            id="an end before the start",
        ),
        pytest.param({"campaign_id": "Spring"}, "body.campaign_id", id="an id in capitals"),
        pytest.param({"campaign_id": "s" * 61}, "body.campaign_id", id="an id too long"),
    ],
)
def test_a_campaign_that_could_not_be_meant_is_refused_with_its_field(
    office: Office, change: dict[str, str], field: str
) -> None:
    with pytest.raises(Refusal) as refused:
        office.post("/v1/campaigns", OK | change)

    assert (refused.value.status, refused.value.problem["field"]) == (422, field)


def test_the_longest_id_that_can_be_chosen_runs(office: Office) -> None:
    execution = office.start(1, "s" * 60)

    office.sandbox.run_until(execution.done)

    assert office.shown("s" * 60)["status"] == "finished"


@pytest.mark.parametrize("path", ["/v1/campaigns", "/v1/opt-outs"])
def test_a_forged_place_that_nests_deeply_is_no_place(office: Office, path: str) -> None:
    forged = base64.urlsafe_b64encode(b"[" * 5000).decode().rstrip("=")

    answer = ask(office, "GET", f"{path}?after={forged}")

    assert (answer.status, json.loads(answer.body)["field"]) == (422, "after")
