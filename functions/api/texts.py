"""Texts that people post: what is refused of them before they are kept."""

from __future__ import annotations

import re


def legible(text: str) -> str:
    """Refuse a text of blanks only, and characters that no handset shows."""
    if not text.strip():
        raise ValueError("write something; there are only blanks")
    if found := re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", text):
        raise ValueError(f"take out the control character at position {found.start() + 1}")
    return text


def without_numbers(text: str) -> str:
    """Refuse a text that may hold a phone number: seven digits or more, whatever is written between them."""
    if re.search(r"\d(?:[\s().\-/+]*\d){6}", text):
        raise ValueError("leave phone numbers out: it is kept, and shown to others")
    return text
