"""Places in a list, as customers hand them back: opaque, so that what is in them may change."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from paceline.errors import RequestInvalid


def cursor(place: Any) -> str:
    """Return a place (plain JSON) as text that a URL takes."""
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def place(text: str) -> Any:
    """Return the place that a cursor names. Raises: RequestInvalid, for what is no cursor."""
    try:
        return json.loads(base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):  # of characters, of UTF-8, of JSON
        raise not_a_cursor() from None


def not_a_cursor() -> RequestInvalid:
    return RequestInvalid("`after` takes the `next` of the page before, unchanged.", field="after")
