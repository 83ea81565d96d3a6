"""The command's own help: quick, complete, and the same as each command says of itself."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

from console.cli import COMMANDS, main

HEAVY = {"boto3", "moto", "paceline", "samtranslator", "rich", "pydantic", "httpx", "matplotlib", "cfnlint"}


def test_the_help_imports_nothing_that_only_a_command_needs() -> None:
    code = (
        "import sys; from click.testing import CliRunner; from console.cli import main; "
        f"print(CliRunner().invoke(main, ['--help']).exit_code, *{HEAVY!r} & set(sys.modules))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603

    assert done.stdout.split() == ["0"]


def test_the_help_has_every_command_with_a_whole_sentence() -> None:
    shown = CliRunner().invoke(main, ["--help"], terminal_width=100).output

    for name, place in COMMANDS.items():
        assert f"  {name} " in shown
        assert place.what in shown
        assert place.what.endswith(".")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_where_the_list_says(name: str) -> None:
    done = CliRunner().invoke(main, [name, "--help"])

    assert done.exit_code == 0
    assert done.output.startswith(f"Usage: main {name} ")


def test_a_command_that_is_not_there_is_refused() -> None:
    assert "No such command 'pla'" in CliRunner().invoke(main, ["pla"]).output
