"""Lists that are given in pages, as AWS does: at most so many, and a token that says where the next page begins."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from sandbox.engine.errors import InvalidToken, ValidationException

T = TypeVar("T")
MAXIMUM = 1000
DEFAULT = 100


def page(items: Sequence[T], key: Callable[[T], str], parameters: Mapping[str, Any]) -> tuple[list[T], dict[str, str]]:
    """Return a page of `items` and, where more follow, {"nextToken": …}.

    key: what names an item; the token holds that of the page's last, so that new items in front move nothing.
    Raises: InvalidToken, ValidationException.
    """
    size = size_of(parameters)
    first = _after(items, key, parameters.get("nextToken"))
    shown = list(items[first : first + size])
    if first + size >= len(items):
        return shown, {}
    return shown, token_after(key(shown[-1]))


def size_of(parameters: Mapping[str, Any]) -> int:
    """Return how many a page has at most. Raises: ValidationException."""
    size: int = parameters.get("maxResults") or DEFAULT
    if not 0 < size <= MAXIMUM:
        raise ValidationException(f"maxResults must be between 0 and {MAXIMUM}")
    return size


def token_after(last: str) -> dict[str, str]:
    """Return {"nextToken": …} of the page that follows the item of that key."""
    return {"nextToken": base64.urlsafe_b64encode(last.encode()).decode()}


def last_before(token: str) -> str:
    """Return the key in a token; "" of one that is no token."""
    try:
        return base64.urlsafe_b64decode(token).decode()
    except (binascii.Error, ValueError):
        return ""


def _after(items: Sequence[T], key: Callable[[T], str], token: str | None) -> int:
    if token is None:
        return 0
    last = last_before(token)
    for index, item in enumerate(items):
        if key(item) == last:
            return index + 1
    raise InvalidToken(f"Invalid Token: '{token}'")
