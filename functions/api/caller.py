"""Who calls: what the authorizer found for the key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from paceline.audit import Signature
from paceline.bootstrap import Services
from paceline.errors import ObjectNotFound, PacelineError, RequestInvalid, RouteNotFound
from paceline.routes import get_route

services = Services()


class Forbidden(PacelineError):
    """The key is known, but its scope does not reach so far."""


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


def revision_seen(event: dict[str, Any]) -> int | None:
    """Return the revision that the caller saw, from If-Match: `"7"` or `7`. Raises: RequestInvalid."""
    given = event["headers"].get("if-match", "").strip().strip('"')
    if given in ("", "*"):
        return None
    if not given.isdecimal():
        raise RequestInvalid("If-Match takes the `revision` that you saw, a number.")
    return int(given)
