"""The two pages before something is done: a form, and what would be done. Neither is live, and both need no script."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from console.web.fields import Field
from console.web.page import Shown, Visit

_ONCE = re.compile("[0-9a-f]{32}")


def asked(title: str, here: str, fields: Sequence[Field], texts: Mapping[str, str]) -> dict[str, Any]:
    """Return a form's values for ask.html. here: the page that it is of. texts: what its fields hold.

    Whoever asks adds `action`, `button` and, where there are any, `hidden` fields, what is `now`, `problems`, `told`.
    """
    empty: dict[str, Any] = {"hidden": {}, "now": {}, "problems": {}, "told": "", "note": ""}
    return empty | {"title": title, "here": here, "fields": fields, "texts": texts}


def reviewed(
    title: str,
    here: str,
    *,
    action: str,
    hidden: Mapping[str, Any],
    button: str,
    lines: Sequence[str] = (),
    note: str = "",
    told: str = "",
    is_bad: bool = False,
    status: int = 200,
) -> Shown:
    """Return the page that shows what would be done. is_bad: it takes something away for good."""
    values = {"title": title, "here": here, "action": action, "hidden": hidden, "button": button, "lines": lines}
    return Shown("review.html", values | {"note": note, "told": told, "is_bad": is_bad}, status)


def new_once() -> str:
    """Return a word for one form, so that what it does is done once, however often it is sent."""
    return secrets.token_hex(16)


def is_once(word: str) -> bool:
    """Tell whether a hidden field holds such a word."""
    return _ONCE.fullmatch(word) is not None


def is_first(visit: Visit, word: str) -> bool:
    """Tell whether a form with this word comes for the first time; from now on it does not."""
    mine = new_once()
    return bool(visit.site.kept.get(("sent", word), lambda: mine) == mine)
