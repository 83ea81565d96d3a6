"""Who calls: what the authorizer found for the key, and what it may reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Header, Path, Query

from api.problems import Forbidden
from paceline.accounts import get_account
from paceline.audit import Signature
from paceline.bootstrap import Services
from paceline.campaigns import get_campaign, get_own_campaign
from paceline.errors import ObjectNotFound, RequestInvalid, RouteNotFound
from paceline.models import Account, AccountId, Campaign, CampaignId, RouteName
from paceline.observability import identify
from paceline.routes import get_route

services = Services()

CampaignPath = Annotated[CampaignId, Path(description="Its id; a customer's key takes the chosen one too.")]
RoutePath = Annotated[RouteName, Path(description="The route's name.")]
AccountPath = Annotated[AccountId, Path(description="The account's id.")]
AccountAsked = Annotated[AccountId | None, Query(description="Whose: only an operator's key needs it.")]
After = Annotated[str | None, Query(max_length=8000, description="The `next` of the page before.")]
PageSize = Annotated[int, Query(ge=1, le=99, description="How many at most.")]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="idempotency-key",
        min_length=1,
        max_length=255,
        description="Of your choice, kept for 7 days: the same key and body get the same answer, and nothing twice.",
    ),
]
IfMatch = Annotated[
    str | None,
    Header(
        alias="if-match",
        pattern=r'^(\*|[0-9]{1,18}|"[0-9]{1,18}")$',
        description="The `revision` that you saw: a change to another one is refused with 409.",
    ),
]


@dataclass(frozen=True, slots=True)
class Caller:
    """account_id: None for an operator, who sees every account. key_id, key_name: of the key that calls."""

    account_id: str | None
    is_operator: bool
    key_id: str
    key_name: str


def caller_of(event: dict[str, Any]) -> Caller:
    """Return who calls, from the authorizer's context."""
    context = event["requestContext"]["authorizer"]["lambda"]
    is_operator = context["scope"] == "operator"
    account_id = None if is_operator else context["account_id"]
    return Caller(account_id, is_operator, context.get("key_id", ""), context.get("key_name", ""))


def account_asked(event: dict[str, Any], account_id: str | None) -> str:
    """Return whose things are asked for.

    Raises: Forbidden, for another's; RequestInvalid, where nobody is named, or nobody that there is.
    """
    own = caller_of(event).account_id
    if own is not None and account_id not in (None, own):
        raise Forbidden("Your key reaches your own account only; leave `account_id` out.", field="account_id")
    if own is None and account_id is None:
        raise RequestInvalid("An operator's key has no account of its own: give `account_id`.", field="account_id")
    if own is None and account_id is not None:
        get_account(services.table, account_id)  # a misspelt name would be a list with nothing in it
    return own or str(account_id)


def campaign_asked(event: dict[str, Any], campaign_id: str) -> Campaign:
    """Return a campaign that the caller may see. Raises: CampaignNotFound, for another account's too."""
    account_id = caller_of(event).account_id
    if account_id is None:
        campaign = get_campaign(services.table, campaign_id)
    else:
        campaign = get_own_campaign(services.table, account_id, campaign_id)
    identify(campaign_id=campaign.campaign_id)
    return campaign


def signature_of(event: dict[str, Any]) -> Signature:
    """Return who asks for a change, when, and by which request."""
    caller = caller_of(event)
    return Signature(caller.key_id, services.clock.now(), event["requestContext"]["requestId"], caller.key_name)


def sign_as_operator(event: dict[str, Any]) -> Signature:
    """Return an operator's signature. Raises: Forbidden, for a customer's key."""
    if not caller_of(event).is_operator:
        raise Forbidden("This needs an operator's key.")
    return signature_of(event)


def named_route(name: str) -> str:
    """Return the name of a route that exists. Raises: ObjectNotFound: an address without a route, not a bad request."""
    try:
        return get_route(services.table, name).name
    except RouteNotFound as missing:
        raise ObjectNotFound(str(missing), **missing.evidence) from None


def named_account(account_id: str) -> Account:
    """Return an account that exists. Raises: ObjectNotFound."""
    try:
        return get_account(services.table, account_id)
    except RequestInvalid as missing:
        raise ObjectNotFound(str(missing), **missing.evidence) from None


def revision_seen(if_match: str | None) -> int | None:
    """Return the revision that the caller saw, from If-Match: `"7"` or `7`; None: whatever is there."""
    given = (if_match or "*").strip('"')
    return None if given == "*" else int(given)
