"""`paceline up` as a process: started, asked, stopped."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "from console.cli import main; main()", "up"]


@dataclass
class Server:
    """A running server and what it said at its start."""

    process: subprocess.Popen[str]
    facts: dict[str, Any]

    @property
    def address(self) -> str:
        return str(self.facts["address"])

    @property
    def console(self) -> str:
        return str(self.facts["console"]).rstrip("/")

    @property
    def machine_arn(self) -> str:
        return str(self.facts["outputs"]["CampaignStateMachineArn"])

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Send a signal and return the exit status and what was said on stderr."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=20)
        return self.process.returncode, said


def start_server(*options: str, has_console: bool = False) -> Server:
    """Start a server on a free port and wait until it says that it serves."""
    process = run_up("--port", "0", "--json", *([] if has_console else ["--no-console"]), *options)
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise AssertionError(f"the server did not start: {process.communicate()[1]}")
    return Server(process, json.loads(line))


def run_up(*options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 (our own command)
        [*COMMAND, *options], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def until(look: Callable[[], Any], seconds: float = 15.0) -> Any:
    """Look again and again until there is something; return it."""
    end = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < end, "it did not come about in time"
        time.sleep(0.05)
    return found
