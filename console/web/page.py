"""What a page is and what a form does; the pages themselves are in console/web/pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from console.operator.api import Api
from console.web.site import Site


@dataclass(frozen=True, slots=True)
class Visit:
    """Somebody at a page. params: of its path. query: of its address. zone: the browser's; None: not told yet."""

    site: Site
    api: Api
    params: Mapping[str, str]
    query: Mapping[str, str]
    zone: ZoneInfo | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """An address, and what is shown there.

    read: returns the template's variables, `title` among them; it may block, and is called at every look. Raises:
    click.ClickException, whose text the person is shown. is_live: looked at again and again while somebody sees it,
    until the variables have a true `is_over`: nothing new is to come.
    """

    path: str
    template: str
    read: Callable[[Visit], dict[str, Any]]
    is_live: bool = True


@dataclass(frozen=True, slots=True)
class Done:
    """What an act came to. told: for the person, in a sentence; "": nothing. to: the page to go to; "": back."""

    told: str
    to: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """An act's answer that is a page of its own: what would change, what was typed wrong, or what is shown this once.

    It is in no address, is not live and is not kept: whoever goes on has left it. values: the template's, `title` among
    them. status: 200, or that of a refusal.
    """

    template: str
    values: Mapping[str, Any]
    status: int = 200


@dataclass(frozen=True, slots=True)
class Act:
    """What a form does: posted to `path`, by somebody who is signed in.

    back: the page that shows how it ended, with the path's parameters filled in. do: may block. Raises:
    click.ClickException, whose text the person is shown: nothing was done, or nobody knows.
    """

    path: str
    back: str
    do: Callable[[Visit, Mapping[str, str]], Done | Shown]


@dataclass(frozen=True, slots=True)
class Onward:
    """An address that leads to another, which is only known when it is asked for and is good for a while.

    to: returns that address; it may block. Raises: click.ClickException, whose text the person is shown.
    """

    path: str
    to: Callable[[Visit], str]
