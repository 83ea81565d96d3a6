"""`paceline redrive`: a campaign's execution goes on from where it failed, where its report was not written yet."""

from __future__ import annotations

import json
from typing import Any

import click

from console.operator.api import NoAnswer
from console.operator.desk import ask, asks_first, say
from console.reach import System, Where, explained, reach, reaches_a_system
from paceline.campaigns import get_campaign
from paceline.errors import PacelineError
from paceline.models import Campaign


@click.command()
@click.argument("campaign_id", metavar="CAMPAIGN")
@asks_first
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
@reaches_a_system
def redrive(where: Where, campaign_id: str, yes: bool, is_json: bool) -> None:
    """Redrive the execution of CAMPAIGN: what succeeded is not run again, and nothing is sent twice.

    It needs AWS credentials with states:DescribeExecution and states:RedriveExecution. Exit status: 0 it goes on, 1
    there is nothing to redrive or it was not wanted, 2 it cannot be told.
    """
    system = reach(where)
    with explained(where):
        campaign = _campaign(system, campaign_id)
        states = system.client("stepfunctions")
        arn = _execution_of(system, campaign)
        found = states.describe_execution(executionArn=arn) if arn else {"status": "NOT_STARTED"}
        if why := _nothing_to_redrive(campaign, found):
            _end(is_json, {"campaign_id": campaign.campaign_id, "redriven": False, "reason": why}, why)
            raise click.exceptions.Exit(1)
        failure = f" by {found['error']}" if found.get("error") else ""
        click.echo(f"The execution of {campaign.campaign_id} ended as {found['status']}{failure}.", err=True)
        ask("Let it go on from there?", yes)
        states.redrive_execution(executionArn=arn)
    told = f"{campaign.campaign_id} goes on; `paceline campaign {campaign.campaign_id}` shows how."
    _end(is_json, {"campaign_id": campaign.campaign_id, "redriven": True, "execution_arn": arn}, told)


def _campaign(system: System, campaign_id: str) -> Campaign:
    try:
        return get_campaign(system.table, campaign_id)
    except PacelineError as error:
        raise NoAnswer(str(error)) from error


def _execution_of(system: System, campaign: Campaign) -> str:
    """Return the ARN of the execution that sends the campaign; "" before the start."""
    return "" if campaign.start_at is None else system.execution_arn(campaign.campaign_id)


def _nothing_to_redrive(campaign: Campaign, found: dict[str, Any]) -> str:
    """Return why nothing is to be redriven; "" where something is."""
    name = campaign.campaign_id
    if found["status"] == "NOT_STARTED":
        return f"Nothing to redrive: {name} was not started."
    if campaign.report_version:
        return (
            f"Nothing to redrive: {name} is {campaign.status}, with report version {campaign.report_version}. Leads "
            "that were skipped can go in a new campaign."
        )
    if found["status"] in ("RUNNING", "SUCCEEDED"):
        return f"Nothing to redrive: the execution of {name} is {found['status'].lower()}."
    if found.get("redriveStatus") != "REDRIVABLE":
        return f"AWS cannot redrive it any more: {found.get('redriveStatusReason', 'it does not say why')}."
    return ""


def _end(is_json: bool, answer: dict[str, Any], told: str) -> None:
    if is_json:
        click.echo(json.dumps(answer))
    else:
        say(told)
