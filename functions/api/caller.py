"""Who calls: what the authorizer found for the key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from paceline.bootstrap import Services
from paceline.errors import PacelineError

services = Services()


class Forbidden(PacelineError):
    """The key is known, but its scope does not reach so far."""


@dataclass(frozen=True, slots=True)
class Caller:
    """account_id: None for an operator, who sees every account."""

    account_id: str | None
    is_operator: bool


def caller_of(event: dict[str, Any]) -> Caller:
    """Return who calls, from the authorizer's context."""
    context = event["requestContext"]["authorizer"]["lambda"]
    is_operator = context["scope"] == "operator"
    return Caller(None if is_operator else context["account_id"], is_operator)


def require_operator(event: dict[str, Any]) -> None:
    """Raises: Forbidden, for a customer's key."""
    if not caller_of(event).is_operator:
        raise Forbidden("This needs an operator's key.")
