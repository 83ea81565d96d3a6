"""Clients that are slow, that leave, that announce or send too much: refused clearly, in bounded time and memory."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from sandbox.gateway import Answer
from sandbox.scheduler import Scheduler
from sandbox.server.app import ServerApp
from sandbox.server.exchange import HungUp, Patience, TooLarge, TooSlow, most_bytes, read_body
from sandbox.server.listening import listen
from sandbox.server.protocol import MAX_HEAD_BYTES, PatientProtocol
from sandbox.server.requests import Request
from sandbox.server.serving import WebServer
from sandbox.server.world_thread import WorldThread

SECONDS = 0.15
PATIENCE = Patience(SECONDS, 1000, linger_seconds=0.2)
answered: list[tuple[str, int]] = []


@contextmanager
def only_a_clock() -> Iterator[Any]:
    yield SimpleNamespace(scheduler=Scheduler(datetime(2026, 9, 2, tzinfo=UTC)), clock="virtual")


def note(request: Request, name: str, answer: Answer) -> None:
    answered.append((request.path, answer.status))


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Serve /health, by the server's own front, to clients that have little time."""
    world = WorldThread(only_a_clock)  # type: ignore[arg-type]
    world.begin()
    app = ServerApp(world, "http://127.0.0.1", on_answer=note, patience=PATIENCE)
    listening, web, ready = listen("127.0.0.1", 0), WebServer(), threading.Event()
    thread = threading.Thread(target=web.serve, args=(app, listening, ready.set))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PatientProtocol, "patience", PATIENCE)
        thread.start()
        ready.wait(5)
        yield listening.getsockname()[1]
        web.stop()
        thread.join(10)
    world.stop()


@pytest.fixture
def client(port: int) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        yield connection


def answers(client: socket.socket) -> list[int]:
    """Read until the server closes; return the answers' statuses."""
    said = b"".join(iter(lambda: client.recv(65536), b""))
    return [int(one.split(b" ", 1)[0]) for one in said.split(b"HTTP/1.1 ")[1:]]


def trickle(client: socket.socket, text: bytes) -> None:
    for byte in text:
        try:
            client.send(bytes([byte]))
        except OSError:  # it has been closed
            return
        time.sleep(0.01)


HEALTH = b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
POST = b"POST /health HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: %d\r\n\r\n"


def is_well(client: socket.socket) -> bool:
    """Ask for /health, and read the answer to its end."""
    client.sendall(HEALTH)
    said = b""
    while not said.endswith(b"}"):
        said += client.recv(65536)
    return said.startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    ("at_once", "slowly"),
    [
        (POST % 100, b"x" * 40),
        (b"GET /health HTTP/1.1\r\n", b"accept: text/plain, and so on"),
        (b"", b""),  # connects, and says nothing
    ],
    ids=["body", "headers", "nothing"],
)
def test_slow_client_is_told_so_and_cut_off(client: socket.socket, at_once: bytes, slowly: bytes) -> None:
    began = time.monotonic()
    client.sendall(at_once)
    trickle(client, slowly)

    assert answers(client)[-1] == 408
    assert time.monotonic() - began < SECONDS + 2


def test_connection_may_rest_between_requests_but_not_within_one(client: socket.socket) -> None:
    assert is_well(client)
    time.sleep(1.5 * SECONDS)

    assert is_well(client)
    trickle(client, HEALTH[:20])

    assert answers(client) == [408]


def test_client_that_leaves_in_the_middle_of_a_body_has_asked_for_nothing(client: socket.socket) -> None:
    answered.clear()
    client.sendall(POST % 100 + b"the half")

    client.shutdown(socket.SHUT_WR)

    assert answers(client) == []
    assert answered == []


def test_huge_announced_length_is_refused_before_a_byte_of_it_comes(client: socket.socket) -> None:
    client.sendall(POST % 10**15)

    assert client.recv(65536).startswith(b"HTTP/1.1 413 ")


def test_headers_without_end_are_refused_with_a_reason(client: socket.socket) -> None:
    client.sendall(b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: " + b"k" * 8 * MAX_HEAD_BYTES + b"\r\n\r\n")

    head, _, body = b"".join(iter(lambda: client.recv(65536), b"")).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 431 ")
    assert "more than 65,536 bytes" in json.loads(body)["message"]


def test_what_follows_a_body_is_no_part_of_it(client: socket.socket) -> None:
    client.sendall(POST.replace(b"POST", b"GET") % 4 + b"four and more\r\n\r\n")

    assert answers(client) == [200, 400]


async def _reads(*messages: dict[str, Any], most: int = 10, length: int = 0) -> bytes:
    left = iter(messages)

    async def receive() -> dict[str, Any]:
        if (message := next(left, None)) is None:
            await asyncio.sleep(5)
        return message or {}

    return await read_body(receive, [(b"content-length", b"%d" % length)], most, Patience(0.02, 1000))


def part(body: bytes, more: bool = True) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


def test_body_is_all_of_its_parts() -> None:
    assert asyncio.run(_reads(part(b"12345"), part(b"67890", more=False))) == b"1234567890"


@pytest.mark.parametrize(
    ("messages", "length", "error"),
    [
        ([part(b"12345"), part(b"678901", more=False)], 0, TooLarge),  # nothing was announced: it came in chunks
        ([], 11, TooLarge),
        ([part(b"1")], 5, TooSlow),
        ([part(b"1"), {"type": "http.disconnect"}], 5, HungUp),
    ],
)
def test_body_that_is_not_to_be_had_has_its_reason(messages: Any, length: int, error: type[Exception]) -> None:
    with pytest.raises(error):
        asyncio.run(_reads(*messages, length=length))


def test_an_upload_may_be_larger_than_a_request_to_the_api() -> None:
    assert most_bytes("/v1/campaigns") == 10 * 1024 * 1024
    assert most_bytes("/a-bucket") > 200 * 1024 * 1024
