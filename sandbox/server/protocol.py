"""uvicorn's HTTP/1.1, that neither waits for ever for the head of a request nor refuses one without saying why."""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from sandbox.server.exchange import USUAL

MAX_HEAD_BYTES = 64 * 1024


class PatientProtocol(H11Protocol):
    """A connection: the head of each request has to be there in time, and is of bounded size."""

    # uvicorn itself waits for ever: for a first byte, and once it is there for the rest.
    patience = USUAL
    _head_timer: asyncio.TimerHandle | None = None
    _is_refused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        self._watch_head()

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            return
        super().data_received(data)
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """uvicorn's answer to what is no HTTP, with a reason."""
        if len(self.conn.trailing_data[0]) > MAX_HEAD_BYTES:
            self._refuse(431, f"The address and the headers have more than {MAX_HEAD_BYTES:,} bytes.")
        else:
            self._refuse(400, "This is no HTTP request; look at its first line, its headers and Content-Length.")

    def _watch_head(self) -> None:
        """Let the time run while a head is awaited. Between two requests it is uvicorn's keep-alive that runs."""
        if self.conn.their_state is not h11.IDLE:
            self._stop_watching()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(self.patience.seconds, self._head_is_late)

    def _stop_watching(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_is_late(self) -> None:
        self._head_timer = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self._refuse(408, "The request's headers came too slowly.")

    def _refuse(self, status: int, message: str) -> None:
        """Answer, where an answer can still be given, and close; what is still sent is forgotten."""
        self._is_refused = True
        body = json.dumps({"message": message}).encode()
        headers: list[Any] = [("content-type", "application/json"), ("content-length", str(len(body)))]
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            response = h11.Response(
                status_code=status, headers=[*headers, ("connection", "close")], reason=HTTPStatus(status).phrase
            )
            for event in (response, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        if self.transport.can_write_eof() and not self.transport.is_closing():
            self.transport.write_eof()
        self.loop.call_later(self.patience.linger_seconds, self.transport.close)
