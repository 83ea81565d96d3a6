"""`paceline audit`: green on campaigns that run as they should, at any moment; red on damage; repairs when told to."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from console.cli import main
from paceline import keys
from paceline.audit import account_subject, changes_of
from paceline.batches import batch_summaries
from paceline.table import Update
from sandbox.carrier import Profile
from tests.builders.campaigns import Office, an_office, id_of


def run(*arguments: str, **more: Any) -> Result:
    return CliRunner().invoke(main, ["audit", "--stack", "paceline", *arguments], env={"COLUMNS": "200"}, **more)


def damage(office: Office, **by: int) -> None:
    adds = ", ".join(f"#{name} :{name}" for name in by)
    office.table.update(Update(keys.account("acme"), f"ADD {adds}", by))


def test_nothing_differs_at_any_moment_of_two_campaigns_on_a_rough_night() -> None:
    """A carrier that refuses, filters, throttles and doubles its receipts; credits that run out; a pause."""
    with an_office(credits=40, profile=Profile(throttled=0.05), route={"parts_per_minute": 60}) as office:
        office.start(36, "renewals")
        office.start(24, "reminders")
        seen = []
        for step in range(8):
            office.passes(seconds=7 + step)
            if step == 3:
                office.change("pause")
            if step == 5:
                office.change("resume")
            if step == 7:
                office.buy(100)
            found = run("--json")
            assert found.exit_code == 0, found.output
            seen.append(json.loads(found.stdout)["accounts"][0]["found"])
        office.report("renewals")
        office.report("reminders")

        done = run()

        assert done.exit_code == 0, done.output
        assert "Nothing differs." in done.output
        assert any(one["reserved"] and one["consumed"] < one["bought"] for one in seen), "it looked at moving rows"
        assert office.account().reserved == 0


def test_damage_is_told_by_number_and_repaired_only_when_asked() -> None:
    with an_office() as office:
        office.start(5)
        office.report()
        before = office.account()
        damage(office, consumed=1, available=-1)

        told = run("acme")
        unasked = run("acme", "--repair", input="n\n")
        repaired = run("acme", "--repair", "--yes")

        assert told.exit_code == 1
        assert "consumed: expected 5, found 6" in told.output
        assert unasked.exit_code == 1
        assert "consumed -1" in unasked.output
        assert repaired.exit_code == 0, repaired.output
        assert office.account() == before
        changes = changes_of(office.table, account_subject("acme"))[0]["changes"]
        assert changes["consumed"] == {"before": 6, "after": 5}


def test_a_batch_settled_twice_is_named_for_programs() -> None:
    with an_office() as office:
        office.start(5)
        office.report()
        [batch] = batch_summaries(office.table, id_of("renewals"))
        damage(office, reserved=-batch["held_parts"], consumed=batch["consumed"])

        told = run("--json")

        assert told.exit_code == 1
        account = json.loads(told.stdout)["accounts"][0]
        assert {one["what"] for one in account["differences"]} == {"reserved", "consumed"}
        assert all("settled twice" in one["why"] for one in account["differences"])


def test_what_cannot_be_told_is_exit_status_2_and_says_what_to_do() -> None:
    with an_office():
        no_account = run("nobody")
        no_stack = CliRunner().invoke(main, ["audit", "--stack", "other"])
        no_table = CliRunner().invoke(main, ["audit", "--table", "none", "--bucket", "none"])
        half = CliRunner().invoke(main, ["audit", "--table", "paceline"])
        nothing = CliRunner().invoke(main, ["audit"])

    assert [one.exit_code for one in (no_account, no_stack, no_table, half, nothing)] == [2] * 5
    assert "no account 'nobody'" in no_account.output
    assert "no stack 'other'" in no_stack.output
    assert "no such table" in no_table.output
    assert "both --table and --bucket" in half.output
    assert "--endpoint-url http://127.0.0.1:4600" in nothing.output


def test_nothing_at_the_endpoint_is_said_so() -> None:
    found = CliRunner().invoke(main, ["audit", "--endpoint-url", "http://127.0.0.1:9", "--table", "t", "--bucket", "b"])

    assert found.exit_code == 2
    assert "Is `paceline up` running" in found.output


@pytest.mark.parametrize("variable", ["PACELINE_STACK", "PACELINE_TABLE"])
def test_the_environment_says_which_system(variable: str) -> None:
    with an_office() as office:
        named = {
            "PACELINE_STACK": {"PACELINE_STACK": "paceline"},
            "PACELINE_TABLE": {
                "PACELINE_TABLE": office.sandbox.outputs["TableName"],
                "PACELINE_BUCKET": office.sandbox.outputs["BucketName"],
            },
        }

        found = CliRunner().invoke(main, ["audit"], env=named[variable])

        assert found.exit_code == 0, found.output
