"""Telling a customer that a campaign has ended, and keeping what became of it. It never changes how it ended."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from paceline import keys
from paceline.accounts import get_account
from paceline.errors import WebhookFailed
from paceline.metrics import Metric, count
from paceline.models import JsonObject, Model
from paceline.moments import iso
from paceline.ports import ObjectStore, Webhooks
from paceline.reporting import finished_detail
from paceline.requests import NotifyRequest
from paceline.table import Row, Table, Update
from paceline.webhooks.delivery import Envelope, Reply, deliver, envelope

Outcome = Literal["delivered", "trying", "gave_up"]

KIND = "campaign.finished"
_SHOWN = ("version", "webhook_id", "status", "attempts", "last_attempt_at", "http_status", "reason")


class Notified(Model):
    """The answer of `Notify Customer`. outcome: `not_wanted`: the webhook was removed meanwhile."""

    outcome: Literal["delivered", "gave_up", "not_wanted"]


def notify(
    table: Table, store: ObjectStore, webhooks: Webhooks, master: bytes, request: NotifyRequest, now: datetime
) -> Notified:
    """Tell the account's webhook of a report, once; or, where the workflow gave up trying, note that.

    Raises: WebhookFailed, where another try may succeed.
    """
    detail, generated_at = finished_detail(store, request.report_prefix)
    key = keys.notification(request.campaign_id, detail["version"])
    if (table.get(key) or {}).get("status") == "delivered":  # an answer of ours was lost
        return Notified(outcome="delivered")
    if request.failure is not None:
        return _give_up(table, key, request.failure)
    account = get_account(table, detail["account_id"])
    if account.webhook_url is None:
        return Notified(outcome="not_wanted")
    sent = _envelope(detail, generated_at)
    reply = deliver(webhooks, master, account, sent, now)
    outcome: Outcome = "delivered" if reply.is_taken else "gave_up" if reply.is_final else "trying"
    _keep(table, key, sent.webhook_id, detail["version"], outcome, reply, now)
    if outcome != "delivered":
        count(Metric.WEBHOOKS_FAILED, outcome=outcome)
    if outcome == "trying":
        raise WebhookFailed("the customer's server did not take the notification", reason=reply.reason)
    return Notified(outcome=outcome)


def _envelope(detail: JsonObject, generated_at: datetime) -> Envelope:
    webhook_id = f"evt_{detail['campaign_id']}_v{detail['version']}"
    return envelope("webhooks/webhook-campaign-finished", webhook_id, KIND, generated_at, detail)


def _keep(
    table: Table, key: keys.Key, webhook_id: str, version: int, outcome: Outcome, reply: Reply, now: datetime
) -> None:
    values: dict[str, Any] = {"status": outcome, "last_attempt_at": iso(now), "webhook_id": webhook_id}
    values |= {"version": version, "http_status": reply.http_status, "reason": reply.reason}
    assigned = ", ".join(f"#{name} = :{name}" for name in values)
    table.update(Update(key, f"SET {assigned} ADD #attempts :one", values | {"one": 1}))


def _give_up(table: Table, key: keys.Key, failure: JsonObject) -> Notified:
    """Note that no more tries follow. What the last one met stays; a failure of ours is named where it met nothing."""
    count(Metric.WEBHOOKS_FAILED, outcome="gave_up")
    values = {"status": "gave_up", "reason": str(failure.get("Error", "Unknown"))}
    table.update(Update(key, "SET #status = :status, #reason = if_not_exists(#reason, :reason)", values))
    return Notified(outcome="gave_up")


def notifications_of(table: Table, campaign_id: str) -> list[JsonObject]:
    """Return what became of each notification of a campaign, by its report's version."""
    partition, prefix = keys.notification(campaign_id, 0)[0], "NOTIFICATION#"
    return [_shown(row) for row in table.query(partition, prefix)]


def _shown(row: Row) -> JsonObject:
    known = {"version": int(row["sk"].partition("#")[2]), "attempts": 0}
    return {name: row.get(name, known.get(name)) for name in _SHOWN}
