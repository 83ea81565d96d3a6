"""The network as the functions see it: the provider and our own API, in process; there is no other host."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from urllib.parse import urlsplit

import httpx
from httpx._transports import default as _default

from sandbox.faults import Fault, Faults
from sandbox.functions import Functions
from sandbox.gateway import Answer
from sandbox.scheduler import Scheduler

# How long a client waits for an answer that does not come.
LOST_SECONDS = 10.0

_REFUSED = {
    Fault.THROTTLED: Answer(429, {"retry-after": "5"}, b"{}"),
    Fault.FAILED: Answer(503, {}, b"{}"),
}

Host = Callable[[str, str, dict[str, str], bytes], Answer]


class Network:
    """Answers httpx's requests by host, in place of its transport."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._hosts: dict[str, Host] = {}
        self._real: Callable[..., httpx.Response] | None = None

    def add(self, host: str, handle: Host) -> None:
        """Let `handle` (method, url, headers, body) answer for a host."""
        self._hosts[host] = handle

    def request(self, method: str, url: str, headers: dict[str, str], body: bytes = b"") -> Answer:
        """Send one request. Raises: httpx.ConnectError for a host that the sandbox does not have."""
        host = urlsplit(url).netloc
        if host not in self._hosts:
            raise httpx.ConnectError(f"the sandbox has no host {host}")
        return self._hosts[host](method, url, headers, body)

    def install(self, functions: Functions, faults: Faults) -> None:
        """Take over httpx's transport until `uninstall`: what functions send goes as `faults` lets it."""
        network = self

        def handle_request(self: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
            answer = network._send(functions, faults, request)
            return httpx.Response(answer.status, headers=answer.headers, content=answer.body, request=request)

        self._real_context = vars(_default)["create_ssl_context"]  # no connection uses it, and making one takes 0.1 s
        vars(_default)["create_ssl_context"] = lru_cache(self._real_context)
        self._real = httpx.HTTPTransport.handle_request
        httpx.HTTPTransport.handle_request = handle_request  # type: ignore[method-assign]

    def _send(self, functions: Functions, faults: Faults, request: httpx.Request) -> Answer:
        def act() -> Answer:
            return self.request(request.method, str(request.url), dict(request.headers), request.read())

        if (invocation := functions.running()) is None:
            return act()
        call = f"{request.method} {request.url.host}"
        return faults.meet(
            invocation.function.folder, call, act, kill=functions.kill_running, refuse=self._refuse, is_idempotent=True
        )

    def _refuse(self, fault: Fault) -> Answer:
        if fault in _REFUSED:
            return _REFUSED[fault]
        self._scheduler.sleep(LOST_SECONDS)
        raise httpx.ReadTimeout("the answer did not come")

    def uninstall(self) -> None:
        if self._real is not None:
            httpx.HTTPTransport.handle_request = self._real  # type: ignore[method-assign]
            vars(_default)["create_ssl_context"] = self._real_context
            self._real = None
