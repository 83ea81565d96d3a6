"""Serving until a signal: the socket, the web server, and an end without loose threads."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from typing import Any

import uvicorn

from sandbox.server.app import AsgiApp
from sandbox.server.protocol import MAX_HEAD_BYTES, PatientProtocol

# How long requests that are still open may take when the server is told to stop.
GRACE_SECONDS = 3
# Longer than clients keep an idle connection, so that the client is the one that closes it.
KEEP_ALIVE_SECONDS = 75


class WebServer:
    """uvicorn on a socket, told to stop by SIGINT, SIGTERM or `stop`."""

    def __init__(self) -> None:
        self._server: uvicorn.Server | None = None
        self._is_stopped = False

    def take_signals(self) -> None:
        """Let SIGINT and SIGTERM end the process with SystemExit until it serves, and `serve` from then on."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def serve(self, app: AsgiApp, listening: socket.socket, on_ready: Callable[[], None]) -> None:
        """Serve until told to stop, then let open requests end."""
        config = uvicorn.Config(
            app,
            http=PatientProtocol,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
            ws="none",
            lifespan="off",
            log_level="error",
            access_log=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        self._server = uvicorn.Server(config)
        if self._is_stopped:
            return
        on_ready()
        self._server.run(sockets=[listening])

    def stop(self) -> None:
        """Stop serving, or do not begin; from any thread."""
        self._is_stopped = True
        if self._server is not None:
            self._server.should_exit = True

    def _on_signal(self, number: int, frame: Any) -> None:
        """While it serves the signals are uvicorn's, which raises them again at its end: then they are done with."""
        if self._server is None:
            raise SystemExit(0)
        self.stop()
