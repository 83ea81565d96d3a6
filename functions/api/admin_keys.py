"""The operators' routes for API keys: make, list, revoke. Every change is audited."""

from __future__ import annotations

import secrets
from typing import Annotated, Literal

from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Path, Query
from pydantic import Field

from api.answers.operators import KeyAnswer, KeysAnswer, NewKeyAnswer
from api.caller import services, sign_as_operator
from api.document import documented
from paceline.accounts import get_account
from paceline.api_keys import OPERATORS, create_key, keys_of, revoke_key
from paceline.errors import RequestInvalid
from paceline.models import AccountId, JsonObject, Model

router = Router()  # type: ignore[no-untyped-call]

KeyPath = Annotated[str, Path(pattern=r"^[a-z0-9]{4,32}$", description="The key's public id.")]


class KeyPost(Model):
    """account_id: of an operator's key it says nothing."""

    account_id: AccountId | None = None
    scope: Literal["customer", "operator"] = "customer"
    name: Annotated[str, Field(max_length=100)] = ""


@documented(router, "POST", "/v1/admin/keys", NewKeyAnswer, tag="operators")
def make_key(post: KeyPost) -> JsonObject:
    """Return a new API key. It is shown this once: only its keyed hash is kept. Its key_id is what the audit shows."""
    signature = sign_as_operator(router.current_event.raw_event)
    account_id = OPERATORS
    if post.scope == "customer":
        if post.account_id is None:
            raise RequestInvalid("Say whose key it is to be: give `account_id`.", field="account_id")
        account_id = get_account(services.table, post.account_id).account_id
    api_key = f"pk_{secrets.token_hex(6)}_{secrets.token_urlsafe(32)}"
    key_id = create_key(services.table, services.key_pepper, api_key, account_id, post.scope, post.name, signature)
    shown = {"api_key": api_key, "key_id": key_id, "name": post.name}
    return shown | {"account_id": account_id, "scope": post.scope}


@documented(router, "GET", "/v1/admin/keys", KeysAnswer, tag="operators")
def list_keys(account_id: Annotated[AccountId, Query()] = OPERATORS) -> JsonObject:
    """Return an account's keys, revoked ones too; without account_id the operators'. Never a key itself."""
    sign_as_operator(router.current_event.raw_event)
    if account_id != OPERATORS:
        get_account(services.table, account_id)
    return {"account_id": account_id, "keys": keys_of(services.table, account_id)}


@documented(router, "POST", "/v1/admin/keys/<key_id>/revoke", KeyAnswer, 404, tag="operators")
def revoke(key_id: KeyPath) -> JsonObject:
    """Revoke a key: the next request with it is refused. The same again changes nothing."""
    signature = sign_as_operator(router.current_event.raw_event)
    if key_id == signature.key_id:
        raise RequestInvalid("This is the key that you call with; revoke it with another operator's key.")
    return revoke_key(services.table, key_id, signature)
