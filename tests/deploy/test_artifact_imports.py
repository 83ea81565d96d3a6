"""Modules imported from an artifact, where nothing of the sandbox or of a test is: what they find and load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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


def test_nothing_reaches_what_was_left_out(tree: Path) -> None:
    run(tree, EVERYTHING)


# What only who plans, reports or calls a webhook needs; and what only a laptop has.
NOT_THE_SENDERS = {
    "phonenumbers",
    "python_calamine",
    "jinja2",
    "jsonschema",
    "standardwebhooks",
    "aws_lambda_powertools.event_handler",
    "paceline.planning",
    "paceline.report",
    "paceline.forecast",
    "moto",
    "rich",
}


def test_a_sender_starts_without_what_it_does_not_need(tree: Path) -> None:
    loaded = set(run(tree, "import send.app, sys; print(*sys.modules)").split())

    assert "paceline.sending" in loaded
    assert NOT_THE_SENDERS & loaded == set()
