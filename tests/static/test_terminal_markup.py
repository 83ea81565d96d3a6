"""What a customer wrote (names, headings of files) is printed as it is: no console reads it as rich's markup."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from console.terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "console").rglob("*.py"))


def consoles(path: Path) -> list[ast.Call]:
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    return [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "Console"]


def test_every_console_takes_what_it_prints_for_text() -> None:
    found = [call for path in SOURCES for call in consoles(path)]
    plain = {keyword.arg: ast.unparse(keyword.value) for call in found for keyword in call.keywords}

    assert len(found) > 5
    assert plain["markup"] == "False"
    assert [ast.unparse(call) for call in found if "markup=False" not in ast.unparse(call)] == []


def test_what_reads_as_markup_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    told = "headings '[/]', '[bold]' and '[link=http://evil.example]here[/link]'"
    planned = {"leads": dict.fromkeys(("in", "accepted", "rejected", "duplicates", "opted_out"), 0), "parts": 0}

    with Terminal(quiet=False).progress() as bar:
        bar.planned(planned | {"warnings": [told]})

    assert told in capsys.readouterr().err
