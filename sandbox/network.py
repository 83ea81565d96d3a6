"""The network as the functions see it: the provider, our own API and a customer's server, in process; no other host.

What customers' addresses lead to is resolved by name first, so the network has names too. A request to a resolved
address is answered by the host that its Host header names, where that host has the address.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

import httpx
from httpx._transports import default as _default

from paceline.adapters.webhooks import HttpsWebhooks
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


@lru_cache
def _one_context(create: Callable[..., Any]) -> Callable[..., Any]:
    """One context a process: no connection uses it, and making one takes 0.04 s."""
    return lru_cache(create)


Host = Callable[[str, str, dict[str, str], bytes], Answer]


class Network:
    """Answers httpx's requests by host, in place of its transport."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._hosts: dict[str, Host] = {}
        self.names: dict[str, list[str]] = {}
        self._real: Callable[..., httpx.Response] | None = None
        self._real_resolve: Callable[[str], list[str]] | None = None

    def add(self, host: str, handle: Host, *addresses: str) -> None:
        """Let `handle` (method, url, headers, body) answer for a host. addresses: what its name leads to."""
        self._hosts[host] = handle
        self.names[host] = list(addresses)

    def resolve(self, host: str) -> list[str]:
        """Return a host's addresses; none for one that the sandbox does not have."""
        return list(self.names.get(host, ()))

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

        self._real_context = vars(_default)["create_ssl_context"]
        vars(_default)["create_ssl_context"] = _one_context(self._real_context)
        self._real = httpx.HTTPTransport.handle_request
        httpx.HTTPTransport.handle_request = handle_request  # type: ignore[method-assign]
        self._real_resolve = HttpsWebhooks.resolve
        HttpsWebhooks.resolve = staticmethod(self.resolve)  # type: ignore[method-assign]

    def _by_name(self, url: httpx.URL, host: str) -> httpx.URL:
        """Return the URL with the name of the host that a request to an address is meant for."""
        return url.copy_with(host=host) if url.host in self.names.get(host, ()) else url

    def _send(self, functions: Functions, faults: Faults, request: httpx.Request) -> Answer:
        url = self._by_name(request.url, request.headers["host"])

        def act() -> Answer:
            return self.request(request.method, str(url), dict(request.headers), request.read())

        if (invocation := functions.running()) is None:
            return act()
        call = f"{request.method} {url.host}"
        return faults.meet(
            invocation.function.folder,
            call,
            act,
            kill=functions.kill_running,
            orphan=functions.orphan_running,
            refuse=self._refuse,
            is_idempotent=True,
        )

    def _refuse(self, fault: Fault) -> Answer:
        if fault in _REFUSED:
            return _REFUSED[fault]
        self._scheduler.sleep(LOST_SECONDS)
        raise httpx.ReadTimeout("the answer did not come")

    def uninstall(self) -> None:
        if self._real is not None and self._real_resolve is not None:
            httpx.HTTPTransport.handle_request = self._real  # type: ignore[method-assign]
            vars(_default)["create_ssl_context"] = self._real_context
            HttpsWebhooks.resolve = staticmethod(self._real_resolve)  # type: ignore[method-assign, assignment]
            self._real = self._real_resolve = None
