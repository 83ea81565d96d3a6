"""A server of its own process for each test worker, and clients that only know its address."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import boto3
import pytest
from botocore.config import Config
from server_process import Server, start_server

# Virtual seconds a second: a campaign of minutes takes seconds, and its waits are still lived through.
SPEED = 300


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    running = start_server("--clock", "wall", "--speed", str(SPEED))
    yield running
    running.stop()


@pytest.fixture(scope="session")
def client(server: Server) -> Any:
    """Return a function that makes a boto3 client of the server; it tries once, so that no fault is hidden."""
    session = boto3.session.Session()

    @cache
    def make(service: str, **settings: Any) -> Any:
        config = Config(retries={"total_max_attempts": 1}, read_timeout=20, **settings)
        return session.client(
            service,
            endpoint_url=server.address,
            region_name="us-east-1",
            aws_access_key_id="any",
            aws_secret_access_key="any",  # noqa: S106 (no signature is verified)
            config=config,
        )

    return make
