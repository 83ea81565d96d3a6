"""Long lists by page number. The API's own places in a list may hold a phone number, which no address may show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from console.web.page import Visit

A_PAGE = 50
_MOST_PAGES = 100_000


@dataclass(frozen=True, slots=True)
class Paged:
    """One page of a list. before, after: addresses of the pages beside it; "": there is none."""

    items: Sequence[Any]
    number: int
    before: str
    after: str


def paged(visit: Visit, path: str, name: str, *, by: str = "page", a_page: int = A_PAGE, **query: str) -> Paged:
    """Return the page of the API's list at a path that the address asks for. name: the list's, in the answer."""
    number = _number(visit, by)
    places: dict[int, str | None] = visit.site.kept.get(("places", path, *sorted(query.items())), lambda: {1: None})
    at = max(one for one in list(places) if one <= number)
    while True:
        answer = visit.api.get(path, limit=a_page, after=places[at], **query)
        if answer["next"] is not None:
            places[at + 1] = answer["next"]
        if at == number or answer["next"] is None:
            return _beside(visit, answer[name], at, answer["next"] is not None, by)
        at += 1


def sliced(visit: Visit, items: Sequence[Any], *, by: str, a_page: int = A_PAGE) -> Paged:
    """Return the page that the address asks for of a list that is whole."""
    number = min(_number(visit, by), max(-(-len(items) // a_page), 1))
    start = (number - 1) * a_page
    return _beside(visit, items[start : start + a_page], number, len(items) > start + a_page, by)


def _number(visit: Visit, by: str) -> int:
    """Return which page the address asks for; 1 where it asks for none that can be."""
    text = visit.query.get(by, "1")
    return min(int(text), _MOST_PAGES) if text.isascii() and text.isdecimal() and 0 < len(text) < 9 and int(text) else 1


def _beside(visit: Visit, items: Sequence[Any], number: int, has_more: bool, by: str) -> Paged:
    def address(other: int) -> str:
        return "?" + urlencode({**visit.query, by: other})

    return Paged(items, number, address(number - 1) if number > 1 else "", address(number + 1) if has_more else "")
