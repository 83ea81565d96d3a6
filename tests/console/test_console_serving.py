"""Where the console may be served, and with whose key: nobody's key goes over a network unencrypted or to everybody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest
import uvicorn
from click.testing import CliRunner

from console.cli import main
from console.reach import Where
from console.web.beside import ConsoleBeside
from console.web.serving import ConsoleOptions, serve
from tests.builders.console import KEY, a_system

EVERY = "0.0.0.0"  # noqa: S104 # (nothing listens there: it is refused)
SANDBOX = Where(endpoint_url="http://127.0.0.1:4600")


@pytest.fixture(autouse=True)
def nothing_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(server: uvicorn.Server, sockets: Any) -> None:
        pytest.fail("it is served")

    monkeypatch.setattr(uvicorn.Server, "run", run)


def refused(key: str = "", **options: Any) -> str:
    with pytest.raises(click.UsageError) as why:
        serve(SANDBOX, a_system(), ConsoleOptions(**options), key)
    return why.value.message


@pytest.mark.parametrize("host", [EVERY, "::", "192.0.2.1", "console.example"])
def test_off_this_machine_it_needs_https(host: str) -> None:
    assert "unencrypted" in refused(host=host)


@pytest.mark.parametrize(
    "https",
    [{"behind_proxy": True}, {"certificate": Path("c.pem"), "private_key": Path("k.pem")}],
    ids=["proxy", "own"],
)
def test_off_this_machine_no_key_is_everybodys(https: dict[str, Any]) -> None:
    assert "PACELINE_KEY would be everybody's" in refused(KEY, host=EVERY, **https)


@pytest.mark.parametrize("half", [{"certificate": Path("c.pem")}, {"private_key": Path("k.pem")}])
def test_a_certificate_and_its_key_belong_together(half: dict[str, Path]) -> None:
    assert "belong together" in refused(**half)


def test_the_sandbox_and_aws_are_two_systems() -> None:
    done = CliRunner().invoke(main, ["console", "--sandbox", "--aws-profile", "production"])

    assert done.exit_code == 2
    assert "two systems" in done.output


def test_beside_the_sandbox_it_is_on_this_machine_only() -> None:
    beside = ConsoleBeside(0)
    try:
        assert beside.address.startswith("http://127.0.0.1:")
    finally:
        beside.stop()
