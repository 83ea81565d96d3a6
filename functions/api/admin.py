"""The operators' routes: accounts, credits and routes. Every change is audited, and a signal to what it frees."""

from __future__ import annotations

from typing import Annotated, Literal

from aws_lambda_powertools.event_handler.api_gateway import Router
from pydantic import Field

from api.caller import named_route, revision_seen, services, sign_as_operator
from paceline.accounts import buy_credits, change_account, create_account, get_account
from paceline.audit import account_subject, changes_of, route_subject
from paceline.holds import account_scope, release_holds, route_scope
from paceline.models import Account, AccountId, JsonObject, Model, Route, RouteName, RoutingRules, SendingWindow
from paceline.routes import change_route, describe_route, put_route

router = Router()  # type: ignore[no-untyped-call]


class AccountPost(Model):
    account_id: AccountId
    name: str = ""
    credits: Annotated[int, Field(ge=0)] = 0
    parts_per_day: Annotated[int, Field(ge=1)] | None = None


class AccountPatch(Model):
    """What to change of an account; what is not given stays. null removes a cap, or the account's own window."""

    name: str = ""
    parts_per_day: Annotated[int, Field(ge=1)] | None = None
    compliance_status: Literal["approved", "pending", "refused"] = "approved"
    operational_status: Literal["active", "suspended"] = "active"
    sending_window: SendingWindow | None = None
    routing: RoutingRules = RoutingRules()
    help_text: Annotated[str, Field(max_length=320)] = ""


class CreditsPost(Model):
    credits: Annotated[int, Field(ge=1)]


class RoutePatch(Route):
    """What to change of a route; what is not given stays. null removes a cap."""

    name: RouteName = "the-same"


@router.post("/v1/admin/accounts")
def create(post: AccountPost) -> JsonObject:
    """Create an account; the same again changes nothing."""
    signature = sign_as_operator(router.current_event.raw_event)
    account = Account(
        account_id=post.account_id, name=post.name, available=post.credits, parts_per_day=post.parts_per_day
    )
    return create_account(services.table, account, signature).model_dump(mode="json")


@router.patch("/v1/admin/accounts/<account_id>")
def patch_account(account_id: str, post: AccountPatch) -> JsonObject:
    """Change an account's cap, statuses or name; batches that wait for the account go on at once."""
    event = router.current_event.raw_event
    fields = post.model_dump(mode="json", exclude_unset=True)
    signature = sign_as_operator(event)
    change_account(services.table, account_id, fields, signature, revision=revision_seen(event))
    released = release_holds(services.table, services.workflow, account_scope(account_id))
    return get_account(services.table, account_id).model_dump(mode="json") | {"released_batches": released}


@router.post("/v1/admin/accounts/<account_id>/credits")
def add_credits(account_id: str, post: CreditsPost) -> JsonObject:
    """Add bought credits; batches that wait for credits go on at once."""
    signature = sign_as_operator(router.current_event.raw_event)
    account = buy_credits(services.table, account_id, post.credits, signature)
    released = release_holds(services.table, services.workflow, account_scope(account_id))
    return account.model_dump(mode="json") | {"released_batches": released}


@router.get("/v1/admin/accounts/<account_id>/changes")
def account_changes(account_id: str) -> JsonObject:
    """Return every change of an account by an operator, the newest first."""
    sign_as_operator(router.current_event.raw_event)
    changes = changes_of(services.table, account_subject(account_id))
    if not changes:  # the operators' own keys have changes and no account
        get_account(services.table, account_id)
    return {"account_id": account_id, "changes": changes}


@router.post("/v1/admin/routes")
def set_route(post: Route) -> JsonObject:
    """Create a route or make it this one; batches that wait for it go on at once."""
    event = router.current_event.raw_event
    put_route(services.table, post, sign_as_operator(event), revision=revision_seen(event))
    return _changed_route(post.name)


@router.patch("/v1/admin/routes/<name>")
def patch_route(name: str, post: RoutePatch) -> JsonObject:
    """Change what is given of a route; batches that wait for it go on at once."""
    event = router.current_event.raw_event
    fields = post.model_dump(exclude_unset=True)
    signature = sign_as_operator(event)
    change_route(services.table, named_route(name), fields, signature, revision=revision_seen(event))
    return _changed_route(name)


@router.get("/v1/admin/routes/<name>/changes")
def route_changes(name: str) -> JsonObject:
    """Return every change of a route, the newest first."""
    sign_as_operator(router.current_event.raw_event)
    return {"route": name, "changes": changes_of(services.table, route_subject(named_route(name)))}


def _changed_route(name: str) -> JsonObject:
    # After an error between change and signal, the same request again still sends the signal.
    released = release_holds(services.table, services.workflow, route_scope(name))
    return describe_route(services.table, name, services.clock.now()) | {"released_batches": released}
