"""`paceline replay`: what a killed callback stored and did not apply is applied, once, and only when asked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from console.cli import main
from paceline import keys
from sandbox.carrier import NO_FINAL_RECEIPT, Profile
from sandbox.faults import Boundary, Fault, nothing
from tests.builders.campaigns import Office, an_office, id_of, is_balanced

# Takes everything and says nothing by itself: the test says what became of it.
SILENT = Profile(shares=((NO_FINAL_RECEIPT, 1.0),), refused=(), doubled=0.0)
NAME = id_of("renewals")


def replay(office: Office, *arguments: str) -> Result:
    words = ("replay", NAME, "--stack", "paceline", *arguments)
    return office.sandbox.do(lambda: CliRunner().invoke(main, words, env={"COLUMNS": "200"}))


def told(done: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def lose(office: Office, lead_no: int, status: str, error_code: str = "") -> None:
    """Let a receipt come whose function is killed as soon as the receipt is stored."""

    def dies(at: Boundary) -> Fault | None:
        return Fault.AFTER if (at.function, at.call) == ("callbacks", "dynamodb:PutItem") else None

    office.sandbox.faults.arm(dies)
    assert office.receive(lead_no, status, error_code) >= 500
    office.sandbox.faults.arm(nothing)


def statuses(office: Office) -> list[str]:
    rows = office.table.query(keys.batch_partition(NAME, "00001"), keys.MESSAGES)
    return [row["status"] for row in rows]


def test_receipts_that_were_stored_and_not_applied_are_listed_then_applied_once() -> None:
    with an_office(profile=SILENT) as office:
        office.start(4, receipt_deadline_hours=24)
        office.wait_until(lambda: office.sent == 4)
        office.passes(seconds=5)
        office.receive(1, "delivered")
        lose(office, 2, "delivered")
        lose(office, 3, "undelivered", "30007")
        before = statuses(office)

        listed = replay(office, "--json")
        untouched = statuses(office)
        unwanted = replay(office, "--apply")
        applied = replay(office, "--apply", "--yes", "--json")
        after = statuses(office)
        again = replay(office, "--apply", "--yes", "--json")

        assert listed.exit_code == 1
        assert {one.rpartition(".")[2] for one in told(listed)["due"]} == {"2", "3"}
        assert untouched == before
        assert unwanted.exit_code == 1
        assert (applied.exit_code, told(applied)["applied"]) == (0, True)
        assert [after[0], after[1], after[2]] == ["delivered", "delivered", "undelivered"]
        assert after[3] == before[3]
        assert (again.exit_code, told(again)["due"], statuses(office)) == (0, [], after)
        report = office.report()
        assert report["outcomes"]["delivered"] == 2
        assert is_balanced(office, report)


def test_one_that_was_lost_after_the_report_makes_its_next_version() -> None:
    with an_office(profile=SILENT) as office:
        office.start(3)
        office.report()
        office.passes(hours=5)
        lose(office, 2, "delivered")

        applied = replay(office, "--apply", "--yes", "--json")
        waiting = replay(office)
        office.passes(minutes=20)

        assert applied.exit_code == 0, applied.output
        assert "wait for the report's next version" in waiting.output
        assert waiting.exit_code == 0
        assert office.report(version=2)["outcomes"]["delivered"] == 1
        assert is_balanced(office, office.report(version=2))


@pytest.mark.parametrize(
    ("status", "error_code"),
    [("sent", ""), ("delivered", ""), ("undelivered", "30003"), ("failed", "30007")],
)
def test_what_a_dry_run_lists_is_what_would_change(status: str, error_code: str) -> None:
    with an_office(profile=SILENT) as office:
        office.start(2, receipt_deadline_hours=24)
        office.wait_until(lambda: office.sent == 2)
        office.passes(seconds=5)
        office.receive(1, "delivered")
        lose(office, 1, status, error_code)
        before = office.table.get(keys.message(NAME, "00001", 1)) or {}

        due = told(replay(office, "--json"))["due"]
        replay(office, "--apply", "--yes")

        assert bool(due) == (office.table.get(keys.message(NAME, "00001", 1)) != before)


def test_what_cannot_be_told_is_exit_status_2() -> None:
    with an_office() as office:
        done = office.sandbox.do(lambda: CliRunner().invoke(main, ["replay", "nobodys", "--stack", "paceline"]))

    assert done.exit_code == 2
    assert "no campaign 'nobodys'" in done.output
