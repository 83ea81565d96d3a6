"""What every answer of the console carries, and which requests it takes: none that a page elsewhere had sent."""

from __future__ import annotations

import hmac
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Everything comes from the console itself: no script in a page, nothing from outside, nowhere to send a form to.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Guarded:
    """The console behind its headers. Only requests that name one of `hosts` are taken, so that no name of somebody's
    own that leads here (DNS rebinding) reads a page. hosts: names without a port; "*": any.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        if not self._knows(scope):
            await _refuse(send_with_headers)
            return
        await self._app(scope, receive, send_with_headers)

    def _knows(self, scope: MutableMapping[str, Any]) -> bool:
        host = Headers(scope=scope).get("host", "")
        try:
            return "*" in self._hosts or urlsplit(f"//{host}").hostname in self._hosts
        except ValueError:
            return False


async def _refuse(send: Send) -> None:
    told = b"This is Paceline's console, and that is no name of it. Call it by the address it printed, or start it\n"
    told += b"with --allow-host NAME.\n"
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(told)).encode())]
    await send({"type": "http.response.start", "status": 421, "headers": headers})
    await send({"type": "http.response.body", "body": told})


def is_own_form(request: Request, token: str, given: str) -> bool:
    """Tell whether a form was sent by a page of the console's own, to the person whose token it carries."""
    return is_from_here(request) and hmac.compare_digest(token.encode(), given.encode())


def is_from_here(request: Request) -> bool:
    """Tell whether a request came from a page of the console's own, or from no page."""
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host", "")
