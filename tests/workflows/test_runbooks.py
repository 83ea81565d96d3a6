"""docs/runbooks.md: every `paceline` command in it is run, in its order, in the situation that its section is for."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

import boto3
import pytest
from click.testing import CliRunner, Result

from console import reach
from console.cli import main
from sandbox.deployment import ROOT
from tests.builders.campaigns import OPERATOR, Office, an_office, id_of
from tests.workflows.test_lost_events_command import SandboxLambda

TEXT = (ROOT / "docs" / "runbooks.md").read_text()
NEW = "paceline-restored-2026-09-02"


def sections() -> dict[str, list[str]]:
    """Return the `paceline` commands of each section."""
    parts = re.split(r"^## (.+)$", TEXT, flags=re.MULTILINE)[1:]
    found = {
        title: re.findall(r"^ +(paceline .*)$", text, re.MULTILINE)
        for title, text in zip(parts[::2], parts[1::2], strict=True)
    }
    return {title: commands for title, commands in found.items() if commands}


def stopped(office: Office) -> None:
    """A campaign whose execution broke off."""
    arn = office.start(30).arn
    office.wait_until(lambda: office.sent >= 10)
    boto3.client("stepfunctions").stop_execution(executionArn=arn)
    office.passes(minutes=2)


def running(office: Office) -> None:
    office.start(30)
    office.wait_until(lambda: office.sent >= 10)


def over(office: Office) -> None:
    office.start(5)
    office.report()


def restored(office: Office) -> None:
    """Stopped, and restored as the `aws` commands between would."""
    stopped(office)
    boto3.client("dynamodb").restore_table_to_point_in_time(
        SourceTableName=office.sandbox.outputs["TableName"], TargetTableName=NEW, UseLatestRestorableTime=True
    )


SITUATIONS: dict[str, Callable[[Office], None]] = {
    "A campaign is stuck": stopped,
    "A forgotten cap": running,
    "A provider is down": running,
    "The wrong file was sent": running,
    "Erase a person": over,
    "Replay the inbox": running,
    "Restore the table": restored,
}


def run(office: Office, command: str) -> Result:
    values = {"CAMPAIGN": id_of("renewals"), "ACCOUNT": "acme", "ROUTE": "shared", "NEW": NEW}
    values["OLD"] = office.sandbox.outputs["TableName"]
    words = shlex.split(re.sub(r"\$(\w+)", lambda found: values[found[1]], command), comments=True)[1:]
    env = {"PACELINE_URL": office.sandbox.outputs["ApiUrl"], "PACELINE_KEY": OPERATOR, "PACELINE_STACK": "paceline"}
    return office.sandbox.do(lambda: CliRunner().invoke(main, words, env=env))


@pytest.mark.parametrize("title", SITUATIONS)
def test_every_command_of_a_runbook_does_what_it_is_for(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with an_office(route={"parts_per_minute": 60}) as office:
        clients, functions = reach._clients, SandboxLambda(office)
        monkeypatch.setattr(
            reach,
            "_clients",
            lambda *given: lambda name, **more: functions if name == "lambda" else clients(*given)(name, **more),
        )
        SITUATIONS[title](office)
        for command in sections()[title]:
            done = run(office, command)

            says_what_is_to_do = command.startswith("paceline restored") and "--apply" not in command
            assert done.exit_code in ({0, 1} if says_what_is_to_do else {0}), f"{command}\n{done.output}"


def test_every_section_with_commands_is_run() -> None:
    assert list(sections()) == list(SITUATIONS)
    assert sum(map(len, sections().values())) > 25
