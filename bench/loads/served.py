"""`paceline up` in a process of its own, its memory, and clients that only know its address."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import requests

ROOT = Path(__file__).resolve().parents[2]
UP = [sys.executable, "-c", "from console.cli import main; main()", "up", "--port", "0", "--json"]


@dataclass(frozen=True)
class Answered:
    """An answer, and how long the client waited for it. seconds: of real time."""

    status: int
    seconds: float
    content: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.content)


@dataclass(frozen=True)
class Client:
    """A client of the API with one key: a kept connection for each thread, or a new one for each call."""

    address: str
    key: str
    is_kept: bool = True

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answered:
        """path: below /v1, or an address in full."""
        sent = {"x-api-key": self.key} | {name.replace("_", "-"): value for name, value in headers.items()}
        url = path if path.startswith("http") else f"{self.address}/v1{path}"
        began = time.perf_counter()
        answer = self._session().request(method, url, headers=sent, json=body, timeout=120)
        return Answered(answer.status_code, time.perf_counter() - began, answer.content)

    def get(self, path: str) -> Any:
        return _good("GET", path, self.ask("GET", path))

    def post(self, path: str, body: object = None, **headers: str) -> Any:
        return _good("POST", path, self.ask("POST", path, body, **headers))

    def pages(self, path: str, name: str) -> Iterator[Any]:
        """Yield the entries of a list, page by page."""
        after = ""
        while True:
            page = self.get(f"{path}?limit=99{after}")
            yield from page[name]
            if not page["next"]:
                return
            after = f"&after={page['next']}"

    def _session(self) -> Any:
        if not self.is_kept:
            return requests
        if not hasattr(_OF_THREAD, "session"):
            _OF_THREAD.session = requests.Session()
        return _OF_THREAD.session


_OF_THREAD = threading.local()


def _good(method: str, path: str, answer: Answered) -> Any:
    if answer.status >= 300:
        raise SystemExit(f"{method} {path} was answered {answer.status}: {answer.content[:300]!r}")
    return answer.body


@dataclass(frozen=True)
class Served:
    """A server that runs. Memory in MB, from /proc: of its process only."""

    process: subprocess.Popen[str]
    facts: dict[str, Any]

    @property
    def address(self) -> str:
        return str(self.facts["address"])

    @property
    def customer(self) -> Client:
        return Client(self.address, self.facts["customer_key"])

    @property
    def operator(self) -> Client:
        return Client(self.address, self.facts["operator_key"])

    @property
    def console(self) -> str:
        return str(self.facts["console"]).rstrip("/")

    def cpu_seconds(self) -> float:
        """Return the processor time that the process has taken, without those it started."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self) -> float:
        return self._status("VmRSS")

    def peak_mb(self) -> float:
        return self._status("VmHWM")

    def clock(self) -> datetime:
        """Return what the sandbox's clock says."""
        return datetime.fromisoformat(requests.get(f"{self.address}/health", timeout=120).json()["now"])

    def book(self) -> list[dict[str, Any]]:
        """Return the simulated provider's list of all messages that it accepted."""
        path = f"/2010-04-01/Accounts/AC{'0' * 32}/Messages.json?PageSize=1000"
        found: list[dict[str, Any]] = []
        while path:
            page = requests.get(self.address + path, timeout=120).json()
            found, path = found + page["messages"], page["next_page_uri"]
        return found

    def workflows(self, operation: str, **parameters: Any) -> Any:
        """Call Step Functions as any client does. Raises: requests.HTTPError."""
        headers = {"x-amz-target": f"AWSStepFunctions.{operation}", "content-type": "application/x-amz-json-1.0"}
        answer = requests.post(self.address, json=parameters, headers=headers, timeout=120)
        answer.raise_for_status()
        return answer.json()

    def _status(self, name: str) -> float:
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{name}:"))


@contextmanager
def served(*options: str, has_console: bool = False) -> Iterator[Served]:
    """Serve the sandbox until the end of the block."""
    command = [*UP, *([] if has_console else ["--no-console"]), *options]
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'functions'}"}
    streams: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, **streams)  # noqa: S603 (our own command)
    try:
        assert process.stdout is not None
        yield Served(process, json.loads(process.stdout.readline()))
    finally:
        process.terminate()
        process.wait(timeout=30)


def percentile_ms(seconds: Sequence[float], percent: int) -> float:
    """Return a percentile of waits, in milliseconds."""
    if len(seconds) < 2:
        return round(1000 * sum(seconds), 1)
    return round(1000 * statistics.quantiles(seconds, n=100, method="inclusive")[percent - 1], 1)
