"""Requests to customers' servers: never to a private address, never through a redirect, never for long.

A name is resolved once, here. Every address that it has must be public, and the connection goes to exactly those: the
request is made to the IP address, with the name in its Host header and in TLS, so that no library below asks again.
Nothing of the environment (proxies, .netrc) is read.
"""

from __future__ import annotations

import socket
import ssl
from functools import cached_property
from ipaddress import ip_address

import httpx

from paceline.errors import AddressRefused, WebhookFailed
from paceline.webhooks.public import is_public
from paceline.webhooks.urls import PORT, Target, target_of

# Seconds for each step. The standard advises 15 to 30 for the whole; the function's own time-out ends what drips.
TIMEOUT = httpx.Timeout(10.0, connect=3.0)
# A host that is down may have others beside it: so many are tried.
MAX_ADDRESSES = 2
USER_AGENT = "Paceline-Webhooks/1"


class HttpsWebhooks:
    """A `paceline.ports.Webhooks`. trusted: whose certificates are believed; None: the public authorities'."""

    def __init__(self, trusted: ssl.SSLContext | None = None) -> None:
        self._trusted = trusted

    @cached_property
    def _client(self) -> httpx.Client:
        return httpx.Client(
            verify=self._trusted or True,
            timeout=TIMEOUT,
            follow_redirects=False,
            trust_env=False,
            # One connection a request: the pool would go by the IP address, and so send one host's request over a
            # connection whose certificate was another's.
            limits=httpx.Limits(max_keepalive_connections=0),
            headers={"user-agent": USER_AGENT, "accept": "*/*"},
        )

    def post(self, url: str, headers: dict[str, str], body: str) -> int:
        """Send one request; return the answer's status. Of the answer nothing but its head is read.

        Raises: AddressRefused, before anything is sent; WebhookFailed, where no answer came.
        """
        target = _judged(url)
        for last, address in _marking_last(self._addresses_of(target.host)):
            try:
                return self._post_to(address, target.host, target.path, headers, body)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:  # nothing had left
                if last:
                    raise _failed(error) from error
            except httpx.HTTPError as error:
                raise _failed(error) from error
        raise AssertionError("unreachable: a name without addresses is refused before")

    def _post_to(self, address: str, host: str, path: str, headers: dict[str, str], body: str) -> int:
        url = httpx.URL(scheme="https", host=address, port=PORT, raw_path=path.encode())
        sent = {"host": host, "content-type": "application/json", **headers}
        request = self._client.build_request(
            "POST", url, headers=sent, content=body.encode(), extensions={"sni_hostname": host}
        )
        response = self._client.send(request, stream=True)
        try:
            return response.status_code
        finally:
            response.close()  # unread: a body without end is none of ours

    def _addresses_of(self, host: str) -> list[str]:
        found = self.resolve(host)
        if not found:
            raise WebhookFailed("the host's name leads nowhere", reason="no_such_host")
        # One private address among public ones is no accident to send around: it is how rebinding begins.
        if not all(is_public(address) for address in found):
            raise AddressRefused("the host's name leads to an address that is not public", reason="address_not_public")
        # IPv4 first: a function outside a VPC has no way out by IPv6.
        return sorted(found, key=lambda address: ip_address(address).version)[:MAX_ADDRESSES]

    @staticmethod
    def resolve(host: str) -> list[str]:
        """Return the IP addresses of a host, as the system knows them now; none where it knows none."""
        try:
            found = socket.getaddrinfo(host, PORT, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            return []
        return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _judged(url: str) -> Target:
    """Return the address taken apart, by today's rules: it was set by those of its day."""
    try:
        return target_of(url)
    except ValueError:
        raise AddressRefused("the address is none that is called", reason="address_not_allowed") from None


def _marking_last(addresses: list[str]) -> list[tuple[bool, str]]:
    return [(number == len(addresses), address) for number, address in enumerate(addresses, start=1)]


def _failed(error: httpx.HTTPError) -> WebhookFailed:
    """Return the failure in our words. The library's own may hold the address, whose path a customer keeps secret."""
    if "certificate" in str(error).lower():
        reason = "certificate_not_valid"
    elif isinstance(error, httpx.TimeoutException):
        reason = "timed_out"
    else:
        reason = "cannot_connect" if isinstance(error, httpx.ConnectError) else "connection_broken"
    return WebhookFailed("the customer's server did not answer", reason=reason)
