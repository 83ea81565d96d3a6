"""After a restore: what a restored table does not know is not sent again, and no opt-out is lost."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import boto3
import pytest
from click.testing import CliRunner, Result

from console.cli import main
from paceline.audit import account_subject, changes_of
from paceline.opt_outs import TableOptOuts, opt_out
from tests.builders.campaigns import Office, Refusal, an_office, id_of
from tests.builders.core import phone_number

LEADS = 60
COPY = "paceline-restored"
STOPPED = phone_number(900)


def restored(office: Office, *arguments: str, table: str = COPY) -> Result:
    words = ("restored", table, "--stack", "paceline", *arguments)
    return office.sandbox.do(lambda: CliRunner().invoke(main, words, env={"COLUMNS": "200"}))


def restore(office: Office) -> None:
    """Make the table that a restore to this moment makes."""
    boto3.client("dynamodb").restore_table_to_point_in_time(
        SourceTableName=office.sandbox.outputs["TableName"], TargetTableName=COPY, UseLatestRestorableTime=True
    )


def use_the_copy(office: Office) -> None:
    """Point everything to the restored table: its rows take the place of the others."""
    client, own = boto3.client("dynamodb"), office.sandbox.outputs["TableName"]
    for item in client.get_paginator("scan").paginate(TableName=own).search("Items"):
        client.delete_item(TableName=own, Key={"pk": item["pk"], "sk": item["sk"]})
    for item in client.get_paginator("scan").paginate(TableName=COPY).search("Items"):
        client.put_item(TableName=own, Item=item)


def a_lost_table(office: Office) -> str:
    """Restore to a moment at which a third was sent; a second third goes after it, and somebody says STOP."""
    office.post("/v1/campaigns", {"campaign_id": "later", "name": "Later", "message": "Hi."})
    arn = office.start(LEADS).arn
    office.wait_until(lambda: office.sent >= LEADS // 3)
    restore(office)
    office.wait_until(lambda: office.sent >= 2 * LEADS // 3)
    opt_out(office.table, "acme", STOPPED, office.now.isoformat())
    boto3.client("stepfunctions").stop_execution(executionArn=arn)
    office.passes(minutes=2)
    return arn


def redriven(office: Office, arn: str) -> None:
    boto3.client("stepfunctions").redrive_execution(executionArn=arn)
    office.report()


def texts_to_one_person(office: Office) -> int:
    return Counter(entry.to for entry in office.sandbox.carrier.book).most_common(1)[0][1]


def test_without_it_a_redrive_by_restored_rows_sends_again_what_was_sent() -> None:
    with an_office() as office:
        arn = a_lost_table(office)
        use_the_copy(office)

        redriven(office, arn)

        assert texts_to_one_person(office) == 2, "why the command is there"


def test_after_it_nothing_is_sent_again_whatever_is_redriven_resumed_or_started() -> None:
    with an_office() as office:
        arn = a_lost_table(office)
        sent = office.sent

        done = restored(office, "--apply", "--yes")
        use_the_copy(office)
        redriven(office, arn)
        for what in ("resume", "start"):
            with pytest.raises(Refusal):
                office.change(what)
        office.passes(hours=2)

        assert done.exit_code == 0, done.output
        assert office.sent == sent
        assert texts_to_one_person(office) == 1
        report = office.report()
        assert (report["status"], report["balanced"]) == ("cancelled", True)
        assert office.account().reserved == 0, "a redrive gives its credits back"
        audit = CliRunner().invoke(main, ["audit", "--stack", "paceline"])
        assert audit.exit_code == 0, audit.output
        assert TableOptOuts(office.table).opted_out("acme", [STOPPED]) == {STOPPED}


def told(done: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_it_says_what_it_would_do_and_does_it_only_when_asked_and_once() -> None:
    with an_office() as office:
        a_lost_table(office)

        listed, unwanted = restored(office, "--json"), restored(office, "--apply")
        still = restored(office)
        done, again = restored(office, "--apply", "--yes"), restored(office, "--json")
        use_the_copy(office)

        assert [one.exit_code for one in (listed, unwanted, still, done, again)] == [1, 1, 1, 0, 0]
        assert {one["campaign_id"]: one["status"] for one in told(listed)["campaigns"]} == {
            id_of("renewals"): "running",
            id_of("later"): "created",
        }
        assert told(listed)["opt_outs"] == 1
        assert STOPPED[-4:] not in still.output
        assert told(again) == {"campaigns": [], "opt_outs": 0, "applied": False}
        trail = [change["changes"] for change in changes_of(office.table, account_subject("acme"))]
        assert {f"status of campaign {id_of('renewals')}": {"before": "running", "after": "cancelled"}} in trail


def test_a_table_that_no_restore_made_is_left_alone() -> None:
    with an_office() as office:
        office.start(5)
        own = office.sandbox.outputs["TableName"]

        refused = [restored(office, *more, "--apply", "--yes", table=own) for more in ((), ("--without-old-table",))]
        nowhere = restored(office, table="nowhere")

        assert [one.exit_code for one in (*refused, nowhere)] == [2, 2, 2]
        assert "was not made by a restore" in refused[0].output
        assert office.shown()["status"] == "running"


def test_without_the_old_table_it_says_that_opt_outs_are_missing() -> None:
    with an_office() as office:
        a_lost_table(office)

        done = restored(office, "--without-old-table", "--apply", "--yes")

        assert done.exit_code == 0
        assert "ask the providers" in done.output
