"""What runs a change's checks elsewhere (.github/, .pre-commit-config.yaml) is what the Makefile runs here."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from sandbox.deployment import ROOT

TEXT = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
WORKFLOW: dict[str, Any] = yaml.safe_load(TEXT)
HOOKS = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
MAKEFILE = (ROOT / "Makefile").read_text()
JOBS = sorted(WORKFLOW["jobs"])


def recipe(target: str) -> list[str]:
    """Return the commands of a target of the Makefile."""
    found = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    assert found
    return [line.strip().replace("$(BIN)", ".venv/bin") for line in found[1].splitlines()]


def test_hooks_before_a_commit_are_the_commands_of_make_check() -> None:
    [local] = HOOKS

    assert local["repo"] == "local", "their versions are the lock's"
    assert {hook["language"] for hook in local["hooks"]} == {"system"}
    assert [hook["entry"] for hook in local["hooks"]] == recipe("check")


def test_every_target_that_a_job_makes_is_there() -> None:
    made = re.findall(r"\bmake ([a-z]+)", TEXT)

    assert set(made) >= {"check", "audit", "test", "browser", "worlds", "mutants", "build"}
    assert [target for target in made if not re.search(rf"^{target}:", MAKEFILE, re.MULTILINE)] == []


def test_every_folder_that_a_job_tests_is_there() -> None:
    folders = re.findall(r"pytest (tests/\w+)", TEXT)

    assert set(folders) == {"tests/browser", "tests/engines"}
    assert all((ROOT / folder).is_dir() for folder in folders)


@pytest.mark.parametrize("name", JOBS)
def test_a_job_has_an_end_and_no_rights(name: str) -> None:
    job = WORKFLOW["jobs"][name]

    assert 0 < job["timeout-minutes"] <= 30
    assert "permissions" not in job
    assert "secrets." not in TEXT
    assert WORKFLOW["permissions"] == {"contents": "read"}


@pytest.mark.parametrize("name", JOBS)
def test_actions_are_named_by_commit_and_keep_no_credentials(name: str) -> None:
    used = [step for step in WORKFLOW["jobs"][name]["steps"] if "uses" in step]

    assert used
    assert all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", step["uses"]) for step in used)
    assert used[0]["with"] == {"persist-credentials": False}
