"""The console beside `paceline up`: a process of its own, so that what it draws takes no time of the sandbox's."""

from __future__ import annotations

import os
import subprocess  # nosec B404 # (our own command alone)
import sys

from sandbox.server.listening import PortTaken, listen

_COMMAND = (sys.executable, "-c", "from console.cli import main; main()", "console")
_GRACE_SECONDS = 5


class ConsoleBeside:
    """`paceline console` on this machine only. port: 0 is any; so is one that is taken."""

    def __init__(self, port: int) -> None:
        try:
            self._listening = listen("127.0.0.1", port)
        except PortTaken:
            self._listening = listen("127.0.0.1", 0)
        # Where a browser finds it, from now on: who is too early waits.
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}/"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, address: str, key: str) -> None:
        """Start it. address: the sandbox's. key: the operator's, for everybody on this machine."""
        number = self._listening.fileno()
        others = {name: value for name, value in os.environ.items() if not name.startswith(("PACELINE_", "AWS_"))}
        self._process = subprocess.Popen(  # noqa: S603 # nosec B603 # (our own command)
            [*_COMMAND, "--endpoint-url", address, "--listening", str(number)],
            pass_fds=[number],
            stdin=subprocess.PIPE,  # it ends when this ends: also when we are killed
            env=others | {"PACELINE_KEY": key},
        )
        self._listening.close()

    def stop(self) -> None:
        """Stop it, and wait until it is gone."""
        if self._process is None:
            self._listening.close()
            return
        self._process.terminate()
        try:
            self._process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
