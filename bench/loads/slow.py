"""Clients that send a byte a second, leave in the middle, announce too much: others wait no longer for it."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from typing import Any
from urllib.parse import urlsplit

import requests

from bench.loads.campaigns import Say
from bench.loads.served import Served, percentile_ms, served

SLOW, CALLS = 50, 100
# The server gives a body 20 s, and a refused client 2 s more; the rest is the machine's.
MOST_SECONDS = 30
# p50 of other clients' calls, with the slow ones and without; a machine that does other things has as much of its own.
MOST_RATIO = 1.5
MOST_GROWTH_MB = 10


def measure(say: Say) -> dict[str, Any]:
    """Meet all kinds; return figures and faults."""
    with served() as server:
        _waits(server, CALLS)
        without = percentile_ms(_waits(server, CALLS), 50)
        slow = asyncio.run(_beside_slow_ones(server))
        say(f"{SLOW} slow clients: {slow['ends']}, the last after {slow['seconds']} s")
        before = server.memory_mb()
        huge = asyncio.run(_announces(server, 10**12))
        growth = server.memory_mb() - before
        longer = asyncio.run(_sends_more_than_announced(server))
        half = _half_an_upload(server)
    ratio = round(slow.pop("p50_ms") / without, 2)
    faults = [f"slow clients ended so: {slow['ends']}"] * (set(slow["ends"]) - {"408", "closed"} != set())
    faults += [f"the last slow client was cut off after {slow['seconds']} s"] * (slow["seconds"] > MOST_SECONDS)
    faults += [f"others waited {ratio} times as long"] * (ratio > MOST_RATIO)
    faults += [f"1 TB announced was answered {huge}"] * (huge != 413)
    faults += [f"1 TB announced took {growth:.0f} MB"] * (growth > MOST_GROWTH_MB)
    faults += [f"a body longer than announced was answered {longer}"] * (longer != [200, 400])
    faults += [f"half an upload: {half}"] * (not half.startswith("4"))
    return {
        "slow_clients": SLOW,
        **slow,
        "p50_ms_without": without,
        "ratio": ratio,
        "announced_1_tb": huge,
        "growth_mb": round(growth, 1),
        "longer_than_announced": longer,
        "half_an_upload": half,
        "faults": faults,
    }


def _waits(server: Served, calls: int) -> list[float]:
    return [server.customer.ask("GET", "/account").seconds for _ in range(calls)]


async def _beside_slow_ones(server: Served) -> dict[str, Any]:
    """Let slow clients send, half of them to the bucket, and others ask meanwhile."""
    bucket = server.facts["outputs"]["BucketName"]
    slow = [
        asyncio.create_task(_byte_a_second(server, "/v1/campaigns" if n % 2 else f"/{bucket}")) for n in range(SLOW)
    ]
    await asyncio.sleep(1)
    waits = await asyncio.to_thread(_waits, server, CALLS)
    ended = await asyncio.gather(*slow)
    ends, last = Counter(end for end, _ in ended), max(seconds for _, seconds in ended)
    return {"ends": dict(ends), "seconds": round(last, 1), "p50_ms": percentile_ms(waits, 50)}


async def _byte_a_second(server: Served, path: str) -> tuple[str, float]:
    """Return how it ended (an answer's status, `closed`, or `served` where nobody stopped it) and after how long."""
    began = time.perf_counter()
    reader, writer = await _open(server)
    writer.write(_head(server, path, 1_000))
    answer = asyncio.create_task(reader.read())
    for _ in range(2 * MOST_SECONDS):
        writer.write(b"x")
        done, _pending = await asyncio.wait([answer], timeout=1)
        if done:
            break
    writer.close()
    return _end(answer), time.perf_counter() - began


def _end(answer: asyncio.Task[bytes]) -> str:
    if not answer.done():
        answer.cancel()
        return "served"
    try:
        return _statuses(answer.result())[-1] if answer.result() else "closed"
    except OSError:
        return "closed"


async def _announces(server: Served, length: int) -> int:
    reader, writer = await _open(server)
    writer.write(_head(server, "/v1/campaigns", length) + b"x" * 100_000)
    said = await reader.read(65536)
    writer.close()
    return int(_statuses(said)[0])


async def _sends_more_than_announced(server: Served) -> list[int]:
    reader, writer = await _open(server)
    body = b'{"name": "Longer", "message": "Hi"}'
    writer.write(_head(server, "/v1/campaigns", len(body)) + body + b"and more of it\r\n\r\n")
    said = await reader.read()
    writer.close()
    return [int(status) for status in _statuses(said)]


def _half_an_upload(server: Served) -> str:
    """Leave in the middle of an upload, by the form and by PUT; return how the campaign's start is answered."""
    customer = server.customer
    campaign = customer.post("/campaigns", {"name": "Half", "message": "Hi"})["campaign_id"]
    post = customer.post(f"/campaigns/{campaign}/upload")
    lines = ("phone\n" + "".join(f"+1202555{n:04d}\n" for n in range(100, 200))).encode()
    form = requests.Request("POST", post["url"], data=post["fields"], files={"file": lines}).prepare()
    assert isinstance(form.body, bytes)
    path = urlsplit(post["url"]).path or "/"
    head = _head(server, path, len(form.body), media_type=str(form.headers["content-type"]))
    asyncio.run(_leaves(server, head + form.body[: -len(lines) // 2]))
    bucket = server.facts["outputs"]["BucketName"]
    head = _head(server, f"/{bucket}/{post['fields']['key']}", len(lines), method="PUT", media_type="text/csv")
    asyncio.run(_leaves(server, head + lines[: len(lines) // 2]))
    started = customer.ask("POST", f"/campaigns/{campaign}/start")
    return f"{started.status} {started.body.get('detail', '')}"


async def _leaves(server: Served, request: bytes) -> None:
    _, writer = await _open(server)
    writer.write(request)
    await writer.drain()
    writer.close()
    await asyncio.sleep(0.5)


async def _open(server: Served) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    parts = urlsplit(server.address)
    return await asyncio.open_connection(parts.hostname, parts.port)


def _head(server: Served, path: str, length: int, method: str = "POST", media_type: str = "application/json") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"host: {urlsplit(server.address).netloc}"]
    lines += [f"x-api-key: {server.customer.key}"]
    lines += [f"content-type: {media_type}", f"content-length: {length}"]
    return "\r\n".join([*lines, "", ""]).encode()


def _statuses(said: bytes) -> list[str]:
    return [one[:3].decode() for one in said.split(b"HTTP/1.1 ")[1:]]
