"""docs/deploy.md: its first campaign is run as it stands, in a shell, on a sandbox that is empty as a new stack is."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from server_process import ROOT, Server, run_up, start_server

GUIDE = (ROOT / "docs" / "deploy.md").read_text()
BLOCKS = re.findall(r"^```bash\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def empty() -> Iterator[Server]:
    running = start_server("--empty", "--clock", "virtual")
    yield running
    running.stop()


def run(script: str, server: Server, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run commands in a folder in which the repository's `.venv` is, as from the repository's own."""
    (folder / ".venv").symlink_to(ROOT / ".venv") if not (folder / ".venv").exists() else None
    environment = {"PACELINE_ENDPOINT_URL": server.address, "PACELINE_URL": server.address, "HOME": str(folder)}
    inherited = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return subprocess.run(  # noqa: S603 (our own document)
        ["bash", "-e", "-o", "pipefail", "-c", script],  # noqa: S607
        cwd=folder,
        env=inherited | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_first_campaign_of_the_guide_runs_as_it_stands(empty: Server, tmp_path: Path) -> None:
    done = run("\n".join(BLOCKS), empty, tmp_path)

    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["status"] == "finished"
    assert report["leads"]["accepted"] == 2
    assert "finished" in done.stdout


def test_there_is_one_first_key_unless_every_key_is_lost(empty: Server, tmp_path: Path) -> None:
    paceline = f"{ROOT}/.venv/bin/paceline first-key"

    first = run(paceline, empty, tmp_path)
    second = run(paceline, empty, tmp_path)
    lost = run(f"{paceline} --lost", empty, tmp_path)

    key = first.stdout.strip()
    assert (first.returncode, second.returncode, lost.returncode) == (0, 1, 0)
    assert second.stdout == ""
    assert key.split("_")[1] in second.stderr
    assert lost.stdout.strip() not in ("", key)
    asked = run(f"curl -sf $PACELINE_URL/v1/admin/accounts -H 'x-api-key: {key}'", empty, tmp_path)
    assert asked.returncode == 0


def test_a_secret_that_is_not_there_is_named(empty: Server, tmp_path: Path) -> None:
    done = run(f"{ROOT}/.venv/bin/paceline first-key --secret paceline/nothing", empty, tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert "secret" in done.stderr.lower()


def test_an_empty_sandbox_says_how_to_begin() -> None:
    process = run_up("--port", "0", "--empty")
    assert process.stdout is not None
    said = "".join(process.stdout.readline() for _ in range(4))
    process.terminate()
    process.communicate(timeout=20)

    assert "and empty" in said
    assert "export PACELINE_ENDPOINT_URL=http://127.0.0.1:" in said
    assert "paceline first-key" in said
