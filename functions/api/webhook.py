"""The caller's webhook: set its address, change its secret, try it out. Every change is audited with the account."""

from __future__ import annotations

from typing import Annotated

from aws_lambda_powertools.event_handler.api_gateway import Router
from pydantic import AfterValidator, Field

from api.answers.webhook import WebhookAnswer, WebhookTestAnswer
from api.caller import AccountAsked, account_asked, services, signature_of
from api.document import documented
from paceline.accounts import get_account
from paceline.models import JsonObject, Model
from paceline.webhooks.delivery import try_out
from paceline.webhooks.settings import rotate_secret, set_url, shown
from paceline.webhooks.urls import MAX_LENGTH, checked_url

router = Router()  # type: ignore[no-untyped-call]


class OwnAccountPatch(Model):
    """webhook_url: https, by name, without port and password; null removes it."""

    webhook_url: Annotated[str, Field(max_length=MAX_LENGTH), AfterValidator(checked_url)] | None


@documented(router, "PATCH", "/v1/account", WebhookAnswer, 409, tag="account")
def change_own_account(post: OwnAccountPatch, account_id: AccountAsked = None) -> JsonObject:
    """Set or remove the webhook that is called when a campaign ends.

    The answer to a new one has its signing secret, which is not shown again.
    """
    event = router.current_event.raw_event
    owner = account_asked(event, account_id)
    secret = set_url(services.table, services.webhook_master, owner, post.webhook_url, signature_of(event))
    return _shown(owner, secret)


@documented(router, "POST", "/v1/account/webhook/rotate", WebhookAnswer, 409, tag="account")
def rotate_webhook_secret(account_id: AccountAsked = None) -> JsonObject:
    """Return a new signing secret, once; for 24 hours requests are signed with the one before too."""
    event = router.current_event.raw_event
    owner = account_asked(event, account_id)
    return _shown(owner, rotate_secret(services.table, services.webhook_master, owner, signature_of(event)))


@documented(router, "POST", "/v1/account/webhook/test", WebhookTestAnswer, tag="account")
def try_webhook(account_id: AccountAsked = None) -> JsonObject:
    """Call the webhook with a `webhook.test` now, once, and return what came back."""
    event = router.current_event.raw_event
    account = get_account(services.table, account_asked(event, account_id))
    request_id, now = event["requestContext"]["requestId"], services.clock.now()
    webhook_id, reply = try_out(services.webhooks, services.webhook_master, account, request_id, now)
    shown = {"webhook_id": webhook_id, "delivered": reply.is_taken}
    return shown | {"http_status": reply.http_status, "reason": reply.reason}


def _shown(account_id: str, secret: str | None) -> JsonObject:
    return shown(get_account(services.table, account_id), secret, services.clock.now())
