"""Serving the console: where it listens, by which names it is called, and that nobody's key goes in the clear."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import click
import uvicorn

from console.reach import CannotReach, System, Where
from console.web.app import console_app
from console.web.site import Site
from sandbox.server.listening import PortTaken, is_every_address, is_loopback, listen

# A page may be a second behind; the sandbox answers in milliseconds, AWS counts and charges calls.
EVERY_SECONDS, EVERY_SECONDS_ON_AWS = 0.4, 2.0
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class ConsoleOptions:
    """The command's options. every: None: as fits the system. listening: a socket that the process which started the
    console has already; it is announced there, and the console ends with that process.
    """

    url: str = ""
    host: str = "127.0.0.1"
    port: int = 0
    hosts: Sequence[str] = ()
    certificate: Path | None = None
    private_key: Path | None = None
    behind_proxy: bool = False
    every: float | None = None
    listening: int | None = None
    is_json: bool = False


def serve(where: Where, system: System, options: ConsoleOptions, key: str) -> int:
    """Serve until a signal. key: an operator's, for everybody who reaches the console; "": each signs in.

    Return the exit status. Raises: CannotReach, UsageError.
    """
    check(options, key)
    listening = _listen(options)
    is_secure = options.certificate is not None or options.behind_proxy
    address = _address(options, listening.getsockname()[1])
    app = console_app(_site(where, system, options, key), _names(options), is_secure=is_secure)
    config = uvicorn.Config(
        app,
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
        ssl_certfile=options.certificate,
        ssl_keyfile=options.private_key,
        proxy_headers=options.behind_proxy,
    )
    if options.listening is None:
        _announce(address, system, options, key)
    else:
        Thread(target=_end_with_parent, daemon=True).start()
    uvicorn.Server(config).run(sockets=[listening])
    return 0


def _listen(options: ConsoleOptions) -> socket.socket:
    if options.listening is not None:
        return socket.socket(fileno=options.listening)
    try:
        return listen(options.host, options.port)
    except PortTaken:
        raise CannotReach(
            f"Port {options.port} on {options.host} is taken, perhaps by another console. Choose another: --port 0 "
            "takes any free one."
        ) from None
    except OSError as error:
        raise CannotReach(f"Nothing can listen on {options.host} port {options.port}: {error.strerror}.") from error


def _end_with_parent() -> None:
    """Wait until the process that started this one closes our input, as its end does, and end too."""
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


def check(options: ConsoleOptions, key: str) -> None:
    """Raise UsageError, where a key would go in the clear, or be everybody's on a network."""
    if (options.certificate is None) != (options.private_key is None):
        raise click.UsageError("--tls-certificate and --tls-key belong together: give both.")
    if is_loopback(options.host):
        return
    if options.certificate is None and not options.behind_proxy:
        raise click.UsageError(
            f"{options.host} can be reached from other machines, and keys would go there unencrypted: give "
            "--tls-certificate and --tls-key, or --behind-proxy where a proxy speaks https."
        )
    if key:
        raise click.UsageError(
            f"{options.host} can be reached from other machines, and PACELINE_KEY would be everybody's there: unset "
            "it, and each person signs in with the own key."
        )


def _site(where: Where, system: System, options: ConsoleOptions, key: str) -> Site:
    every = EVERY_SECONDS if where.endpoint_url else EVERY_SECONDS_ON_AWS
    url = options.url or where.endpoint_url or system.api_url
    if not url:
        raise CannotReach("Which API? Give --url (or PACELINE_URL), or --stack, whose output ApiUrl names it.")
    return Site(where, system, url, key, options.every or every)


def _names(options: ConsoleOptions) -> frozenset[str]:
    own = _LOOPBACK if is_loopback(options.host) else _LOOPBACK | {options.host}
    return frozenset(name.lower() for name in {*own, *options.hosts})


def _address(options: ConsoleOptions, port: int) -> str:
    host = "127.0.0.1" if options.host == "localhost" or is_every_address(options.host) else options.host
    host = f"[{host}]" if ":" in host else host
    return f"{'https' if options.certificate else 'http'}://{host}:{port}/"


def _announce(address: str, system: System, options: ConsoleOptions, key: str) -> None:
    if options.is_json:
        click.echo(json.dumps({"console": address, "signs_in": not key}))
    else:
        signs = "your key is used" if key else "sign in with an operator's key"
        click.echo(f"Paceline's console of {system.name}: {address}  ({signs}; Ctrl-C stops it)")
    sys.stdout.flush()
