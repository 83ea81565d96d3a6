"""A customer's server hears of each end of a campaign, and whatever it does, the campaign ends as it ended."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from paceline.contracts import check
from sandbox.carrier import NO_FINAL_RECEIPT, Profile
from sandbox.engine import Execution, TaskFailed
from sandbox.receiver import Received, Receiver, taken
from sandbox.testing.timeline import moment
from sandbox.world import RECEIVER_ADDRESS, RECEIVER_HOST
from tests.builders.campaigns import KIND, OPERATOR, Office, Refusal, an_office, id_of
from tests.unit.webhooks.guide import is_from_paceline_at

URL = f"https://{RECEIVER_HOST}/paceline?token=of-the-customers"


# Takes everything and never says what became of it.
SILENT = Profile(shares=((NO_FINAL_RECEIPT, 1.0),), refused=(), doubled=0.0)
ALWAYS = {"opens": "00:00", "closes": "00:00"}


@dataclass
class Customer:
    """Account acme, its server, and the campaign of one test."""

    office: Office
    campaign_id: str

    @property
    def server(self) -> Receiver:
        return self.office.sandbox.receiver

    @property
    def webhook_id(self) -> str:
        return f"evt_{id_of(self.campaign_id)}_v1"

    def set_webhook(self, url: str | None = URL) -> str:
        """Set the account's webhook; return its secret."""
        return str(self.office.call("PATCH", "/v1/account", {"webhook_url": url})["webhook_secret"])

    def start(self, leads: int | bytes = 2) -> Execution:
        return self.office.start(leads, self.campaign_id, sending_window=ALWAYS)

    def runs_to_the_end(self, leads: int | bytes = 2) -> Execution:
        """Run a campaign to the end of its execution."""
        execution = self.start(leads)
        self.office.sandbox.run_until(execution.done)
        return execution

    def starts_and_is_told_once(self) -> Execution:
        """Run a campaign until its server has heard of it, and no further."""
        execution = self.start()
        self.office.wait_until(lambda: bool(self.server.received))
        return execution

    def shown(self) -> dict[str, Any]:
        return self.office.shown(self.campaign_id)

    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.office.file("report.json", self.campaign_id))
        return found

    def told(self) -> list[dict[str, Any]]:
        """Return what GET /v1/campaigns/{id} says of the notifications, without their times."""
        found: list[dict[str, Any]] = self.shown()["notifications"]
        return [{name: value for name, value in one.items() if name != "last_attempt_at"} for one in found]

    def delivered(self, **changes: Any) -> dict[str, Any]:
        """What is told of a notification that was taken at once."""
        taken_at_once = {"status": "delivered", "attempts": 1, "http_status": 200, "reason": ""}
        return {"version": 1, "webhook_id": self.webhook_id} | taken_at_once | changes

    def tries_it_out(self) -> Received:
        """Ask for a test; return what the server received."""
        assert self.office.post("/v1/account/webhook/test")["delivered"]
        return self.server.received[-1]


def is_signed(request: Received, secret: str) -> bool:
    return is_from_paceline_at(request.at, request.headers, request.body, secret)


@pytest.fixture(scope="module")
def shared() -> Iterator[Office]:
    with an_office() as office:
        yield office


NUMBERS = count(1)


@pytest.fixture
def customer(shared: Office, monkeypatch: pytest.MonkeyPatch) -> Iterator[Customer]:
    """A customer without a webhook, whose server takes everything; what a test breaks is whole again after it."""
    functions, network = shared.sandbox.functions, shared.sandbox.network
    monkeypatch.setattr(functions, "invoke", functions.invoke)
    monkeypatch.setitem(network.names, RECEIVER_HOST, [RECEIVER_ADDRESS])
    customer = Customer(shared, f"campaign-{next(NUMBERS)}")
    yield customer
    customer.set_webhook(None)
    customer.server.behave()
    customer.server.received.clear()
    shared.sandbox.carrier.behave(KIND)


def test_the_end_is_told_once_signed_and_as_the_event_says_it(customer: Customer) -> None:
    secret = customer.set_webhook()

    execution = customer.runs_to_the_end()

    [request] = customer.server.received
    body = json.loads(request.body)
    assert execution.status == "SUCCEEDED"
    assert (request.method, request.url) == ("POST", URL)
    assert request.headers["webhook-id"] == body["id"] == customer.webhook_id
    assert is_signed(request, secret)
    check("webhooks/webhook-campaign-finished", body)
    assert body["data"]["outcomes"]["delivered"] == 2
    assert moment(body["timestamp"]) == moment(customer.report()["generated_at"])
    assert customer.told() == [customer.delivered()]


def test_without_a_webhook_no_function_is_called(customer: Customer) -> None:
    [usage] = [one for name, one in customer.office.sandbox.functions.usage.items() if "Notify" in name]
    before = usage.invocations

    execution = customer.runs_to_the_end()

    assert execution.status == "SUCCEEDED"
    assert usage.invocations == before
    assert customer.told() == []


def test_a_server_that_fails_three_times_gets_the_same_notification_again(customer: Customer) -> None:
    secret = customer.set_webhook()
    customer.server.behave(500, "hangs", 302, then=200)

    execution = customer.runs_to_the_end()

    requests = customer.server.received
    assert execution.status == "SUCCEEDED"
    assert customer.server.ids() == [customer.webhook_id] * 4
    assert {request.body for request in requests} == {requests[0].body}
    assert [request.answered for request in requests] == [500, None, 302, 200]
    assert all(is_signed(request, secret) for request in requests)  # each with the time of its own try
    assert len({request.headers["webhook-timestamp"] for request in requests}) == 4
    assert {request.url for request in requests} == {URL}  # the redirect led nowhere
    assert customer.told() == [customer.delivered(attempts=4)]


@pytest.mark.parametrize(
    ("behaviour", "http_status", "reason", "requests"),
    [
        pytest.param(500, 500, "answered_500", 11, id="answers 500"),
        pytest.param(404, 404, "answered_404", 11, id="answers 404"),
        pytest.param("hangs", None, "timed_out", 11, id="hangs"),
        pytest.param("is_down", None, "cannot_connect", 0, id="is down"),
    ],
)
def test_a_server_that_never_takes_it_changes_nothing_but_the_note(
    customer: Customer, behaviour: Any, http_status: int | None, reason: str, requests: int
) -> None:
    customer.set_webhook()
    customer.server.behave(then=behaviour)

    execution = customer.runs_to_the_end()

    assert execution.status == "SUCCEEDED"
    assert customer.shown()["status"] == "finished"
    assert customer.report()["balanced"]
    assert len(customer.server.received) == requests
    gave_up = {"status": "gave_up", "attempts": 11, "http_status": http_status, "reason": reason}
    assert customer.told() == [customer.delivered(**gave_up)]


def test_the_tries_end_within_their_bound_and_the_campaign_is_over_before_the_first(customer: Customer) -> None:
    customer.set_webhook()
    customer.server.behave(then=503)
    execution = customer.starts_and_is_told_once()
    first = customer.office.now

    assert customer.shown()["status"] == "finished"
    assert customer.told()[0]["status"] == "trying"
    customer.office.sandbox.run_until(execution.done)
    assert customer.office.now - first <= timedelta(hours=15, minutes=10)


def test_410_means_do_not_try_again(customer: Customer) -> None:
    customer.set_webhook()
    customer.server.behave(410)

    execution = customer.runs_to_the_end()

    assert execution.status == "SUCCEEDED"
    assert len(customer.server.received) == 1
    assert customer.told() == [customer.delivered(status="gave_up", http_status=410, reason="answered_410")]


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.5", "169.254.169.254", "64:ff9b::a00:5"])
def test_a_name_that_leads_into_a_private_network_is_not_called(customer: Customer, address: str) -> None:
    customer.set_webhook()
    customer.office.sandbox.network.names[RECEIVER_HOST] = ["93.184.216.34", address]

    execution = customer.runs_to_the_end()

    assert execution.status == "SUCCEEDED"
    assert customer.server.received == []
    refused = {"status": "gave_up", "http_status": None, "reason": "address_not_public"}
    assert customer.told() == [customer.delivered(**refused)]


def test_a_host_that_the_sandbox_does_not_have_is_never_looked_for_outside(customer: Customer) -> None:
    customer.set_webhook("https://www.example.com/hook")

    execution = customer.runs_to_the_end()

    assert execution.status == "SUCCEEDED"
    gave_up = {"status": "gave_up", "attempts": 11, "http_status": None, "reason": "no_such_host"}
    assert customer.told() == [customer.delivered(**gave_up)]


def test_a_failed_campaign_is_told_too_and_stays_failed(customer: Customer) -> None:
    customer.set_webhook()
    customer.server.behave(500)

    execution = customer.start(b"nothing,in,this\nfile,is,a phone\n")
    customer.office.sandbox.run_until(execution.done)

    [_, request] = customer.server.received
    assert execution.status == "FAILED"
    assert execution.error == "LeadFileInvalid"
    assert json.loads(request.body)["data"]["status"] == "failed"
    assert customer.told() == [customer.delivered(attempts=2)]


def lose(office: Office, function: str, times: int) -> None:
    """Let a function's next answers be lost on their way, after it did its work."""
    invoke, left = office.sandbox.functions.invoke, [times]

    def invoke_and_lose(name: str, payload: str) -> str:
        answer = invoke(name, payload)
        if function in name and left[0] > 0:
            left[0] -= 1
            raise TaskFailed("Lambda.Unknown", "the answer was lost")
        return answer

    office.sandbox.functions.invoke = invoke_and_lose  # type: ignore[method-assign]


def test_what_was_delivered_is_not_delivered_again_where_our_own_answer_is_lost(customer: Customer) -> None:
    customer.set_webhook()
    lose(customer.office, "NotifyFunction", 2)

    execution = customer.runs_to_the_end()

    assert execution.status == "SUCCEEDED"
    assert len(customer.server.received) == 1
    assert customer.told() == [customer.delivered()]


def test_a_fault_of_ours_does_not_change_the_end_either(customer: Customer) -> None:
    customer.set_webhook()
    functions = customer.office.sandbox.functions
    functions.invoke = _without_notify(functions.invoke)  # type: ignore[method-assign]

    execution = customer.runs_to_the_end()

    assert execution.status == "SUCCEEDED"
    assert customer.shown()["status"] == "finished"


def _without_notify(invoke: Callable[[str, str], str]) -> Callable[[str, str], str]:
    def failing(name: str, payload: str) -> str:
        if "NotifyFunction" in name:
            raise TaskFailed("ServiceFault", "out of order")
        return invoke(name, payload)

    return failing


def test_a_webhook_that_is_removed_meanwhile_is_left_alone(customer: Customer) -> None:
    customer.set_webhook()
    customer.server.behave(500)
    execution = customer.starts_and_is_told_once()
    customer.set_webhook(None)

    customer.office.sandbox.run_until(execution.done)

    assert execution.status == "SUCCEEDED"
    assert len(customer.server.received) == 1


def test_a_later_version_of_the_report_is_told_by_an_id_of_its_own(customer: Customer) -> None:
    office, second = customer.office, f"evt_{id_of(customer.campaign_id)}_v2"
    office.sandbox.carrier.behave(SILENT)
    customer.set_webhook()
    customer.runs_to_the_end()

    office.receive(1, "delivered", campaign_id=customer.campaign_id)
    office.wait_until(lambda: len(customer.server.received) == 2, most_hours=1)

    first_told, then_told = (json.loads(request.body)["data"] for request in customer.server.received)
    assert customer.server.ids() == [customer.webhook_id, second]
    assert (first_told["version"], then_told["version"]) == (1, 2)
    assert then_told["difference"]["outcomes"] == {"delivered": 1, "unconfirmed": -1}
    office.passes(minutes=1)
    assert customer.told() == [customer.delivered(), customer.delivered(version=2, webhook_id=second)]


# -- the customer's settings ----------------------------------------------------------------------------------------


def test_the_secret_is_shown_once_and_never_kept(customer: Customer) -> None:
    secret = customer.set_webhook()

    again = customer.office.call("PATCH", "/v1/account", {"webhook_url": f"{URL}&b"})
    account = customer.office.call("GET", "/v1/account")
    rows = json.dumps(list(customer.office.table.query("ACCOUNT#acme")), default=str)

    assert secret.startswith("whsec_")
    assert again["webhook_secret"] is None
    assert account["webhook_url"] == f"{URL}&b"
    assert secret not in json.dumps(account)
    assert secret.removeprefix("whsec_") not in rows
    assert not any(secret in line for line in customer.office.sandbox.logs.lines)


def test_after_a_rotation_both_secrets_are_good_for_a_day(customer: Customer) -> None:
    old = customer.set_webhook()
    new = customer.office.post("/v1/account/webhook/rotate")["webhook_secret"]

    first = customer.tries_it_out()
    customer.office.sandbox.scheduler.call_after(24 * 3600, lambda: None)  # an empty calendar does not move the clock
    customer.office.passes(hours=24)
    second = customer.tries_it_out()

    assert (is_signed(first, old), is_signed(first, new)) == (True, True)
    assert (is_signed(second, old), is_signed(second, new)) == (False, True)


def test_a_webhook_that_is_set_anew_has_a_secret_of_its_own(customer: Customer) -> None:
    old = customer.set_webhook()
    customer.office.call("PATCH", "/v1/account", {"webhook_url": None})

    new = customer.set_webhook()

    assert new != old
    assert not is_signed(customer.tries_it_out(), old)


def test_every_change_is_audited(customer: Customer) -> None:
    customer.set_webhook()
    customer.office.post("/v1/account/webhook/rotate")

    changes = customer.office.call("GET", "/v1/admin/accounts/acme/changes", key=OPERATOR)["changes"]

    generation = changes[1]["changes"]["webhook_generation"]["after"]
    assert changes[0]["changes"]["webhook_generation"] == {"before": generation, "after": generation + 1}
    assert changes[1]["changes"]["webhook_url"] == {"before": None, "after": URL}
    assert {change["by"] for change in changes[:2]} == {"customer"}


@pytest.mark.parametrize(
    ("behaviour", "answer"),
    [
        (204, {"delivered": True, "http_status": 204, "reason": ""}),
        (500, {"delivered": False, "http_status": 500, "reason": "answered_500"}),
        ("hangs", {"delivered": False, "http_status": None, "reason": "timed_out"}),
    ],
)
def test_a_test_says_what_came_back(customer: Customer, behaviour: Any, answer: dict[str, Any]) -> None:
    customer.set_webhook()
    customer.server.behave(behaviour)

    result = customer.office.post("/v1/account/webhook/test")

    [request] = customer.server.received
    assert {name: result[name] for name in answer} == answer
    assert request.headers["webhook-id"] == result["webhook_id"]
    check("webhooks/webhook-test", json.loads(request.body))
    assert taken([request]) == ([request] if answer["delivered"] else [])


@pytest.mark.parametrize("path", ["/v1/account/webhook/test", "/v1/account/webhook/rotate"])
def test_without_a_webhook_there_is_nothing_to_test_or_rotate(customer: Customer, path: str) -> None:
    with pytest.raises(Refusal) as refused:
        customer.office.post(path)

    assert refused.value.status == 422
    assert refused.value.problem["field"] == "webhook_url"


@pytest.mark.parametrize("url", ["http://hooks.customer.example/", "https://10.0.0.1/", "https://localhost/", "", 5])
def test_an_address_that_cannot_be_a_webhooks_is_refused_with_its_field(customer: Customer, url: Any) -> None:
    with pytest.raises(Refusal) as refused:
        customer.office.call("PATCH", "/v1/account", {"webhook_url": url})

    assert refused.value.status == 422
    assert "webhook_url" in refused.value.problem["field"]
    assert customer.office.call("GET", "/v1/account")["webhook_url"] is None
