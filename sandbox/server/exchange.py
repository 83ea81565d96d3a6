"""A request as it comes in (whole or not at all, of bounded size, not slower than patience allows) and its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from typing import Any

from sandbox.gateway import MAX_BODY_BYTES, Answer
from sandbox.server.requests import Request

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

# The largest lead file is 200 MB; the form around it is small.
MAX_UPLOAD_BYTES = 256 * 1024 * 1024


class HungUp(Exception):
    """The client left before its request was whole: nobody is there to answer, and nothing is to be done."""


class TooLarge(Exception):
    """The body has more bytes than are taken."""


class TooSlow(Exception):
    """The body came more slowly than patience allows."""


@dataclass(frozen=True)
class Patience:
    """How long a client may take: for the head so many seconds; for the body too, and one more for each
    `bytes_a_second` that have come. linger_seconds: how long one that was refused may go on sending, so that it comes
    to read why.
    """

    seconds: float = 20.0
    bytes_a_second: int = 1000
    linger_seconds: float = 2.0

    def until(self, began: float, received: int) -> float:
        return began + self.seconds + received / self.bytes_a_second


USUAL = Patience()


def most_bytes(path: str) -> int:
    """Return how many bytes a body for this address may have: the gateway's limit, or an upload's."""
    return MAX_BODY_BYTES if path.startswith("/v1/") else MAX_UPLOAD_BYTES


async def read_body(
    receive: Receive, headers: Iterable[tuple[bytes, bytes]], most: int, patience: Patience = USUAL
) -> bytes:
    """Return the whole body. Nothing is held for bytes that are only announced. Raises: HungUp, TooLarge, TooSlow."""
    if any(name.lower() == b"content-length" and int(value) > most for name, value in headers):
        raise TooLarge
    began = asyncio.get_running_loop().time()
    body = bytearray()
    more = True
    while more:
        try:
            async with asyncio.timeout_at(patience.until(began, len(body))):
                message = await receive()
        except TimeoutError:
            raise TooSlow from None
        if message["type"] == "http.disconnect":
            raise HungUp
        body += message.get("body", b"")
        if len(body) > most:
            raise TooLarge
        more = message.get("more_body", False)
    return bytes(body)


async def let_come(receive: Receive, patience: Patience) -> None:
    """Take what a refused client still sends and forget it: who is cut off does not read the answer."""
    try:
        async with asyncio.timeout(patience.linger_seconds):
            while (message := await receive())["type"] != "http.disconnect" and message.get("more_body"):
                pass
    except TimeoutError:
        pass


def head_of(scope: MutableMapping[str, Any]) -> Request:
    """Return the request without its body."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    path, query = scope["raw_path"].decode("latin-1"), scope["query_string"].decode("latin-1")
    return Request(scope["method"], path, query, headers, b"")


async def write(answer: Answer, send: Send, request: Request, *, is_last: bool = True) -> None:
    """Send an answer. is_last: False, where the connection is to be closed, and not yet."""
    headers = dict(answer.headers) | ({} if is_last else {"connection": "close"})
    if answer.status not in (204, 304) and "content-length" not in headers:
        headers["content-length"] = str(len(answer.body))
    listed = [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": listed})
    body = b"" if request.method == "HEAD" else answer.body
    await send({"type": "http.response.body", "body": body, "more_body": not is_last})
