"""The process: how it starts, refuses and ends."""

from __future__ import annotations

import signal
import socket

import requests
from server_process import run_up, start_server, until


def test_taken_port_is_said_with_what_to_do() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        process = run_up("--port", str(port))
        _, said = process.communicate(timeout=20)

    assert process.returncode == 2
    assert f"port {port} on 127.0.0.1 is taken" in said
    assert "--port" in said


def test_address_that_is_not_here_is_said() -> None:
    process = run_up("--host", "192.0.2.1", "--port", "0")
    _, said = process.communicate(timeout=20)

    assert process.returncode == 2
    assert "192.0.2.1" in said


def test_ctrl_c_ends_it_cleanly_and_an_open_address_is_warned_of() -> None:
    server = start_server("--host", "0.0.0.0")  # noqa: S104 (what is tested)
    key = {"x-api-key": server.facts["customer_key"]}
    with requests.Session() as session:  # its connection stays open
        assert session.get(f"{server.address}/v1/account", headers=key, timeout=10).status_code == 200

        status, said = server.stop(signal.SIGINT)

    assert status == 0
    assert said.endswith("Stopped. Nothing was kept.\n")
    assert "Warning: 0.0.0.0" in said
    assert "Traceback" not in said


def test_ctrl_c_while_it_sets_up_ends_it_too() -> None:
    process = run_up("--port", "0")
    assert process.stderr is not None
    until(lambda: "Setting up" in process.stderr.readline())

    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)

    assert process.returncode == 0
    assert "Traceback" not in said
