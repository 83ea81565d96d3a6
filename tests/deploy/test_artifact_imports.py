"""Handlers imported from an artifact, where nothing of the sandbox or of a test is: what they find and load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from deploy.target import FUNCTIONS

HANDLERS = sorted(path.parent.name for path in FUNCTIONS.glob("*/app.py"))
NEEDED = dict.fromkeys(("TABLE_NAME", "BUCKET_NAME", "BUS_NAME", "PROVIDER_SECRET_NAME"), "unused")
EVERYTHING = """
import importlib, pathlib, pkgutil, sys
for found in pkgutil.walk_packages([sys.argv[1] + "/paceline"], "paceline."):
    if not found.name.endswith("__main__"):
        importlib.import_module(found.name)
from paceline.bootstrap import Services
from paceline.leads.phone import normalise
from paceline.leads.zones import zones_of
for number in ("+12025550142", "020 7946 0018", "1 555 0100"):
    normalise(number, "GB" if number.startswith("020") else "US")
assert zones_of("+12025550142")
services = Services()
services.table, services.store, services.workflow, services.dry_runner, services.events
services.end_user_messaging._client
services._client("secretsmanager")
"""


def run(tree: Path, script: str) -> str:
    """Run a script where Python finds its own library and an artifact alone; return what it prints."""
    environment = NEEDED | {"PYTHONPATH": str(tree), "AWS_DEFAULT_REGION": "us-east-1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-S", "-c", script, str(tree)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", HANDLERS)
def test_every_handler_finds_what_it_imports(tree: Path, name: str) -> None:
    assert run(tree, f"from {name}.app import lambda_handler; print(lambda_handler.__name__)")


def test_nothing_reaches_what_was_left_out(tree: Path) -> None:
    run(tree, EVERYTHING)
