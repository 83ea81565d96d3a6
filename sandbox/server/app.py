"""The server's front: an ASGI application that hands each request to whoever answers it, in the sandbox's thread."""

from __future__ import annotations

import asyncio
import json
import re
import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import unquote, urlsplit

from moto.s3.models import s3_backends

from sandbox.deployment import ACCOUNT
from sandbox.gateway import Answer
from sandbox.server.answers import error_for
from sandbox.server.aws import AwsEndpoint
from sandbox.server.browsers import refusal_of_page
from sandbox.server.exchange import (
    USUAL,
    HungUp,
    Patience,
    Receive,
    Send,
    TooLarge,
    TooSlow,
    head_of,
    let_come,
    most_bytes,
    read_body,
    write,
)
from sandbox.server.index import index_page
from sandbox.server.requests import PROVIDER_PATH, Request, aws_service
from sandbox.server.world_thread import Stopped, WorldThread
from sandbox.world import CARRIER_HOST

AsgiApp = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]
_NOT_AWS = frozenset({"api", "index", "health", "provider"})


class ServerApp:
    """AWS's protocols, the customers' API below /v1/, the provider's list, and an index at /.

    Web pages from elsewhere get nothing of these (`sandbox.server.browsers`).
    console: where the web console is; "": there is none.
    on_answer: told of every request that was answered here. patience: how slowly a body may come.
    """

    def __init__(
        self,
        world: WorldThread,
        address: str,
        console: str = "",
        on_answer: Callable[[Request, str, Answer], None] = lambda request, name, answer: None,
        patience: Patience = USUAL,
    ) -> None:
        self._world = world
        self._address = address
        self._host = urlsplit(address).hostname or ""
        self._console = console
        self._on_answer = on_answer
        self._patience = patience
        self._aws = AwsEndpoint(world.sandbox)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (told := refusal_of_page(head_of(scope), self._host)):
            await self._refuse_page(head_of(scope), told, receive, send)
            return
        if scope["type"] == "http":
            with suppress(HungUp):
                await self._serve(head_of(scope), scope["headers"], receive, send)

    async def _serve(self, head: Request, headers: list[tuple[bytes, bytes]], receive: Receive, send: Send) -> None:
        """Answer a request once it is whole. Raises: HungUp."""
        name, function = self._whose(head)
        most = most_bytes(head.path)
        try:
            request = replace(head, body=await read_body(receive, headers, most, self._patience))
        except TooLarge:
            told = f"The body has more than {most:,} bytes, the most that is taken at this address."
            refusal = _refusal(name, head, 413, "EntityTooLarge", told)
        except TooSlow:
            told = "The body came too slowly; send it again, by a faster connection."
            refusal = _refusal(name, head, 408, "RequestTimeout", told)
        else:
            await write(await self._answer(name, function, request), send, request)
            return
        await self._refuse(name, head, refusal, receive, send)

    async def _refuse_page(self, head: Request, told: str, receive: Receive, send: Send) -> None:
        name = self._whose(head)[0]
        await self._refuse(name, head, _refusal(name, head, 403, "AccessDenied", told), receive, send)

    async def _refuse(self, name: str, head: Request, refusal: Answer, receive: Receive, send: Send) -> None:
        self._on_answer(head, name, refusal)
        await write(refusal, send, head, is_last=False)
        await let_come(receive, self._patience)
        await send({"type": "http.response.body", "body": b""})

    async def _answer(self, name: str, function: Callable[[Request], Answer], request: Request) -> Answer:
        try:
            answer = await asyncio.wrap_future(self._world.submit(function, request))
        except Stopped:
            answer = _refusal(name, request, 503, "ServiceUnavailable", "the sandbox is shutting down")
        except Exception:  # a fault of the sandbox must reach whoever asked
            answer = _refusal(name, request, 500, "InternalFailure", traceback.format_exc())
        self._on_answer(request, name, answer)
        return answer

    def _whose(self, request: Request) -> tuple[str, Callable[[Request], Answer]]:
        """Return who answers, by name, and how."""
        if (service := aws_service(request)) is not None:
            return service, lambda request: self._aws.answer(service, request)
        if request.path == "/":
            return "index", self._index
        if request.path == "/health":
            return "health", self._health
        if request.path.startswith("/v1/"):
            return "api", self._api
        if request.path.startswith(PROVIDER_PATH):
            return "provider", self._provider
        return "s3", self._bucket

    # -- in the sandbox's thread ------------------------------------------------------------------------------------

    def _index(self, request: Request) -> Answer:
        if request.method not in ("GET", "HEAD"):
            return _json(405, {"message": "Only GET; a request to AWS has a signature or X-Amz-Target."})
        page = index_page(self._world.sandbox, self._address, self._console)
        return Answer(200, {"content-type": "text/html; charset=utf-8"}, page.encode())

    def _health(self, request: Request) -> Answer:
        sandbox = self._world.sandbox
        return _json(200, {"status": "ok", "clock": sandbox.clock, "now": sandbox.scheduler.now().isoformat()})

    def _api(self, request: Request) -> Answer:
        """The template's HTTP API."""
        sandbox = self._world.sandbox
        url = sandbox.outputs["ApiUrl"] + request.path + (f"?{request.query}" if request.query else "")
        return sandbox.network.request(request.method, url, request.headers, request.body)

    def _provider(self, request: Request) -> Answer:
        """The simulated provider's own list of messages, the witness of what was sent; it asks for no key."""
        numbers = [value for name, value in request.parameters().items() if name in ("Page", "PageSize")]
        if request.method != "GET" or not all(re.fullmatch(r"[0-9]{1,6}", one, re.ASCII) for one in numbers):
            return _json(400, {"message": "Only GET, with To, From, Page and PageSize: the messages are Paceline's."})
        url = f"https://{CARRIER_HOST}{request.path}" + (f"?{request.query}" if request.query else "")
        return self._world.sandbox.network.request(request.method, url, request.headers, request.body)

    def _bucket(self, request: Request) -> Answer:
        """A request without a signature to a bucket's address, or to nothing."""
        bucket = unquote(request.path).split("/")[1]
        if bucket in s3_backends[ACCOUNT]["aws"].buckets:
            return self._aws.answer("s3", request)
        message = f"Nothing is at {request.path}: {self._address}/ says what is served."
        return _json(404, {"message": message})


def _json(status: int, body: object) -> Answer:
    return Answer(status, {"content-type": "application/json"}, json.dumps(body).encode())


def _refusal(name: str, request: Request, status: int, code: str, message: str) -> Answer:
    """Return an error as clients of whoever was asked read it."""
    if name in _NOT_AWS:
        return _json(status, {"message": message})
    return error_for(name, "json" in request.headers.get("content-type", ""), status, code, message)
