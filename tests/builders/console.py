"""The web console in a test: a browser of its own, an API that answers what a test says, and what was asked of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import sentinel
from urllib.parse import unquote

import httpx
from starlette.testclient import TestClient

from console.operator.api import Api
from console.reach import System, Where
from console.web.app import console_app
from console.web.page import Act, Page
from console.web.pages import ACTS, PAGES
from console.web.site import Site

ADDRESS = "http://127.0.0.1:4601"
API = "http://127.0.0.1:4600"
KEY = "pk_0123456789ab_" + "k" * 43
HOSTS = frozenset({"127.0.0.1", "localhost"})
Answer = Mapping[str, Any] | httpx.Response | Callable[[httpx.Request], Any]


@dataclass
class FakeApi:
    """What the API answers. answers: "GET /v1/routes" → a body, an answer, or what makes one of a request."""

    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[httpx.Request] = field(default_factory=list)

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        found = self.answers.get(f"{request.method} {request.url.path}")
        if callable(found):
            found = found(request)
        if found is None:
            return httpx.Response(404, json={"detail": f"There is nothing at {unquote(request.url.path)}."})
        return found if isinstance(found, httpx.Response) else httpx.Response(200, json=dict(found))

    def writes(self) -> list[tuple[str, Any, dict[str, str]]]:
        """Return what was asked for that changes something: method and path, body, headers."""
        return [
            (f"{one.method} {one.url.path}", json.loads(one.content or b"null"), dict(one.headers))
            for one in self.asked
            if one.method != "GET"
        ]


def refusal(status: int, detail: str) -> httpx.Response:
    """Return a refusal as the API words it."""
    return httpx.Response(status, json={"type": "about:blank", "status": status, "detail": detail})


@dataclass(frozen=True, slots=True)
class SiteOfTests(Site):
    fake: FakeApi = field(default_factory=FakeApi)

    def api(self, key: str) -> Api:
        made: Api = self.kept.get(("api", key), lambda: Api(self.url, key, httpx.MockTransport(self.fake.answer)))
        return made


@dataclass
class Browser:
    """Somebody at the console."""

    client: TestClient
    api: FakeApi
    site: Site

    def get(self, address: str, **headers: str) -> httpx.Response:
        return self.client.get(address, headers=headers)  # type: ignore[return-value]

    def post(self, address: str, carrying: str | None = None, headers: Mapping[str, str] = {}, **form: str) -> Any:
        """Post a form. carrying: a token; None: the one that this browser's pages carry."""
        carried = self.token() if carrying is None else carrying
        given = form | ({"token": carried} if carried else {})
        return self.client.post(address, data=given, headers={"origin": ADDRESS, **headers})

    def token(self) -> str:
        return hidden(self.get("/sign-in").text)["token"]


def a_console(
    api: FakeApi | None = None,
    *,
    key: str = KEY,
    system: System | None = None,
    pages: Sequence[Page] = PAGES,
    acts: Sequence[Act] = ACTS,
    is_secure: bool = False,
    address: str = ADDRESS,
    patience: float = 60,
) -> Browser:
    """Return a browser at a console. key: everybody's who reaches it; "": each signs in. system: AWS's protocols'."""
    fake = api or FakeApi()
    reached = system or a_system()
    site = SiteOfTests(
        Where(endpoint_url="http://127.0.0.1:4600"), reached, "http://127.0.0.1:4600", key, 0.1, fake=fake
    )
    app = console_app(site, HOSTS, pages=pages, acts=acts, is_secure=is_secure, patience=patience)
    return Browser(TestClient(app, base_url=address, follow_redirects=False), fake, site)


def a_system(**parts: Any) -> System:
    """Return a system of which only the given parts are there."""
    nothing = System("the sandbox", sentinel.table, sentinel.store, "", sentinel.client)
    return replace(nothing, **parts)


def hidden(page: str) -> dict[str, str]:
    """Return a page's hidden fields, the last of a name."""
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page)
    return dict(found)
