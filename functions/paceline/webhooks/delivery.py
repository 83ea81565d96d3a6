"""One request to a customer's webhook, and what its answer means."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from paceline.contracts import check
from paceline.errors import AddressRefused, RequestInvalid, WebhookFailed
from paceline.models import Account, JsonObject
from paceline.moments import iso
from paceline.ports import Webhooks
from paceline.webhooks.signing import secrets_in_use, signed_headers

GONE = 410  # the customer's word for: do not try this again


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a request carries. webhook_id: the same in every try, so that a customer can tell a double."""

    webhook_id: str
    body: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of one request. reason: why it was not taken; blank: it was. http_status: None: no answer came."""

    reason: str
    http_status: int | None = None
    is_final: bool = False

    @property
    def is_taken(self) -> bool:
        return not self.reason


def envelope(contract: str, webhook_id: str, kind: str, at: datetime, data: JsonObject) -> Envelope:
    """Return a body by the standard's advice, checked against its contract. at: when it happened, in every try."""
    body = {"id": webhook_id, "type": kind, "timestamp": iso(at), "data": data}
    check(contract, body)
    return Envelope(webhook_id, json.dumps(body, ensure_ascii=False, separators=(",", ":")))


def deliver(webhooks: Webhooks, master: bytes, account: Account, sent: Envelope, now: datetime) -> Reply:
    """Send one signed request to the account's webhook. Whatever comes back is a Reply, never an error."""
    if account.webhook_url is None:
        raise RequestInvalid("The account has no webhook; give its address first.", field="webhook_url")
    headers = signed_headers(secrets_in_use(master, account, now), sent.webhook_id, now, sent.body)
    try:
        return _reply(webhooks.post(account.webhook_url, headers, sent.body))
    except AddressRefused as refused:
        return Reply(str(refused.evidence["reason"]), is_final=True)
    except WebhookFailed as failed:
        return Reply(str(failed.evidence["reason"]))


def _reply(status: int) -> Reply:
    if 200 <= status < 300:
        return Reply("", status)
    # A redirect is an answer like any other that is not 2xx: following it could lead anywhere.
    return Reply(f"answered_{status}", status, is_final=status == GONE)


def try_out(webhooks: Webhooks, master: bytes, account: Account, request_id: str, now: datetime) -> tuple[str, Reply]:
    """Send the account's webhook a test now, once. Return its id and what became of it. Raises: RequestInvalid."""
    data = {"account_id": account.account_id}
    sent = envelope("webhooks/webhook-test", f"test_{account.account_id}_{request_id}", "webhook.test", now, data)
    return sent.webhook_id, deliver(webhooks, master, account, sent, now)
