"""`paceline restored`: a table that a restore made is made safe, before any function uses it."""

from __future__ import annotations

import getpass
import json
from typing import Any
from uuid import uuid4

import click

from console.operator.api import NoAnswer
from console.operator.desk import ask, say
from console.reach import System, Where, explained, reach, reaches_a_system
from paceline.adapters.dynamodb import DynamoDBTable
from paceline.audit import Signature
from paceline.bootstrap import SystemClock
from paceline.errors import PacelineError
from paceline.models import Campaign, JsonObject
from paceline.opt_outs import OptOut
from paceline.restoring import bring_over, call_off, missing_opt_outs, unfinished


@click.command()
@click.argument("restored_table", metavar="RESTORED_TABLE")
@click.option("--without-old-table", "is_old_gone", is_flag=True, help="The table it was made of cannot be read.")
@click.option("--apply", "applies", is_flag=True, help="Do it, after a question.  [default: say what would be done]")
@click.option("--yes", is_flag=True, help="With --apply: without the question.")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
@reaches_a_system
def restored(where: Where, restored_table: str, is_old_gone: bool, applies: bool, yes: bool, is_json: bool) -> None:
    """Make RESTORED_TABLE safe: cancel each campaign that had not ended, bring over the old table's opt-outs.

    A restored table does not know what was sent since, so what goes on by it would be sent twice. It refuses a table
    that no restore made. Exit status: 0 nothing is left to do, 1 something is, 2 it cannot be told. It needs
    dynamodb:DescribeTable, GetItem and Query, on the old table too, and PutItem and UpdateItem on the restored one.
    """
    system = reach(where)
    with explained(where):
        try:
            rows = DynamoDBTable(system.client("dynamodb"), restored_table)
            source = _made_of(system, restored_table, is_old_gone)
            old = DynamoDBTable(system.client("dynamodb"), source) if source else None
            campaigns = list(unfinished(rows))
            opt_outs = list(missing_opt_outs(rows, old)) if old else []
            if not is_json:
                _show(campaigns, opt_outs, old is not None)
            done = applies and _done(rows, campaigns, opt_outs, yes, restored_table)
        except PacelineError as error:
            raise NoAnswer(str(error)) from error
    if is_json:
        click.echo(json.dumps(_as_json(campaigns, opt_outs, done)))
    raise click.exceptions.Exit(0 if done or not (campaigns or opt_outs) else 1)


def _made_of(system: System, table: str, is_old_gone: bool) -> str:
    """Return the table that a restored one was made of; "" where that is gone.

    Raises: NoAnswer, where no restore made it, or its restore is not over.
    """
    client = system.client("dynamodb")
    described: dict[str, Any] = client.describe_table(TableName=table)["Table"]
    summary = described.get("RestoreSummary")
    if not summary or described["TableStatus"] != "ACTIVE":
        why = "is still being restored" if summary else "was not made by a restore"
        raise NoAnswer(f"{table} {why}: nothing was done. docs/operations.md says how a table is restored.")
    source = summary.get("SourceTableArn") or ""
    if is_old_gone:
        return ""
    if not source:
        raise NoAnswer(f"{table} does not say which table it was made of: give --without-old-table.")
    return str(source.rpartition("/")[2])


def _done(
    rows: DynamoDBTable, campaigns: list[Campaign], opt_outs: list[tuple[str, OptOut]], yes: bool, table: str
) -> bool:
    if not (campaigns or opt_outs):
        return True
    ask(f"Cancel {len(campaigns)} campaigns in {table}, and bring over {len(opt_outs)} opt-outs?", yes)
    now, who = SystemClock().now(), getpass.getuser()
    for account_id, one in opt_outs:
        bring_over(rows, account_id, one)
    done = [call_off(rows, one, Signature("console", now, f"restored-{uuid4().hex[:12]}", who)) for one in campaigns]
    return all(done)


def _show(campaigns: list[Campaign], opt_outs: list[tuple[str, OptOut]], has_old: bool) -> None:
    for one in campaigns:
        say(f"  {one.campaign_id} of {one.account_id} was {one.status.value}: to be cancelled")
    say(f"{len(campaigns)} campaigns had not ended.")
    if has_old:
        say(f"{len(opt_outs)} opt-outs of the old table are missing in the restored one.")
    else:
        say("Opt-outs since the restore's moment are not known: ask the providers for theirs before anything is sent.")


def _as_json(campaigns: list[Campaign], opt_outs: list[tuple[str, OptOut]], done: bool) -> JsonObject:
    listed = [{"campaign_id": c.campaign_id, "account_id": c.account_id, "status": c.status.value} for c in campaigns]
    return {"campaigns": listed, "opt_outs": len(opt_outs), "applied": done}
