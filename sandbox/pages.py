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
    size = parameters.get("maxResults") or DEFAULT
    if not 0 < size <= MAXIMUM:
        raise ValidationException(f"maxResults must be between 0 and {MAXIMUM}")
    first = _after(items, key, parameters.get("nextToken"))
    shown = list(items[first : first + size])
    if first + size >= len(items):
        return shown, {}
    return shown, {"nextToken": base64.urlsafe_b64encode(key(shown[-1]).encode()).decode()}


def _after(items: Sequence[T], key: Callable[[T], str], token: str | None) -> int:
    if token is None:
        return 0
    try:
        last = base64.urlsafe_b64decode(token).decode()
    except (binascii.Error, ValueError):
        last = ""
    for index, item in enumerate(items):
        if key(item) == last:
            return index + 1
    raise InvalidToken(f"Invalid Token: '{token}'")
