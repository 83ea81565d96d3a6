"""Real requests over real TLS: to the address that was judged and no other, as the host that was named."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from paceline.adapters.webhooks import HttpsWebhooks
from paceline.errors import AddressRefused, WebhookFailed
from tests.adapters.tls_server import TlsServer, a_tls_server, divert

HOST, PUBLIC, OTHER = "hooks.example.com", "93.184.216.34", "93.184.216.35"
URL = f"https://{HOST}/paceline?key=1%20a"
HEADERS = {"webhook-id": "evt_renewals_v1"}


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TlsServer]:
    with a_tls_server(HOST, tmp_path_factory.mktemp("tls")) as server:
        yield server


@pytest.fixture
def server(shared_server: TlsServer) -> TlsServer:
    shared_server.requests.clear()
    shared_server.names.clear()
    shared_server.connections, shared_server.answer = 0, b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
    return shared_server


def resolves(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Let the system's resolver give these answers one after the other, the last for ever; return who was asked for."""
    asked: list[str] = []

    def getaddrinfo(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        asked.append(host)
        found = answers[min(len(asked), len(answers)) - 1]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return asked


def post(server: TlsServer, url: str = URL) -> int:
    return HttpsWebhooks(server.trusted).post(url, HEADERS, '{"a":1}')


def test_the_request_goes_to_the_address_and_is_for_the_host(
    server: TlsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolves(monkeypatch, [PUBLIC])
    connected = divert(monkeypatch, {PUBLIC: server.port})

    status = post(server)

    request = b"".join(server.requests).decode()
    assert status == 200
    assert connected == [(PUBLIC, 443)]
    assert server.names == [HOST]
    assert request.startswith("POST /paceline?key=1%20a HTTP/1.1\r\n")
    assert f"\r\nhost: {HOST}\r\n" in request.lower()
    assert request.lower().count("\r\nhost:") == 1
    assert "\r\nwebhook-id: evt_renewals_v1\r\n" in request
    assert request.endswith('\r\n\r\n{"a":1}')


@pytest.mark.parametrize(
    "private", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "fe80::1%lo"]
)
def test_a_private_address_is_refused_before_anything_is_connected_to(
    server: TlsServer, monkeypatch: pytest.MonkeyPatch, private: str
) -> None:
    resolves(monkeypatch, [private])
    connected = divert(monkeypatch, {private: server.port})

    with pytest.raises(AddressRefused):
        post(server)

    assert connected == []
    assert server.connections == 0


def test_a_real_server_on_this_machine_is_refused_as_it_is_in_production(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is faked but the name: the real resolver, the real connection, the settings of `Services`."""
    getaddrinfo = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *a, **named: getaddrinfo("localhost", *a, **named))

    with pytest.raises(AddressRefused):
        HttpsWebhooks().post(URL, HEADERS, "{}")


def test_an_address_that_was_kept_under_other_rules_is_judged_by_those_of_today(
    server: TlsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = resolves(monkeypatch, [PUBLIC])
    connected = divert(monkeypatch, {PUBLIC: server.port})

    for url in ("http://hooks.example.com/", f"https://{PUBLIC}/", "https://hooks.example.com:22/"):
        with pytest.raises(AddressRefused):
            post(server, url)

    assert asked == connected == []


def test_one_private_address_among_public_ones_is_enough_to_refuse(
    server: TlsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolves(monkeypatch, [PUBLIC, "10.0.0.1"])
    connected = divert(monkeypatch, {PUBLIC: server.port})

    with pytest.raises(AddressRefused):
        post(server)

    assert connected == []


def test_a_name_that_is_private_at_the_second_look_is_not_looked_up_twice(
    server: TlsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = resolves(monkeypatch, [PUBLIC], ["127.0.0.1"])
    connected = divert(monkeypatch, {PUBLIC: server.port})

    status = post(server)

    assert status == 200
    assert connected == [(PUBLIC, 443)]
    assert asked == [HOST]


def test_a_redirect_to_a_private_address_is_an_answer_and_not_followed(
    server: TlsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = resolves(monkeypatch, [PUBLIC], ["127.0.0.1"])
    connected = divert(monkeypatch, {PUBLIC: server.port})
    server.answer = b"HTTP/1.1 307 T\r\nlocation: https://169.254.169.254/\r\ncontent-length: 0\r\n\r\n"

    status = post(server)

    assert status == 307
    assert connected == [(PUBLIC, 443)]
    assert asked == [HOST]


def test_a_certificate_for_another_host_is_refused(server: TlsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    resolves(monkeypatch, [PUBLIC])
    divert(monkeypatch, {PUBLIC: server.port})

    with pytest.raises(WebhookFailed) as failed:
        post(server, "https://other.example.com/")

    assert failed.value.evidence == {"reason": "certificate_not_valid"}
    assert server.requests == []


def test_two_hosts_of_one_address_never_share_a_connection(server: TlsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool goes by address: the second host's request would go over a connection verified for the first."""
    resolves(monkeypatch, [PUBLIC])
    divert(monkeypatch, {PUBLIC: server.port})
    server.answer = b"HTTP/1.1 204 No Content\r\n\r\n"
    webhooks = HttpsWebhooks(server.trusted)
    webhooks.post(URL, HEADERS, '{"a":1}')

    with pytest.raises(WebhookFailed):
        webhooks.post("https://other.example.com/", HEADERS, '{"a":2}')

    assert b'{"a":2}' not in b"".join(server.requests)


def test_a_certificate_that_nobody_vouches_for_is_refused(server: TlsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    resolves(monkeypatch, [PUBLIC])
    divert(monkeypatch, {PUBLIC: server.port})

    with pytest.raises(WebhookFailed) as failed:
        HttpsWebhooks().post(URL, HEADERS, '{"a":1}')

    assert failed.value.evidence == {"reason": "certificate_not_valid"}
    assert server.requests == []


def test_the_next_address_is_tried_where_nothing_answers_and_ipv6_comes_last(
    server: TlsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolves(monkeypatch, ["2606:2800::1", OTHER, PUBLIC])
    connected = divert(monkeypatch, {PUBLIC: server.port})

    status = post(server)

    assert status == 200
    assert connected == [(OTHER, 443), (PUBLIC, 443)]


def test_a_body_without_an_end_is_not_read(server: TlsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    resolves(monkeypatch, [PUBLIC])
    divert(monkeypatch, {PUBLIC: server.port})
    server.answer = b"HTTP/1.1 200 OK\r\ncontent-length: 999999999999\r\n\r\nthe first of many"

    assert post(server) == 200


def test_a_head_without_an_end_is_given_up(server: TlsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    resolves(monkeypatch, [PUBLIC])
    divert(monkeypatch, {PUBLIC: server.port})
    server.answer = b"HTTP/1.1 200 OK\r\nx: " + b"a" * 300_000

    with pytest.raises(WebhookFailed) as failed:
        post(server)

    assert failed.value.evidence == {"reason": "connection_broken"}


@pytest.mark.parametrize(
    ("answers", "reason"), [([], "no_such_host"), ([OTHER], "cannot_connect")], ids=["no such name", "nothing there"]
)
def test_a_server_that_is_not_there_may_be_there_later(
    server: TlsServer, monkeypatch: pytest.MonkeyPatch, answers: list[str], reason: str
) -> None:
    resolves(monkeypatch, answers)
    divert(monkeypatch, {})

    with pytest.raises(WebhookFailed) as failed:
        post(server)

    assert failed.value.evidence == {"reason": reason}


def test_no_proxy_of_the_environment_is_used(server: TlsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    resolves(monkeypatch, [PUBLIC])
    connected = divert(monkeypatch, {PUBLIC: server.port})

    post(server)

    assert connected == [(PUBLIC, 443)]


def test_no_error_tells_the_address_whose_path_may_be_secret(
    server: TlsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolves(monkeypatch, [PUBLIC])
    divert(monkeypatch, {})

    with pytest.raises(WebhookFailed) as failed:
        post(server, f"https://{HOST}/token-0123456789")

    assert "token" not in str(failed.value)
    assert "token" not in str(failed.value.evidence)
