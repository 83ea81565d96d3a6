"""AWS End User Messaging SMS: SendTextMessage, and the events that come back through a topic of Amazon SNS.

Source: its API reference and user guide. SendTextMessage has no client token, so a second call is a second message:
botocore's retries are off for it. Our message id travels in Context, which comes back in the events of a configuration
set's destinations. It has no look-up by recipient, nor one by message id: what became of a message only events say.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    NoCredentialsError,
    ProxyConnectionError,
)
from botocore.parsers import ResponseParserError

from paceline.adapters.end_user_messaging_codes import ERRORS, EVENTS, FIELDS, REFUSALS, TROUBLES
from paceline.errors import ProviderMisconfigured, ProviderThrottled, ProviderUnsure
from paceline.ports import Accepted, Doubt, Inbound, OutgoingMessage, ProviderRecord, Refused
from paceline.receipts import Receipt, without_numbers
from paceline.status import MessageStatus

# The key of our message id in Context: of the five that may travel with a message, the only one.
OUR_ID = "message_id"

# What TimeToLive may be, in seconds.
SHORTEST_VALIDITY_SECONDS, LONGEST_VALIDITY_SECONDS = 5, 259_200

# Seconds: it says nothing of when to come back after a ThrottlingException.
RETRY_AFTER = 5.0

# What an event says of people, and the Context: of what others put there we know nothing, and ours is the row's key.
_NUMBERS = ("originationPhoneNumber", "destinationPhoneNumber")
_PERSONAL = frozenset({*_NUMBERS, "context"})

_NOT_LEFT = (ConnectTimeoutError, EndpointConnectionError, ProxyConnectionError)


class EndUserMessaging:
    """A `paceline.ports.Provider`.

    make_client: of `pinpoint-sms-voice-v2`, with total_max_attempts 1; called when the first message goes: who reads
    events only needs none. configuration_set: where events go; without one there are none. message_type: PROMOTIONAL or
    TRANSACTIONAL, as the sender is registered.
    """

    name = "end_user_messaging"

    def __init__(self, make_client: Callable[[], Any], configuration_set: str, message_type: str) -> None:
        self._make_client = make_client
        self._configuration_set = configuration_set
        self._message_type = message_type

    @cached_property
    def _client(self) -> Any:
        return self._make_client()

    def get_ready(self) -> None:
        """There is no secret: the function's role may send."""

    def send(self, message: OutgoingMessage) -> Accepted | Refused:
        """Hand over one message. Raises: ProviderThrottled, ProviderMisconfigured, ProviderUnsure."""
        if not self._configuration_set:  # nobody would ever hear what became of its messages
            raise ProviderMisconfigured("there is no configuration set", cause="configuration_set_missing", code="")
        validity = min(max(message.validity_seconds, SHORTEST_VALIDITY_SECONDS), LONGEST_VALIDITY_SECONDS)
        try:
            answer = self._client.send_text_message(
                DestinationPhoneNumber=message.phone_number,
                OriginationIdentity=message.sender,
                MessageBody=message.text,
                MessageType=self._message_type,
                ConfigurationSetName=self._configuration_set,
                TimeToLive=validity,
                Context={OUR_ID: message.message_id},
            )
            return Accepted(str(answer["MessageId"]))
        except ClientError as error:
            return _refused(error)
        except _NOT_LEFT as error:
            raise ProviderThrottled("the provider cannot be reached", retry_after_seconds=RETRY_AFTER) from error
        except (HTTPClientError, ResponseParserError, KeyError, TypeError) as error:
            raise ProviderUnsure("the provider's answer did not come", kind=type(error).__name__) from error
        except NoCredentialsError as error:
            raise ProviderMisconfigured("there are no credentials", cause="not_authenticated", code="") from error
        except BotoCoreError as error:  # whatever else: it may have left
            raise ProviderUnsure("the provider's answer did not come", kind=type(error).__name__) from error

    def look_up(self, message: OutgoingMessage, doubt: Doubt) -> ProviderRecord | None:
        """Return None: there is no look-up by recipient. The events carry our id, and are the only evidence."""
        return None

    def status_of(self, provider_message_id: str) -> ProviderRecord | None:
        """Return None: there is no look-up by message id."""
        return None

    def our_id(self, event: Mapping[str, Any]) -> str:
        """Return our message id, which travelled in Context. Raises: KeyError, for no event of a message."""
        if not isinstance(event["eventType"], str) or not isinstance(event["messageId"], str):
            raise KeyError("eventType")
        context = event.get("context")
        return str(context.get(OUR_ID, "")) if isinstance(context, Mapping) else ""

    def read_event(self, event: Mapping[str, Any]) -> Receipt | None:
        """Return an event in our words; None for a type that nobody knows. Raises: KeyError, for no event of a message.

        A type that ends a message does so only where the event says that it is final: a carrier that cannot be reached
        now may be, later.
        """
        message_id, kind = self.our_id(event), event["eventType"]
        if kind not in EVENTS:
            return None
        status, cause = EVENTS[kind]
        if event.get("isFinal") is not True and status is not MessageStatus.DELIVERED:
            status, cause = MessageStatus.SENT, ""
        return Receipt(message_id, event["messageId"], status, cause)

    def read_inbound(self, event: Mapping[str, Any]) -> Inbound | None:
        """Return what somebody wrote to one of our numbers (two-way SMS); None where the event is not that."""
        names = ("originationNumber", "destinationNumber", "messageBody", "inboundMessageId")
        words = [event.get(name) for name in names]
        if not all(isinstance(word, str) for word in words):
            return None
        return Inbound(*map(str, words))

    def without_people(self, event: Mapping[str, Any]) -> dict[str, str]:
        """Return the event without what it says of people."""
        kept = {name: value for name, value in event.items() if name not in _PERSONAL}
        fields = {name: value if isinstance(value, str) else json.dumps(value) for name, value in kept.items()}
        return without_numbers(fields, *(str(event.get(name, "")) for name in _NUMBERS))


def _refused(error: ClientError) -> Refused:
    """Return what an error's answer means. Raises: ProviderThrottled, ProviderMisconfigured, ProviderUnsure.

    What is about this recipient or text refuses the message; what is about sender or account, or is refused whoever
    asks, holds the route. A reason that nobody knows fails its own message only, unless its error is of the route.
    """
    response: Mapping[str, Any] = error.response
    code, status = response["Error"]["Code"], response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if code in ("ThrottlingException", "Throttling", "TooManyRequestsException") or status == 429:
        raise ProviderThrottled("not accepted now", retry_after_seconds=RETRY_AFTER, code=code)
    if code == "InternalServerException" or status >= 500 or not status >= 400:
        raise ProviderUnsure("the provider failed", status=status) from error
    reason = response.get("Reason") or ""
    field = next((one["Name"] for one in response.get("Fields") or () if one.get("Name") in FIELDS), "")
    if cause := REFUSALS.get(reason) or FIELDS.get(field, ""):
        return Refused(cause, reason or code)
    if reason in TROUBLES or code in ERRORS or status in (401, 403):
        cause = TROUBLES.get(reason) or ERRORS.get(code, "not_authenticated")
        raise ProviderMisconfigured(f"not accepted from this route: {cause}", cause=cause, code=reason or code)
    return Refused(f"provider_{(reason or code).lower()}", reason or code)
