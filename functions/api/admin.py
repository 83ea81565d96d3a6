"""The operators' routes: accounts, credits, routes and keys. A change is a signal to what it may set free."""

from __future__ import annotations

import secrets
from typing import Annotated, Literal

from aws_lambda_powertools.event_handler.api_gateway import Router
from pydantic import Field

from api.caller import require_operator, services
from paceline.accounts import buy_credits, create_account, get_account, store_key
from paceline.holds import account_scope, release_holds, route_scope
from paceline.models import Account, JsonObject, Model, Route
from paceline.routes import describe_route, put_route

router = Router()  # type: ignore[no-untyped-call]


class AccountPost(Model):
    account_id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{1,39}$")]
    name: str = ""
    credits: Annotated[int, Field(ge=0)] = 0
    parts_per_day: Annotated[int, Field(ge=1)] | None = None


class CreditsPost(Model):
    credits: Annotated[int, Field(ge=1)]


class KeyPost(Model):
    account_id: str
    scope: Literal["customer", "operator"] = "customer"


@router.post("/v1/admin/accounts")
def create(post: AccountPost) -> JsonObject:
    """Create an account; the same again changes nothing."""
    require_operator(router.current_event.raw_event)
    account = Account(
        account_id=post.account_id, name=post.name, available=post.credits, parts_per_day=post.parts_per_day
    )
    return create_account(services.table, account).model_dump(mode="json")


@router.post("/v1/admin/accounts/<account_id>/credits")
def add_credits(account_id: str, post: CreditsPost) -> JsonObject:
    """Add bought credits; batches that wait for credits go on at once."""
    require_operator(router.current_event.raw_event)
    account = buy_credits(services.table, account_id, post.credits)
    released = release_holds(services.table, services.workflow, account_scope(account_id))
    return account.model_dump(mode="json") | {"released_batches": released}


@router.post("/v1/admin/routes")
def set_route(post: Route) -> JsonObject:
    """Create a route or change its caps; batches that wait for it go on at once."""
    require_operator(router.current_event.raw_event)
    put_route(services.table, post)
    released = release_holds(services.table, services.workflow, route_scope(post.name))
    return describe_route(services.table, post, services.clock.now()) | {"released_batches": released}


@router.post("/v1/admin/keys")
def create_key(post: KeyPost) -> JsonObject:
    """Return a new API key. It is shown this once: only its hash is kept."""
    require_operator(router.current_event.raw_event)
    if post.scope == "customer":
        get_account(services.table, post.account_id)
    secret = "pk_" + secrets.token_urlsafe(32)
    store_key(services.table, secret, post.account_id, post.scope)
    return {"api_key": secret, "account_id": post.account_id, "scope": post.scope}
