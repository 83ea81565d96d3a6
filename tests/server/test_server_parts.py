"""The server's parts without a process: its thread, its front, whom a request is for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from sandbox.scheduler import Scheduler
from sandbox.server.app import ServerApp
from sandbox.server.listening import is_loopback
from sandbox.server.requests import Request, aws_service
from sandbox.server.world_thread import Stopped, WorldThread

SIGNED = "AWS4-HMAC-SHA256 Credential=any/20260902/eu-west-1/{}/aws4_request, SignedHeaders=host, Signature=0"


@contextmanager
def only_a_scheduler(clock: str = "virtual") -> Iterator[Any]:
    yield SimpleNamespace(scheduler=Scheduler(datetime(2026, 9, 2, tzinfo=UTC), clock))


@pytest.fixture
def world() -> Iterator[WorldThread]:
    thread = WorldThread(only_a_scheduler)  # type: ignore[arg-type]
    thread.begin()
    yield thread
    thread.stop()


def test_work_from_many_threads_is_done_one_at_a_time_in_the_worlds_thread(world: WorldThread) -> None:
    running: list[int] = []

    def work(number: int) -> tuple[int, str]:
        running.append(number)
        name = threading.current_thread().name
        assert running == [number]
        running.remove(number)
        world.sandbox.scheduler.sleep(60)
        return number, name

    answers = [world.submit(work, number) for number in range(20)]

    assert [answer.result(5) for answer in answers] == [(number, "sandbox") for number in range(20)]


def test_error_of_the_work_reaches_whoever_asked_and_the_world_goes_on(world: WorldThread) -> None:
    with pytest.raises(ZeroDivisionError):
        world.ask(lambda: 1 // 0)

    assert world.ask(lambda: "still here") == "still here"


def test_fault_of_the_world_ends_what_waits_for_it() -> None:
    ended = threading.Event()
    world = WorldThread(only_a_scheduler, on_end=ended.set)  # type: ignore[arg-type]
    world.begin()
    waits_for_ever = world.submit(lambda: world.sandbox.scheduler.future().wait())

    world.sandbox.scheduler.call_from_thread(lambda: 1 // 0)

    with pytest.raises(Stopped):
        waits_for_ever.result(5)
    assert ended.wait(5)
    assert isinstance(world.error, ZeroDivisionError)
    with pytest.raises(Stopped):
        world.ask(lambda: None)


def test_nothing_but_http_is_answered(world: WorldThread) -> None:
    async def unused(*_: Any) -> Any:
        raise AssertionError("it was answered")

    app = ServerApp(world, "http://127.0.0.1:4600")

    asyncio.run(app({"type": "websocket", "path": "/"}, unused, unused))


@pytest.mark.parametrize(
    ("method", "path", "query", "headers", "service"),
    [
        ("POST", "/", "", {"authorization": SIGNED.format("states")}, "states"),
        ("POST", "/", "", {"x-amz-target": "AWSStepFunctions.StartExecution"}, "states"),  # curl, not signed
        ("POST", "/", "", {"x-amz-target": "DynamoDB_20120810.PutItem"}, "dynamodb"),
        ("GET", "/b/k", "X-Amz-Credential=any%2F20260902%2Fus-east-1%2Fs3%2Faws4_request", {}, "s3"),
        ("GET", "/b/k", "AWSAccessKeyId=any&Signature=0&Expires=1", {}, "s3"),  # SigV2, boto3's default for presigned
        ("POST", "/b", "", {"content-type": "multipart/form-data; boundary=x"}, "s3"),
        ("POST", "/v1/x", "", {"content-type": "multipart/form-data; boundary=x"}, None),
        ("POST", "/2015-03-31/functions/f/invocations", "", {}, "lambda"),
        ("GET", "/v1/account", "", {"x-api-key": "k"}, None),
        ("GET", "/", "", {}, None),
    ],
)
def test_service_is_told_from_the_request(
    method: str, path: str, query: str, headers: dict[str, str], service: str | None
) -> None:
    assert aws_service(Request(method, path, query, headers, b"")) == service


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.1.2.3", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False)],  # noqa: S104
)
def test_only_this_machine_reaches_a_loopback_address(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected
