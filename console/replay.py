"""`paceline replay`: receipts of a campaign that were stored and not applied, applied by the product's own rule."""

from __future__ import annotations

import json
from dataclasses import replace

import click

from console.operator.api import NoAnswer
from console.operator.desk import ask, say
from console.reach import System, Where, explained, reach, reaches_a_system
from paceline.adapters.dynamodb import DynamoDBTable
from paceline.adapters.stepfunctions import ALIAS, StepFunctions
from paceline.bootstrap import SystemClock
from paceline.campaigns import get_campaign
from paceline.errors import PacelineError
from paceline.models import JsonObject
from paceline.replaying import Replay, apply_again, look_into_inbox


@click.command()
@click.argument("campaign_id", metavar="CAMPAIGN")
@click.option("--apply", "applies", is_flag=True, help="Apply them, after a question.  [default: say what would be]")
@click.option("--yes", is_flag=True, help="With --apply: without the question.")
@click.option("--from-table", metavar="NAME", default="", help="After a restore: the old table, for its inbox.")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
@reaches_a_system
def replay(where: Where, campaign_id: str, applies: bool, yes: bool, from_table: str, is_json: bool) -> None:
    """Look through the stored receipts of CAMPAIGN for those that its messages do not show; apply them if asked to.

    A receipt is applied once, however often this runs. Exit status: 0 nothing is left to apply, 1 something is, 2 it
    cannot be told. To apply, it needs dynamodb:PutItem and UpdateItem and, for receipts that come after the report,
    states:StartExecution.
    """
    system = reach(where)
    with explained(where):
        try:
            found, done = _replayed(system, campaign_id, applies, yes, from_table)
        except PacelineError as error:
            raise NoAnswer(str(error)) from error
    answer: JsonObject = {"campaign_id": campaign_id, "stored": found.stored, "unread": found.unread}
    answer |= {"due": [one.message_id for one in found.due], "unreported": len(found.unreported), "applied": done}
    if is_json:
        click.echo(json.dumps(answer))
    else:
        _show(found, done)
    raise click.exceptions.Exit(0 if done or not found.due else 1)


def _replayed(system: System, campaign_id: str, applies: bool, yes: bool, from_table: str) -> tuple[Replay, bool]:
    get_campaign(system.table, campaign_id)
    inbox = DynamoDBTable(system.client("dynamodb"), from_table) if from_table else system.table
    found = look_into_inbox(system.table, inbox, campaign_id)
    if not (applies and (found.due or found.unreported)):
        return found, False
    ask(f"Apply {len(found.due)} receipts of {campaign_id}?", yes)
    workflow = StepFunctions(system.client("stepfunctions"), f"{system.state_machine_arn}:{ALIAS}")
    apply_again(system.table, workflow, (*found.due, *found.unreported), SystemClock().now())
    left = look_into_inbox(system.table, inbox, campaign_id).due
    return (replace(found, due=left), False) if left else (found, True)


def _show(found: Replay, done: bool) -> None:
    say(f"{found.stored} receipts are stored; {found.unread} of them say what nobody here knows.")
    for receipt in found.due:
        say(f"  {receipt.message_id}: {receipt.status.value} {receipt.cause}".rstrip())
    if found.unreported:
        say(f"{len(found.unreported)} came late and wait for the report's next version, a quarter of an hour.")
    if not found.due:
        say("All of them are applied: nothing is to be done.")
    elif done:
        say(f"{len(found.due)} were applied.")
    else:
        say(f"{len(found.due)} are not applied; --apply applies them.")
