"""Lambda's runtime API, as its documentation has it, for one invocation of one function by Lambda's own client.

https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any

BASE = "/2018-06-01/runtime"
REQUEST_ID = "8476a536-e9f4-11e8-9739-2dfe598c3fcd"


@dataclass(frozen=True)
class Answer:
    """What a function's process said. kind: `response`, `error` (of the invocation) or `init`."""

    kind: str
    content: Any


class RuntimeApi(ThreadingHTTPServer):
    """Gives one event, takes one answer, and lets who asks for the next event wait."""

    daemon_threads = True

    def __init__(self, event: Any) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.event: Any = event
        self.answers: Queue[Answer] = Queue()
        self.given, self.over = Event(), Event()


class _Handler(BaseHTTPRequestHandler):
    server: RuntimeApi

    def do_GET(self) -> None:
        assert self.path == f"{BASE}/invocation/next"
        if self.server.given.is_set():
            self.server.over.wait()
            return
        self.server.given.set()
        deadline = round((time.time() + 20) * 1000)
        head = {"Aws-Request-Id": REQUEST_ID, "Deadline-Ms": str(deadline), "Trace-Id": "Root=1-5bef4de7;Sampled=0"}
        head["Invoked-Function-Arn"] = "arn:aws:lambda:us-east-1:123456789012:function:tested"
        self._reply(200, json.dumps(self.server.event).encode(), {f"Lambda-Runtime-{k}": v for k, v in head.items()})

    def do_POST(self) -> None:
        content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        kinds = {f"{BASE}/invocation/{REQUEST_ID}/{kind}": kind for kind in ("response", "error")}
        self.server.answers.put(Answer({f"{BASE}/init/error": "init", **kinds}[self.path], content))
        self._reply(202, b'{"status": "OK"}', {})

    def _reply(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), "Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def _served(event: Any) -> Iterator[RuntimeApi]:
    api = RuntimeApi(event)
    Thread(target=api.serve_forever, daemon=True).start()
    try:
        yield api
    finally:
        api.over.set()
        api.shutdown()
        api.server_close()


def invoke(handler: str, event: Any, path: list[Path], environment: dict[str, str], seconds: float = 60) -> Answer:
    """Start a function under awslambdaric, as Lambda does, with an event; return its answer. path: Python's."""
    with _served(event) as api:
        here = {"AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{api.server_port}", "LAMBDA_TASK_ROOT": str(path[0])}
        lambda_s = {"AWS_LAMBDA_FUNCTION_NAME": "tested", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512", "_HANDLER": handler}
        process = subprocess.Popen(  # noqa: S603 (our own command)
            [sys.executable, "-S", "-m", "awslambdaric", handler],
            env=environment | here | lambda_s | {"PYTHONPATH": ":".join(map(str, path))},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        try:
            return api.answers.get(timeout=seconds)
        except Empty:
            process.kill()
            raise AssertionError(f"{handler} did not answer: {process.communicate()[0].decode()}") from None
        finally:
            process.kill()
            process.communicate()
