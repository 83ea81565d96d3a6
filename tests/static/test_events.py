"""The sample events are what the workflow, the gateway and the provider really send."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from console.checks.template import routes
from paceline.adapters.end_user_messaging import EndUserMessaging
from paceline.adapters.twilio import signature
from paceline.contracts import check
from paceline.contracts.models import STATES, file_name
from paceline.requests import NotificationsRequest
from sandbox.end_user_messaging import notification
from sandbox.gateway import Gateway
from sandbox.template import events_of, translate, without_gateway

ROOT = Path(__file__).resolve().parents[2]
EVENTS = ROOT / "events"
SAMPLES = {path.name: json.loads(path.read_text()) for path in sorted(EVENTS.glob("*.json"))}
HTTP = {name: event for name, event in SAMPLES.items() if "routeKey" in event}
TASKS = sorted(name for name in SAMPLES if ".input" in name)
PUBLISHED = {name: event for name, event in SAMPLES.items() if "Records" in event}
TOPIC = "arn:aws:sns:us-east-1:123456789012:paceline-provider-events"
PLACES = {"ProviderEvents": TOPIC, "ProviderEventsFunction": "ProviderEventsFunction"}
DOMAIN = "httpapi.execute-api.us-east-1.amazonaws.com"


class Recorder:
    """Stands in for the functions: keeps each event, and lets the authorizer answer as the sample says."""

    def __init__(self, context: dict[str, str] | None) -> None:
        self.events: dict[str, dict[str, Any]] = {}
        self._context = context

    def invoke(self, function: str, payload: str) -> str:
        self.events[function] = json.loads(payload)
        answer = {"isAuthorized": True, "context": self._context}
        return json.dumps(answer if function == "AuthorizeFunction" else {"statusCode": 200})


class StoppedClock:
    def __init__(self, milliseconds: int) -> None:
        self.microseconds = milliseconds * 1000

    def time(self) -> float:
        return self.microseconds / 1e6

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.time(), UTC)


@pytest.fixture(scope="module")
def template() -> dict[str, Any]:
    return translate(ROOT / "template.yaml", "us-east-1")


def sent_by_the_gateway(template: dict[str, Any], sample: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Make the sample's request to the sandbox's gateway; return the events that it sends, by function."""
    rest, apis = without_gateway(template, "https://{id}")
    context = sample["requestContext"].get("authorizer", {}).get("lambda")
    functions, clock = Recorder(context), StoppedClock(sample["requestContext"]["timeEpoch"])
    names = {name: name for name in rest["Resources"]}
    gateway = Gateway("httpapi", apis["HttpApi"]["Properties"]["Body"], names, functions, clock, DOMAIN)  # type: ignore[arg-type]
    query = f"?{sample['rawQueryString']}" if sample["rawQueryString"] else ""
    http = sample["requestContext"]["http"]
    gateway.handle(http["method"], sample["rawPath"] + query, sample["headers"], sample.get("body", "").encode())
    return functions.events


@pytest.mark.parametrize("name", HTTP)
def test_the_gateway_sends_exactly_this_event(template: dict[str, Any], name: str) -> None:
    sent = sent_by_the_gateway(template, HTTP[name])

    assert HTTP[name] in sent.values()


def test_each_route_of_the_template_has_a_sample() -> None:
    assert set(routes(ROOT)) == {event["routeKey"] for event in HTTP.values()}


@pytest.mark.parametrize("name", TASKS)
def test_a_tasks_sample_fits_what_its_state_sends(name: str) -> None:
    check(f"states/{name.removesuffix('.json').partition('--')[0]}", SAMPLES[name])


def test_each_task_has_a_sample() -> None:
    assert {f"{file_name(state)}.input.json" for state in STATES} <= set(TASKS)


def test_the_executions_input_and_the_last_event_fit_their_contracts() -> None:
    check("executions/campaign-input", SAMPLES["campaign-input.json"])
    check("events/campaign-finished", SAMPLES["campaign-finished.json"])
    check("webhooks/webhook-campaign-finished", SAMPLES["webhook-campaign-finished.json"])
    assert SAMPLES["webhook-campaign-finished.json"]["data"] == SAMPLES["campaign-finished.json"]
    check("events/dry-run", SAMPLES["dry-run.json"])


def test_each_function_of_the_template_has_a_sample(template: dict[str, Any]) -> None:
    functions = {name for name, r in template["Resources"].items() if r["Type"] == "AWS::Lambda::Function"}

    by_http = {function for event in HTTP.values() for function in sent_by_the_gateway(template, event)}
    machine = json.dumps(template["Resources"]["CampaignStateMachine"])
    by_workflow = {name for name in functions if f'["{name}", "Arn"]' in machine}

    topics, by_topic = events_of(template, "paceline", dict.fromkeys(template["Resources"], "") | PLACES)
    assert set(topics.values()) == by_topic.keys() == {TOPIC}
    assert {record["Sns"]["TopicArn"] for event in PUBLISHED.values() for record in event["Records"]} == {TOPIC}

    assert functions == by_http | by_workflow | set(by_topic[TOPIC]) | {"DryRunFunction"}  # which the API invokes


@pytest.mark.parametrize("name", [name for name in HTTP if name.startswith("callback-")])
def test_a_callback_is_signed_with_the_sandboxs_first_token(name: str) -> None:
    event = HTTP[name]
    url = f"https://{DOMAIN}{event['rawPath']}?{event['rawQueryString']}"

    signed = signature("sandbox-1", url, dict(parse_qsl(event["body"])))

    assert event["headers"]["x-twilio-signature"] == signed


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_event_is_one_that_the_function_takes(name: str) -> None:
    reader = EndUserMessaging(lambda: None, "", "PROMOTIONAL")

    [record] = NotificationsRequest.model_validate(PUBLISHED[name]).Records
    event = json.loads(record.Sns.Message)

    assert reader.read_inbound(event) or reader.read_event(event)
    assert PUBLISHED[name].keys() == notification(TOPIC, event).keys()
    assert notification(TOPIC, event)["Records"][0]["Sns"].items() <= PUBLISHED[name]["Records"][0]["Sns"].items()


def test_every_number_is_a_fictional_one() -> None:
    text = "".join(path.read_text() for path in EVENTS.glob("*.json"))

    numbers = re.findall(r"(?:\+|%2B)1(\d{10})", text)

    assert numbers
    assert all(re.fullmatch(r"\d{3}55501\d\d", number) for number in numbers)


def test_the_list_of_samples_names_each_file() -> None:
    listed = re.findall(r"^\| `([^`]+)` \|", (EVENTS / "README.md").read_text(), re.MULTILINE)

    assert sorted(listed) == sorted(
        path.name for path in EVENTS.iterdir() if path.name not in ("README.md", "__pycache__")
    )
