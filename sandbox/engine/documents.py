"""JSON as the engine passes it from state to state: parsed once, serialised once, never changed."""

from __future__ import annotations

import json
from typing import Any

MAXIMUM_PAYLOAD_BYTES = 256 * 1024
"""AWS's limit for the input or output of a state, a task or an execution."""

to_text = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, check_circular=False).encode


class Document:
    """A JSON value with its text. The value is shared between states: treat it as immutable."""

    __slots__ = ("_text", "value")

    def __init__(self, value: Any, text: str | None = None) -> None:
        self.value = value
        self._text = text

    @classmethod
    def parse(cls, text: str) -> Document:
        """Raises: ValueError."""
        return cls(json.loads(text), text)

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = to_text(self.value)
        return self._text


EMPTY = Document({}, "{}")


def is_too_large(text: str) -> bool:
    """Say whether a text is over the payload limit, in UTF-8 bytes."""
    if len(text) * 4 <= MAXIMUM_PAYLOAD_BYTES:
        return False
    return len(text) > MAXIMUM_PAYLOAD_BYTES or len(text.encode()) > MAXIMUM_PAYLOAD_BYTES


def as_shown(value: Any) -> str:
    """Return a value as AWS writes it into an error text: a string bare, anything else as JSON."""
    return value if isinstance(value, str) else to_text(value)
