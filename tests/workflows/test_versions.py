"""A campaign belongs to the version of the workflow that it was started with, and is started by the alias only."""

from __future__ import annotations

import json
from collections.abc import Iterator

import boto3
import pytest
from samtranslator.yaml_helper import yaml_parse

from paceline.adapters.stepfunctions import ALIAS, StepFunctions
from sandbox.deployment import ROOT
from tests.builders.campaigns import Office, an_office

TEMPLATE = yaml_parse((ROOT / "template.yaml").read_text())


@pytest.fixture
def office() -> Iterator[Office]:
    with an_office() as office:
        yield office


def test_the_template_publishes_the_alias_that_functions_and_commands_start_by() -> None:
    variables = TEMPLATE["Globals"]["Function"]["Environment"]["Variables"]

    assert TEMPLATE["Resources"]["CampaignStateMachine"]["Properties"]["AutoPublishAlias"] == ALIAS
    assert variables["STATE_MACHINE_ARN"]["Fn::Sub"].endswith(f"-campaign:{ALIAS}")


def test_a_campaign_is_started_by_the_alias_and_found_by_the_machine(office: Office) -> None:
    execution = office.start(1)

    states, machine = boto3.client("stepfunctions"), office.sandbox.outputs["CampaignStateMachineArn"]
    shown = states.describe_execution(executionArn=execution.arn)
    assert shown["stateMachineArn"] == machine
    assert shown["stateMachineVersionArn"] == f"{machine}:1"
    assert shown["stateMachineAliasArn"] == f"{machine}:{ALIAS}"
    assert [one["name"] for one in states.list_executions(stateMachineArn=machine)["executions"]] == [execution.name]


def test_a_campaign_that_is_over_is_found_by_its_own_arn_not_started_again(office: Office) -> None:
    execution = office.start(1)
    office.report()
    workflow = StepFunctions(
        boto3.client("stepfunctions"), f"{office.sandbox.outputs['CampaignStateMachineArn']}:{ALIAS}"
    )

    assert workflow.start(execution.name) == execution.arn


def test_a_campaign_that_runs_through_an_upgrade_ends_by_its_own_version(office: Office) -> None:
    engine, machine = office.sandbox.engine, office.sandbox.outputs["CampaignStateMachineArn"]
    office.start(2, "before")
    office.passes(minutes=1)

    changed = {"StartAt": "Refuse", "States": {"Refuse": {"Type": "Fail", "Error": "NewVersion"}}}
    engine.update_state_machine(machine, json.dumps(changed))
    engine.set_alias(ALIAS, engine.publish_version(machine))
    after = office.start(2, "after")
    office.sandbox.run_until(after.done)

    assert after.error == "NewVersion"
    assert office.report("before")["status"] == "finished"
