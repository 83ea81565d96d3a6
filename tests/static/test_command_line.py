"""The command's own help: quick, complete, and the same as each command says of itself."""

from __future__ import annotations

import os
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


def test_a_shell_completes_commands_without_an_import_of_any() -> None:
    code = (
        "import sys; from click.shell_completion import shell_complete; from console.cli import main; "
        "shell_complete(main, {}, 'paceline', '_PACELINE_COMPLETE', 'zsh_complete'); "
        f"print('imported', *{HEAVY!r} & set(sys.modules))"
    )
    asked = {**os.environ, "COMP_WORDS": "paceline rou", "COMP_CWORD": "1"}

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=asked)  # noqa: S603

    lines = done.stdout.splitlines()
    assert ("routes" in lines, "route" in lines, "audit" in lines) == (True, True, False)
    assert COMMANDS["routes"].what in lines
    assert lines[-1] == "imported"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_of_a_shell_is_printed(shell: str) -> None:
    done = CliRunner().invoke(main, ["completion", shell])

    assert done.exit_code == 0
    assert f"_PACELINE_COMPLETE={shell}_complete" in done.output
