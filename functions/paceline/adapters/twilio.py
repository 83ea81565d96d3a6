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
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode

import httpx

from paceline.adapters.twilio_codes import Refusal, cause_of, refusal_of
from paceline.errors import ProviderMisconfigured, ProviderThrottled, ProviderUnsure
from paceline.observability import logger
from paceline.ports import Accepted, Doubt, OutgoingMessage, ProviderRecord, Refused
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

# What Twilio takes: "an integer between 1 and 36,000" seconds in its queue (error 90007). A send that asks for more is
# refused, so the longest of it is asked for.
LONGEST_VALIDITY_SECONDS = 36_000

# One person gets few messages in the minutes that a look-up is about; more pages than this are somebody else's.
PAGE_SIZE = 100
MOST_PAGES = 10

# What may come of asking, beside an answer.
_NO_ANSWER = (httpx.HTTPError, ValueError, KeyError, TypeError, ProviderThrottled, ProviderMisconfigured)


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
        """Raises: ProviderMisconfigured, ProviderThrottled (no secret to be had now)."""
        try:
            secret = json.loads(self._read_secret())
            return {name: str(secret[name]) for name in ("account_sid", "auth_token")}
        except (ValueError, KeyError, TypeError):
            raise ProviderMisconfigured(
                "the secret is no JSON object with account_sid and auth_token", cause="secret_unusable", code=""
            ) from None

    @cached_property
    def _client(self) -> httpx.Client:
        secret = self._secret
        auth = httpx.BasicAuth(secret["account_sid"], secret["auth_token"])
        return httpx.Client(base_url=API, auth=auth, timeout=TIMEOUT)

    def _forget_secret(self) -> None:
        """Read the secret again before the next call: an operator may have put a new one in its place."""
        for name in ("_secret", "_client"):
            self.__dict__.pop(name, None)

    @property
    def _messages(self) -> str:
        return f"/2010-04-01/Accounts/{self._secret['account_sid']}/Messages"

    def callback_url(self, message_id: str) -> str:
        """Return the address to which the receipts of one message go."""
        return f"{self._callback_url}?message_id={quote(message_id)}"

    def get_ready(self) -> None:
        """Read the secret, once. Raises: ProviderMisconfigured, ProviderThrottled."""
        _ = self._client

    def send(self, message: OutgoingMessage) -> Accepted | Refused:
        """Hand over one message. Raises: ProviderThrottled, ProviderMisconfigured, ProviderUnsure."""
        form = {
            "To": message.phone_number,
            "From": message.sender,
            "Body": message.text,
            "StatusCallback": self.callback_url(message.message_id),
            "ValidityPeriod": str(min(message.validity_seconds, LONGEST_VALIDITY_SECONDS)),
        }
        try:
            response = self._client.post(f"{self._messages}.json", data=form)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:  # nothing had left
            raise ProviderThrottled("the provider cannot be reached", retry_after_seconds=5.0) from error
        except httpx.HTTPError as error:
            raise ProviderUnsure("the provider's answer did not come", kind=type(error).__name__) from error
        return self._read_answer(response)

    def _read_answer(self, response: httpx.Response) -> Accepted | Refused:
        if response.status_code >= 500:
            raise ProviderUnsure("the provider failed", status=response.status_code)
        try:
            body: dict[str, Any] = dict(response.json())
            if response.is_success:
                return Accepted(str(body["sid"]))
        except (ValueError, KeyError, TypeError) as error:
            if response.is_success:
                raise ProviderUnsure("the provider's answer cannot be read", status=response.status_code) from error
            body = {}  # a refusal is one whatever it says
        return self._refused(response, str(body.get("code") or ""))

    def _refused(self, response: httpx.Response, code: str) -> Refused:
        """Raises: ProviderThrottled, ProviderMisconfigured."""
        status = response.status_code
        cause = cause_of(code) or f"http_{status}"
        match refusal_of(status, code):
            case Refusal.FOR_NOW:
                seconds = retry_after_seconds(response.headers.get("retry-after"), _date_of(response))
                raise ProviderThrottled(f"not accepted now: {cause}", retry_after_seconds=seconds, code=code)
            case Refusal.OF_THE_ROUTE:
                self._forget_secret()
                raise ProviderMisconfigured(f"not accepted from this route: {cause}", cause=cause, code=code)
        return Refused(cause, code)

    def look_up(self, message: OutgoingMessage, doubt: Doubt) -> ProviderRecord | None:
        """Find the one message of this recipient, sender, text and time; None where there is not exactly one.

        Raises: ProviderUnsure.
        Without Twilio's filter by date: it is one of the date of sending, which a message in the queue does not have.
        """
        earliest = doubt.since.replace(microsecond=0)  # as exact as Twilio's times are
        try:
            found = {
                one["sid"]: one
                for one in self._list(message, earliest)
                if (one["body"], one["from"]) == (message.text, message.sender)
                and earliest <= _created(one) <= doubt.until
                and one["sid"] not in doubt.known
            }
            return _to_record(*found.values()) if len(found) == 1 else None
        except _NO_ANSWER as error:
            raise self._no_answer(error) from error

    def _list(self, message: OutgoingMessage, earliest: datetime) -> list[Mapping[str, Any]]:
        """Return the provider's messages of this sender to this person, the newest first; none of a list too long."""
        path = f".json?{urlencode({'To': message.phone_number, 'From': message.sender, 'PageSize': PAGE_SIZE})}"
        listed: list[Mapping[str, Any]] = []
        for _ in range(MOST_PAGES):
            page = self._ask(path)
            listed += page["messages"]
            following = page.get("next_page_uri")
            if not following or not page["messages"] or _created(listed[-1]) < earliest:
                return listed
            path = str(following).partition("/Messages")[2]
        return []  # of half a list nobody can say that a message is the only one

    def status_of(self, provider_message_id: str) -> ProviderRecord | None:
        """Return what Twilio knows of one of its messages; None where it knows none. Raises: ProviderUnsure."""
        try:
            return _to_record(self._ask(f"/{quote(provider_message_id)}.json"))
        except _NO_ANSWER as error:
            if isinstance(error, httpx.HTTPStatusError) and error.response.status_code == HTTPStatus.NOT_FOUND:
                return None
            raise self._no_answer(error) from error

    def _ask(self, path: str) -> dict[str, Any]:
        """Return an answer about messages. Raises: what `_NO_ANSWER` has."""
        return dict(self._client.get(f"{self._messages}{path}").raise_for_status().json())

    def _no_answer(self, error: Exception) -> ProviderUnsure:
        """Log that nothing is known now; return what says so."""
        kind = type(error).__name__
        logger.warning("the provider did not say", extra={"provider": self.name, "error": kind})
        return ProviderUnsure("the provider did not say", kind=kind)

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
        # As bytes: a header may hold what is no ASCII, which compare_digest refuses in a str.
        return hmac.compare_digest(signature(self._secret["auth_token"], url, fields).encode(), given.encode())


def _date_of(response: httpx.Response) -> datetime:
    """The answer's own Date: a Retry-After given as a date counts from it, whatever our clock says."""
    try:
        return parsedate_to_datetime(response.headers["date"])
    except (KeyError, ValueError):
        return datetime.fromtimestamp(0, UTC)


def _created(found: Mapping[str, Any]) -> datetime:
    return parsedate_to_datetime(found["date_created"])


def _to_record(body: Mapping[str, Any]) -> ProviderRecord:
    status = STATUSES.get(body["status"], MessageStatus.SENT)
    return ProviderRecord(body["sid"], status, cause_of(body.get("error_code")))
