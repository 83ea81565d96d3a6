"""The creation of a campaign: what a customer may post, and what no model can tell of it."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler.api_gateway import Router
from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field

from api.answers.campaigns import CampaignAnswer
from api.caller import IdempotencyKey, account_asked, caller_of, services, signature_of
from api.document import documented
from api.texts import legible
from paceline.accounts import get_account
from paceline.campaign_ids import generated_id, own_id
from paceline.creating import create_once
from paceline.errors import RequestInvalid, RouteNotFound
from paceline.idempotency import Once, digest_of, find_answer
from paceline.leads.template import compile_template
from paceline.models import AccountId, Campaign, ChosenId, JsonObject, Model, RouteName, SendingWindow, Weight
from paceline.routes import get_route

router = Router()  # type: ignore[no-untyped-call]


def _spelled_as_moment(given: Any) -> Any:
    """Refuse what pydantic would take for a time too: seconds since 1970."""
    if isinstance(given, str) and re.match(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d", given, re.ASCII):
        return given
    raise ValueError("write it as RFC 3339 does, with its offset: 2026-09-02T09:00:00-04:00")


def _plausible(moment: datetime) -> datetime:
    if not 2020 <= moment.year <= 2100:
        raise ValueError("give a time between the years 2020 and 2100")
    return moment


Moment = Annotated[AwareDatetime, BeforeValidator(_spelled_as_moment), AfterValidator(_plausible)]


class CampaignPost(Model):
    """What a customer posts to create a campaign. account_id, and a weight above 1: only with an operator's key.

    campaign_id: of your choice. The campaign's id is that and an ending that stands for your account; with your key,
    both name it.
    """

    name: Annotated[str, Field(min_length=1, max_length=200), AfterValidator(legible)]
    message: Annotated[str, Field(min_length=1, max_length=1600), AfterValidator(legible)]
    file_name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")] = "leads.csv"
    campaign_id: ChosenId | None = None
    account_id: AccountId | None = None
    route: RouteName | None = None
    start_at: Moment | None = None
    send_by: Moment | None = None
    sending_window: SendingWindow = SendingWindow()
    max_messages_per_recipient_24h: Annotated[int, Field(strict=True, ge=1, le=1000)] | None = None
    weight: Weight = 1
    smart_punctuation: Literal["keep", "to_gsm7"] = "keep"
    receipt_deadline_hours: Annotated[int, Field(strict=True, ge=1, le=168)] = 72


@documented(router, "POST", "/v1/campaigns", CampaignAnswer)
def create(post: CampaignPost, idempotency_key: IdempotencyKey = None) -> JsonObject:
    """Create a campaign.

    The same Idempotency-Key with the same body returns the same answer; with another body it is refused.
    """
    event = router.current_event.raw_event
    account_id = account_asked(event, post.account_id)
    now = services.clock.now()
    once = None
    if idempotency_key is not None:
        once = Once(account_id, idempotency_key, digest_of("create", post.model_dump(mode="json")), now)
        if known := find_answer(services.table, once):
            return known
    _check(post, account_id, now)
    # By the request, not by the key alone: a key that was forgotten after its week makes another campaign.
    request = (account_id, idempotency_key, event["requestContext"]["requestId"])
    campaign_id = own_id(account_id, post.campaign_id) if post.campaign_id else generated_id(*request)
    campaign = Campaign(
        campaign_id=campaign_id,
        account_id=account_id,
        leads_key=f"uploads/{account_id}/{campaign_id}/{post.file_name}",
        created_at=now,
        **post.model_dump(exclude={"file_name", "campaign_id", "account_id"}),
    )
    return create_once(services.table, campaign, signature_of(event), once)


def _check(post: CampaignPost, account_id: str, now: datetime) -> None:
    """Raises: RequestInvalid, RouteNotFound, for what no model can tell."""
    if post.weight > 1 and not caller_of(router.current_event.raw_event).is_operator:
        told = "A weight above 1 takes a share from other campaigns: an operator's key can give it."
        raise RequestInvalid(told, field="weight")
    if post.send_by is not None and post.send_by <= max(post.start_at or now, now):
        told = "`send_by` is when sending ends: give a time after `start_at` and after now, or leave it out."
        raise RequestInvalid(told, field="send_by")
    get_account(services.table, account_id)
    try:
        compile_template(post.message)
    except RequestInvalid as error:
        raise RequestInvalid(str(error), **{"field": "message", **error.evidence}) from None
    try:
        get_route(services.table, post.route) if post.route else None
    except RouteNotFound as error:
        raise RouteNotFound(str(error), **{"field": "route", **error.evidence}) from None
