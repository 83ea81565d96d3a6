"""docs/security.md: every threat has a test, and every test that it names is there and runs."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "security.md").read_text()
NAMED = sorted(set(re.findall(r"`(tests/[\w/.]+)::(\w+)`", TEXT)))
# Marks of tests that `make test` leaves out, or may.
LEFT_OUT = re.compile(r"\b(whole|stepfunctions_local|skip|skipif|xfail)\b")


@cache
def named_tests(path: str) -> dict[str, ast.FunctionDef]:
    """Return a file's tests by name: what pytest collects, as nothing here is in a class."""
    tree = ast.parse((ROOT / path).read_text())
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name[:5] == "test_"}


def threats() -> list[list[str]]:
    """Return the cells of every row below the heading "Threats"."""
    below = TEXT.partition("\n## Threats\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split(" | ") for line in below.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in rows if row[0].strip() != "Threat"]


@pytest.mark.parametrize(("path", "name"), NAMED, ids=[name for _, name in NAMED])
def test_a_test_that_is_named_is_there_and_runs(path: str, name: str) -> None:
    assert Path(path).name.startswith("test_")
    assert name in named_tests(path)
    assert not [mark for mark in named_tests(path)[name].decorator_list if LEFT_OUT.search(ast.unparse(mark))]


@pytest.mark.parametrize("row", threats(), ids=lambda row: row[0])
def test_a_threat_has_what_stops_it_and_a_test(row: list[str]) -> None:
    assert len(row) == 3
    assert row[1]
    assert re.search(r"`tests/[\w/.]+::\w+`", row[2])


def test_the_document_is_read() -> None:
    assert len(threats()) > 40
    assert len(NAMED) > 50


def test_both_tools_are_run_by_the_workflow() -> None:
    makefile, workflow = (ROOT / "Makefile").read_text(), (ROOT / ".github" / "workflows" / "ci.yml").read_text()

    for target, tool in (("check", "bandit"), ("audit", "pip-audit")):
        recipe = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
        assert recipe is not None
        assert f"$(BIN)/{tool} " in recipe[1]
        assert f"make {target}" in workflow
