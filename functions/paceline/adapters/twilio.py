"""Twilio's REST API, and the signature of its callbacks.

Source: Twilio's API reference, Messages resource; "Validating Signatures from Twilio". It takes no idempotency key,
so our message id travels in the callback's address, and nothing here ever repeats a send.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import html
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import Any
from urllib.parse import quote

import httpx

from paceline.errors import ProviderThrottled, ProviderUnsure
from paceline.ports import Accepted, OutgoingMessage, ProviderRecord, Refused
from paceline.receipts import Receipt
from paceline.status import MessageStatus

API = "https://api.twilio.com"
TIMEOUT = httpx.Timeout(8.0, connect=3.0)

# Twilio's statuses in our words. `sent` may be the last that a carrier ever says, so it is not final.
STATUSES = {
    "accepted": MessageStatus.SENT,
    "scheduled": MessageStatus.SENT,
    "queued": MessageStatus.SENT,
    "sending": MessageStatus.SENT,
    "sent": MessageStatus.SENT,
    "delivered": MessageStatus.DELIVERED,
    "read": MessageStatus.DELIVERED,  # channels with read receipts: read implies delivered
    "undelivered": MessageStatus.UNDELIVERED,
    "failed": MessageStatus.FAILED,
    "canceled": MessageStatus.FAILED,
}

# Twilio's error codes in our words; one that is not here is `provider_<code>`, never guessed at.
CAUSES = {
    "21610": "opted_out",  # the recipient said STOP to the sender's number
    "21211": "invalid_number",
    "21614": "not_a_mobile",
    "30003": "unreachable",
    "30004": "blocked",
    "30005": "unknown_destination",
    "30006": "landline",
    "30007": "carrier_filtered",  # the carrier's spam filter: the story's 6,028
    "30008": "unknown_error",
    "30034": "sender_unregistered",
}


def cause_of(code: object) -> str:
    """Return our word for a Twilio error code ("" for none)."""
    text = str(code or "")
    return CAUSES.get(text, f"provider_{text}" if text else "")


def signature(auth_token: str, url: str, fields: Mapping[str, str]) -> str:
    """Return what Twilio puts into X-Twilio-Signature: HMAC-SHA1 over the URL and the sorted form fields."""
    signed = url + "".join(name + fields[name] for name in sorted(fields))
    return base64.b64encode(hmac.new(auth_token.encode(), signed.encode(), hashlib.sha1).digest()).decode()


def retry_after_seconds(header: str | None, now: datetime) -> float:
    """Return a Retry-After header's seconds (it may be a date); 5 where it says nothing that can be used."""
    if header is None:
        return 5.0
    try:
        return max(float(header), 0.0)
    except ValueError:
        pass
    try:
        date = parsedate_to_datetime(header)
    except ValueError:
        return 5.0
    date = date if date.tzinfo else date.replace(tzinfo=UTC)  # "-0000" says no zone: HTTP dates are UTC
    return max((date - now).total_seconds(), 0.0)


class Twilio:
    """A `paceline.ports.Provider`.

    read_secret: returns the JSON secret {"account_sid", "auth_token"}, once, when the first message needs it.
    callback_url: where receipts go; our message id is added as a query.
    """

    name = "twilio"

    def __init__(self, read_secret: Callable[[], str], callback_url: str) -> None:
        self._read_secret = read_secret
        self._callback_url = callback_url

    @cached_property
    def _secret(self) -> dict[str, str]:
        return dict(json.loads(self._read_secret()))

    @cached_property
    def _client(self) -> httpx.Client:
        secret = self._secret
        auth = httpx.BasicAuth(secret["account_sid"], secret["auth_token"])
        return httpx.Client(base_url=API, auth=auth, timeout=TIMEOUT)

    @property
    def _messages(self) -> str:
        return f"/2010-04-01/Accounts/{self._secret['account_sid']}/Messages"

    def callback_url(self, message_id: str) -> str:
        """Return the address to which the receipts of one message go."""
        return f"{self._callback_url}?message_id={quote(message_id)}"

    def send(self, message: OutgoingMessage) -> Accepted | Refused:
        """Hand over one message. Raises: ProviderThrottled, ProviderUnsure."""
        form = {
            "To": message.phone_number,
            "From": message.sender,
            "Body": message.text,
            "StatusCallback": self.callback_url(message.message_id),
            "ValidityPeriod": str(message.validity_seconds),
        }
        try:
            response = self._client.post(f"{self._messages}.json", data=form)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:  # nothing had left
            raise ProviderThrottled("the provider cannot be reached", retry_after_seconds=5.0) from error
        except httpx.HTTPError as error:
            raise ProviderUnsure("the provider's answer did not come", kind=type(error).__name__) from error
        return self._read_answer(response)

    def _read_answer(self, response: httpx.Response) -> Accepted | Refused:
        if response.status_code == 429:
            now = _date_of(response)
            seconds = retry_after_seconds(response.headers.get("retry-after"), now)
            raise ProviderThrottled("the provider answered 429", retry_after_seconds=seconds)
        if response.status_code >= 500:
            raise ProviderUnsure("the provider failed", status=response.status_code)
        try:
            body: dict[str, Any] = response.json()
            if response.is_success:
                return Accepted(str(body["sid"]))
        except (ValueError, KeyError) as error:
            raise ProviderUnsure("the provider's answer cannot be read", status=response.status_code) from error
        return Refused(cause_of(body.get("code")) or f"http_{response.status_code}", str(body.get("code", "")))

    def look_up(self, message: OutgoingMessage, sent_after: datetime) -> ProviderRecord | None:
        """Find a message by recipient, text and time in the provider's own list; None where there is no such one."""
        query = {"To": message.phone_number, "From": message.sender, "DateSent>": sent_after.date().isoformat()}
        response = self._client.get(f"{self._messages}.json", params=query).raise_for_status()
        for found in response.json()["messages"]:
            created = parsedate_to_datetime(found["date_created"])
            if found["body"] == message.text and created >= sent_after.replace(microsecond=0):
                return _to_record(found)
        return None

    def status_of(self, provider_message_id: str) -> ProviderRecord | None:
        """Return what Twilio knows of one of its messages."""
        response = self._client.get(f"{self._messages}/{provider_message_id}.json")
        if response.status_code == 404:
            return None
        return _to_record(response.raise_for_status().json())

    def read_receipt(self, message_id: str, fields: Mapping[str, str]) -> Receipt | None:
        """Return a status callback in our words; None for a status that we do not know. Raises: KeyError."""
        provider_message_id, status = fields["MessageSid"], fields["MessageStatus"]
        if status not in STATUSES:
            return None
        return Receipt(message_id, provider_message_id, STATUSES[status], cause_of(fields.get("ErrorCode")))

    def reply(self, text: str) -> tuple[str, str]:
        """Return a webhook's answer that sends a text back: its content type, and TwiML."""
        return "text/xml; charset=utf-8", f"<Response><Message>{html.escape(text, quote=False)}</Message></Response>"

    def is_signed(self, url: str, fields: Mapping[str, str], given: str) -> bool:
        """Tell whether a callback comes from Twilio."""
        return hmac.compare_digest(signature(self._secret["auth_token"], url, fields), given)


def _date_of(response: httpx.Response) -> datetime:
    """The answer's own Date: a Retry-After given as a date counts from it, whatever our clock says."""
    try:
        return parsedate_to_datetime(response.headers["date"])
    except (KeyError, ValueError):
        return datetime.fromtimestamp(0, UTC)


def _to_record(body: Mapping[str, Any]) -> ProviderRecord:
    status = STATUSES.get(body["status"], MessageStatus.SENT)
    return ProviderRecord(body["sid"], status, cause_of(body.get("error_code")))
