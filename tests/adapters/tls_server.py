"""A TLS server on this machine with a certificate of its own making, and a network that leads to it."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


@dataclass
class TlsServer:
    """The server. answer: what it says to every request, as it goes over the wire."""

    port: int
    trusted: ssl.SSLContext
    answer: bytes = ANSWER
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)


def _certificate(host: str, folder: Path) -> tuple[Path, Path]:
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now = datetime.now()  # noqa: DTZ005 (the certificate's own, and as short)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(private)
    return paths


@contextmanager
def a_tls_server(host: str, folder: Path) -> Iterator[TlsServer]:
    """A server on 127.0.0.1 whose certificate is for `host`."""
    certificate, key = _certificate(host, folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = TlsServer(listening.getsockname()[1], ssl.create_default_context(cafile=str(certificate)))
        context.sni_callback = lambda _, name, __: server.names.append(name)
        thread = threading.Thread(target=_serve, args=(listening, context, server), daemon=True)
        thread.start()
        yield server
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def _serve(listening: socket.socket, context: ssl.SSLContext, server: TlsServer) -> None:
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:  # the test is over
            return
        server.connections += 1
        try:
            with context.wrap_socket(connection, server_side=True) as stream:
                while request := stream.recv(65536):
                    server.requests.append(request)
                    if request.endswith(b"}"):
                        stream.sendall(server.answer)
        except OSError:  # who called does not trust the certificate, or has seen enough
            continue


def divert(monkeypatch: pytest.MonkeyPatch, routes: dict[str, int]) -> list[tuple[str, int]]:
    """Lead connections to these addresses to ports of this machine, all others nowhere; return what was asked for."""
    asked = list[tuple[str, int]]()

    def connect_elsewhere(address: tuple[str, int], timeout: float, **_: Any) -> socket.socket:
        asked.append(address)
        if address[0] not in routes:
            raise ConnectionRefusedError(111, "nothing is there")
        made = socket.socket()
        made.settimeout(timeout)
        made.connect(("127.0.0.1", routes[address[0]]))
        return made

    monkeypatch.setattr(socket, "create_connection", connect_elsewhere)
    return asked
