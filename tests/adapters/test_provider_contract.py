"""One behaviour for every provider: what it is given, and what each answer or silence means to us.

The adapters are the real ones down to their HTTP client; what answers is a function of the test in place of the
network, or the sandbox's carrier behind the provider's own interface.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from io import BytesIO
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import boto3
import botocore.exceptions
import httpx
import pytest
from botocore.awsrequest import AWSResponse

from paceline.adapters.end_user_messaging import EndUserMessaging
from paceline.adapters.twilio import Twilio
from paceline.bootstrap import _SENDER
from paceline.errors import ProviderMisconfigured, ProviderThrottled, ProviderUnsure
from paceline.ports import Accepted, Doubt, OutgoingMessage, Provider, Refused
from sandbox.carrier import DELIVERED, Profile
from sandbox.deployment import STACK
from sandbox.world import Sandbox

TOKEN = "secret-of-the-test"  # noqa: S105 (a fictional one)
MESSAGE = OutgoingMessage("renewals.00001.7", "+12025550100", "+12025550107", "Your renewal is due, José.", 86_400)


@dataclass
class Sent:
    """What a provider was given, in our words."""

    message_id: str
    sender: str
    phone_number: str
    text: str
    validity_seconds: int


@dataclass
class TwilioWire:
    """Twilio at the end of an httpx transport. answer: what the next calls are answered with."""

    answer: str = "accepted"
    calls: list[Sent] = field(default_factory=list)

    ANSWERS = {  # noqa: RUF012 (a table)
        "accepted": (201, b'{"sid": "SM1", "status": "queued"}'),
        "refused": (400, b'{"code": 21211, "message": "no"}'),
        "opted out": (400, b'{"code": 21610, "message": "no"}'),
        "refused for what nobody knows": (400, b'{"code": 29999, "message": "no"}'),
        "throttled": (429, b'{"code": 20429, "message": "slowly"}'),
        "failing": (503, b"<html>"),
        "garbage": (201, b'{"sid'),
        "not authenticated": (401, b'{"code": 20003, "message": "who?"}'),
        "no such sender": (400, b'{"code": 21606, "message": "not yours"}'),
    }
    ERRORS = {  # noqa: RUF012 (a table)
        "unreachable": httpx.ConnectError("refused"),
        "not connected in time": httpx.ConnectTimeout("late"),
        "not answered in time": httpx.ReadTimeout("late"),
        "cut": httpx.RemoteProtocolError("Server disconnected without sending a response."),
    }

    def adapter(self) -> Provider:
        secret = json.dumps({"account_sid": "AC1", "auth_token": TOKEN})
        return Twilio(lambda: secret, "https://api.example.com/v1/callbacks/twilio")

    def handle(self, _: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        form = dict(parse_qsl(request.read().decode()))
        [message_id] = parse_qs(urlsplit(form["StatusCallback"]).query)["message_id"]
        self.calls.append(Sent(message_id, form["From"], form["To"], form["Body"], int(form["ValidityPeriod"])))
        if self.answer in self.ERRORS:
            raise self.ERRORS[self.answer]
        status, body = self.ANSWERS[self.answer]
        return httpx.Response(status, content=body, request=request)


@dataclass
class AwsWire:
    """AWS End User Messaging at the end of a botocore client."""

    answer: str = "accepted"
    calls: list[Sent] = field(default_factory=list)

    ANSWERS = {  # noqa: RUF012 (a table)
        "accepted": (200, {"MessageId": "m-1"}),
        "refused": (400, {"__type": "ValidationException", "Reason": "FIELD_VALIDATION_FAILED", "Message": "no"}),
        "opted out": (400, {"__type": "ConflictException", "Reason": "DESTINATION_PHONE_NUMBER_OPTED_OUT"}),
        "refused for what nobody knows": (400, {"__type": "ValidationException", "Reason": "OTHER"}),
        "throttled": (400, {"__type": "ThrottlingException", "Message": "slowly"}),
        "failing": (500, {"__type": "InternalServerException", "Message": "oh"}),
        "garbage": (200, b'{"Mess'),
        "not authenticated": (400, {"__type": "UnrecognizedClientException", "message": "who?"}),
        "no such sender": (400, {"__type": "ResourceNotFoundException", "ResourceType": "phone-number"}),
    }
    ERRORS = {  # noqa: RUF012 (a table)
        "unreachable": botocore.exceptions.EndpointConnectionError(endpoint_url="https://sms"),
        "not connected in time": botocore.exceptions.ConnectTimeoutError(endpoint_url="https://sms"),
        "not answered in time": botocore.exceptions.ReadTimeoutError(endpoint_url="https://sms"),
        "cut": botocore.exceptions.ConnectionClosedError(endpoint_url="https://sms"),
    }

    def adapter(self) -> Provider:
        client, answering = _client()
        answering[:] = [self]
        return EndUserMessaging(lambda: client, "messages", "PROMOTIONAL")

    def handle(self, request: Any) -> AWSResponse:
        body = json.loads(request.body)
        assert body["ConfigurationSetName"] == "messages"
        assert body["MessageType"] == "PROMOTIONAL"
        ours = body["Context"]["message_id"], body["OriginationIdentity"], body["DestinationPhoneNumber"]
        self.calls.append(Sent(*ours, body["MessageBody"], body["TimeToLive"]))
        if self.answer in self.ERRORS:
            raise self.ERRORS[self.answer]
        status, said = self.ANSWERS[self.answer]
        if self.answer == "refused":
            said = {**said, "Fields": [{"Name": "DestinationPhoneNumber", "Message": "no"}]}  # type: ignore[dict-item]
        content = said if isinstance(said, bytes) else json.dumps(said).encode()
        return AWSResponse(request.url, status, {"content-type": "application/x-amz-json-1.0"}, _Raw(content))


@cache
def _client() -> tuple[Any, list[AwsWire]]:
    """One client for all tests, which the newest wire answers: a client takes a tenth of a second to make."""
    answering: list[AwsWire] = []

    def answer(request: Any, **_: Any) -> AWSResponse:
        return answering[-1].handle(request)

    session = boto3.Session("AKIATEST", TOKEN, region_name="us-east-1")
    client = session.client("pinpoint-sms-voice-v2", config=_SENDER)
    client.meta.events.register("before-send.pinpoint-sms-voice-v2", answer)
    return client, answering


class _Raw(BytesIO):
    """The part of urllib3's response that botocore reads."""

    def stream(self, *_: Any, **__: Any) -> Iterator[bytes]:
        yield self.read()


Wire = TwilioWire | AwsWire


@pytest.fixture(params=[TwilioWire, AwsWire], ids=["twilio", "end_user_messaging"])
def wire(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Wire:
    made: Wire = request.param()
    if isinstance(made, TwilioWire):
        monkeypatch.setattr(httpx.HTTPTransport, "handle_request", lambda self, sent: made.handle(self, sent))
    return made


def test_an_accepted_message_has_the_providers_id_and_carried_ours(wire: Wire) -> None:
    answer = wire.adapter().send(MESSAGE)

    assert answer in (Accepted("SM1"), Accepted("m-1"))
    assert [replace(sent, validity_seconds=0) for sent in wire.calls] == [
        Sent(MESSAGE.message_id, MESSAGE.sender, MESSAGE.phone_number, MESSAGE.text, 0)
    ]


@pytest.mark.parametrize("asked", [1, 60, 36_000, 86_400, 10_000_000])
def test_a_validity_is_never_longer_than_the_provider_takes(wire: Wire, asked: int) -> None:
    """Twilio refuses more than 36,000 s (error 90007), AWS less than 5 s and more than 259,200 s."""
    wire.adapter().send(replace(MESSAGE, validity_seconds=asked))

    least, most = (1, 36_000) if isinstance(wire, TwilioWire) else (5, 259_200)
    assert wire.calls[0].validity_seconds == min(max(asked, least), most)


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        ("refused", "invalid_number"),
        ("opted out", "opted_out"),
    ],
)
def test_a_refusal_of_this_recipient_is_one_for_good_with_our_word_for_it(wire: Wire, answer: str, cause: str) -> None:
    wire.answer = answer

    refused = wire.adapter().send(MESSAGE)

    assert isinstance(refused, Refused)
    assert refused.cause == cause


def test_a_refusal_for_what_nobody_knows_is_its_own_value(wire: Wire) -> None:
    wire.answer = "refused for what nobody knows"

    refused = wire.adapter().send(MESSAGE)

    assert isinstance(refused, Refused)
    assert refused.cause in ("provider_29999", "provider_other")


@pytest.mark.parametrize("answer", ["throttled", "unreachable", "not connected in time"])
def test_what_was_certainly_not_accepted_may_go_later(wire: Wire, answer: str) -> None:
    wire.answer = answer

    with pytest.raises(ProviderThrottled) as refused:
        wire.adapter().send(MESSAGE)

    assert refused.value.evidence["retry_after_seconds"] > 0


@pytest.mark.parametrize("answer", ["not answered in time", "cut", "failing", "garbage"])
def test_what_may_have_been_accepted_is_never_sent_again_by_itself(wire: Wire, answer: str) -> None:
    wire.answer = answer

    with pytest.raises(ProviderUnsure):
        wire.adapter().send(MESSAGE)

    assert len(wire.calls) == 1


@pytest.mark.parametrize("answer", ["not authenticated", "no such sender"])
def test_a_refusal_that_every_message_of_the_route_would_get_is_the_routes(wire: Wire, answer: str) -> None:
    wire.answer = answer

    with pytest.raises(ProviderMisconfigured) as refused:
        wire.adapter().send(MESSAGE)

    assert refused.value.evidence["cause"]


@pytest.mark.parametrize("answer", [*TwilioWire.ANSWERS, *TwilioWire.ERRORS])
def test_whatever_it_answers_a_provider_is_called_once_a_send(wire: Wire, answer: str) -> None:
    wire.answer = answer

    with suppress(ProviderThrottled, ProviderMisconfigured, ProviderUnsure):
        wire.adapter().send(MESSAGE)

    assert len(wire.calls) == 1


@pytest.mark.parametrize("answer", [*TwilioWire.ANSWERS, *TwilioWire.ERRORS])
def test_no_secret_number_or_text_is_in_an_error_a_repr_or_a_log(
    wire: Wire, answer: str, caplog: pytest.LogCaptureFixture
) -> None:
    wire.answer = answer
    adapter = wire.adapter()
    said = [repr(adapter), str(vars(adapter).keys())]

    with caplog.at_level(logging.INFO):
        try:
            said.append(repr(adapter.send(MESSAGE)))
        except (ProviderThrottled, ProviderMisconfigured, ProviderUnsure) as error:
            said += [str(error), json.dumps(error.evidence)]

    written = " ".join([*said, caplog.text])
    assert TOKEN not in written
    assert MESSAGE.phone_number.removeprefix("+") not in written
    assert MESSAGE.text not in written


# -- the sandbox's carrier, behind each provider's own interface -------------------------------------------------------


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(profile=Profile(refused=(), doubled=0.0)) as made:
        yield made


@pytest.fixture(params=["twilio", "end_user_messaging"])
def simulated(request: pytest.FixtureRequest, sandbox: Sandbox) -> Provider:
    if request.param == "twilio":
        secret = json.dumps({"account_sid": "AC" + "0" * 32, "auth_token": "sandbox-1"})
        return Twilio(lambda: secret, f"{sandbox.outputs['ApiUrl']}/v1/callbacks/twilio")
    client = boto3.client("pinpoint-sms-voice-v2", config=_SENDER)
    return EndUserMessaging(lambda: client, f"{STACK}-messages", "PROMOTIONAL")


@pytest.mark.parametrize(
    ("profile", "answer"),
    [
        pytest.param(Profile(refused=(), shares=((DELIVERED, 1.0),)), Accepted, id="accepted"),
        pytest.param(Profile(refused=(("21614", 1.0),)), Refused, id="refused"),
        pytest.param(Profile(refused=(("21610", 1.0),)), Refused, id="opted out"),
        pytest.param(Profile(throttled=1.0), ProviderThrottled, id="throttled"),
        pytest.param(Profile(failing=1.0), ProviderUnsure, id="failing"),
        pytest.param(Profile(refused=(), silent=1.0), ProviderUnsure, id="accepted, and never answered"),
        pytest.param(Profile(refused=(("21606", 1.0),)), ProviderMisconfigured, id="not its sender"),
    ],
)
def test_the_simulated_carrier_answers_each_provider_alike(
    sandbox: Sandbox, simulated: Provider, profile: Profile, answer: type
) -> None:
    sandbox.carrier.behave(profile)
    before = len(sandbox.carrier.book)

    try:
        said: object = sandbox.do(simulated.send, MESSAGE)
    except (ProviderThrottled, ProviderMisconfigured, ProviderUnsure) as error:
        said = error

    assert isinstance(said, answer)
    accepted = sandbox.carrier.book[before:]
    assert len(accepted) == (profile.silent == 1.0 or answer is Accepted)
    assert all(entry.message_id == MESSAGE.message_id for entry in accepted)


def test_only_twilio_can_be_asked(sandbox: Sandbox, simulated: Provider) -> None:
    sandbox.carrier.behave(Profile(refused=(), silent=1.0))
    message = replace(MESSAGE, text=f"Only once, by {type(simulated).__name__}")
    since = sandbox.scheduler.now()
    with pytest.raises(ProviderUnsure):
        sandbox.do(simulated.send, message)

    found = sandbox.do(simulated.look_up, message, Doubt(since, sandbox.scheduler.now()))

    assert (found is not None) is isinstance(simulated, Twilio)
    if found is not None:
        assert sandbox.do(simulated.status_of, found.provider_message_id) is not None
    assert sandbox.do(simulated.status_of, "nobody's") is None
