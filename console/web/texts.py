"""Inputs and outputs as people read them."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass

SHOWN = 2000  # characters: about a screen


@dataclass(frozen=True, slots=True)
class Text:
    """shown: what is seen. more: characters that are not. is_whole: the person asked for all of it."""

    shown: str
    more: int = 0
    is_whole: bool = False


def pretty(text: str | None, whole: bool = False) -> Text | None:
    """Return JSON indented, its first part unless the whole is wanted; what is no JSON as it is; None for nothing."""
    if not text:
        return None
    with suppress(ValueError):
        text = json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    if whole:
        return Text(text, is_whole=True)
    return Text(text[:SHOWN], max(len(text) - SHOWN, 0))
