"""AWS End User Messaging in front of the simulated carrier: SendTextMessage in, events through SNS out.

The carrier is one, with one book, whoever hands a message over; this translates, as AWS does between its API and the
carriers.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import httpx
from botocore.exceptions import ReadTimeoutError

from sandbox.carrier import Carrier
from sandbox.engine import TaskFailed
from sandbox.gateway import Answer

HOST = "sms-voice.us-east-1.amazonaws.com"

# The carrier's words as event types. AWS's own example has the first with isFinal true, and then the second.
_EVENTS = {
    ("sent", ""): "TEXT_SUCCESSFUL",
    ("delivered", ""): "TEXT_DELIVERED",
    ("undelivered", "30003"): "TEXT_UNREACHABLE",
    ("undelivered", "30004"): "TEXT_BLOCKED",
    ("undelivered", "30005"): "TEXT_INVALID",
    ("undelivered", "30006"): "TEXT_INVALID",
    ("undelivered", "30007"): "TEXT_CARRIER_BLOCKED",
}


class MessagingError(Exception):
    """An error of the service, as its client raises it. details: the fields of the error beside its message."""

    def __init__(self, code: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.code, self.message, self.details = code, message, details


class EndUserMessaging:
    """The service. topics: each configuration set's topic; subscribers: each topic's functions; invoke: calls one."""

    OPERATIONS = frozenset({"SendTextMessage"})

    def __init__(
        self,
        carrier: Carrier,
        topics: Mapping[str, str],
        subscribers: Mapping[str, list[str]],
        invoke: Callable[[str, str], str],
    ) -> None:
        self._carrier, self._topics, self._subscribers, self._invoke = carrier, topics, subscribers, invoke
        self._sent: dict[str, dict[str, Any]] = {}

    def call(self, operation: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Answer one call. Raises: MessagingError; ReadTimeoutError, where the carrier accepts and never answers."""
        name = parameters["ConfigurationSetName"]
        if name not in self._topics:
            raise MessagingError("ResourceNotFoundException", "not found", ResourceType="configuration-set")
        context = {"set": name, "context": json.dumps(parameters.get("Context", {})), **_our_id(parameters)}
        form = {
            "To": parameters["DestinationPhoneNumber"],
            "From": parameters["OriginationIdentity"],
            "Body": parameters["MessageBody"],
            "StatusCallback": f"https://{HOST}/?{urlencode(context)}",
        }
        url = f"https://{HOST}/2010-04-01/Accounts/{self._carrier.account_sid}/Messages.json"
        try:
            answer = self._carrier.handle("POST", url, {}, urlencode(form).encode())
        except httpx.ReadTimeout as error:
            raise ReadTimeoutError(endpoint_url=f"https://{HOST}/", error=error) from None
        return {"MessageId": _read(answer)["sid"]}

    def handle(self, method: str, url: str, headers: dict[str, str], body: bytes) -> Answer:
        """Take what the carrier says of a message, and publish it. 500 where a subscriber failed: it comes again."""
        query = parse_qs(urlsplit(url).query)
        fields = dict(parse_qsl(body.decode()))
        word = (fields["MessageStatus"], fields.get("ErrorCode", ""))
        event = {
            "eventType": _EVENTS.get(word, "TEXT_UNKNOWN"),
            "eventVersion": "1.0",
            "eventTimestamp": self._carrier.scheduler.microseconds // 1000,
            "isFinal": True,
            "originationPhoneNumber": fields["From"],
            "destinationPhoneNumber": fields["To"],
            "isoCountryCode": "US",
            "messageId": fields["MessageSid"],
            "messageStatus": _EVENTS.get(word, "TEXT_UNKNOWN").removeprefix("TEXT_"),
            "context": json.loads(query["context"][0]),
            "totalMessageParts": self._carrier.by_sid[fields["MessageSid"]].parts,
            "totalMessagePrice": 0.00581,
        }
        return Answer(204 if self.publish(self._topics[query["set"][0]], event) else 500, {}, b"")

    def publish(self, topic: str, event: Mapping[str, Any]) -> bool:
        """Publish to a topic of SNS: every function that is subscribed is invoked. Return whether all took it."""
        taken = True
        for function in self._subscribers.get(topic, []):
            try:
                self._invoke(function, json.dumps(notification(topic, event)))
            except TaskFailed:
                taken = False
        return taken


def notification(topic: str, event: Mapping[str, Any]) -> dict[str, Any]:
    """Return what SNS hands to a function for one published event."""
    text = json.dumps(event)
    sns: dict[str, Any] = {
        "Type": "Notification",
        "MessageId": str(uuid.uuid5(uuid.NAMESPACE_URL, text)),
        "TopicArn": topic,
        "Subject": None,
        "Message": text,
        "MessageAttributes": {},
    }
    record = {"EventSource": "aws:sns", "EventVersion": "1.0", "EventSubscriptionArn": f"{topic}:1", "Sns": sns}
    return {"Records": [record]}


def _our_id(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Put our id where the carrier's book finds it, whoever handed the message over."""
    return {"message_id": parameters.get("Context", {}).get("message_id", "")}


def _read(answer: Answer) -> dict[str, Any]:
    """Return the carrier's acceptance. Raises: MessagingError, for its refusal in this service's words."""
    body: dict[str, Any] = json.loads(answer.body)
    if answer.status < 300:
        return body
    if answer.status == 429:
        raise MessagingError("ThrottlingException", "Rate exceeded")
    if answer.status >= 500:
        raise MessagingError("InternalServerException", "The API encountered an unexpected error")
    match str(body["code"]):
        case "21610":
            raise MessagingError("ConflictException", "opted out", Reason="DESTINATION_PHONE_NUMBER_OPTED_OUT")
        case "21606":
            raise MessagingError("ConflictException", "no identity", Reason="NO_ORIGINATION_IDENTITIES_FOUND")
    fields = [{"Name": "DestinationPhoneNumber", "Message": "is not valid"}]
    raise MessagingError("ValidationException", "is not valid", Reason="FIELD_VALIDATION_FAILED", Fields=fields)
