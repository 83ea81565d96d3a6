"""Late receipts as operators see them: no false alarm of the audit, and a step in the lead's life."""

from __future__ import annotations

import json

from click.testing import CliRunner, Result

from console.cli import main
from sandbox.carrier import NO_FINAL_RECEIPT, Profile
from tests.builders.campaigns import OPERATOR, an_office, id_of


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments[:1], "--stack", "paceline", *arguments[1:]])


def test_a_late_receipt_is_told_before_and_after_its_report() -> None:
    silent = Profile(shares=((NO_FINAL_RECEIPT, 1.0),), refused=(), doubled=0.0)
    with an_office(profile=silent) as office:
        office.call("PATCH", "/v1/admin/accounts/acme", {"charging": {"charged": "delivered"}}, OPERATOR)
        office.start(3)
        office.report()
        office.receive(2, "delivered")

        before, lead_before = (
            run("audit", "--json"),
            json.loads(run("explain", id_of("renewals"), "2", "--json").stdout),
        )
        office.passes(minutes=20)
        after, lead_after = run("audit", "--json"), json.loads(run("explain", id_of("renewals"), "2", "--json").stdout)
        campaign = json.loads(run("explain", id_of("renewals"), "--json").stdout)

        assert (before.exit_code, after.exit_code) == (0, 0)
        account = json.loads(before.stdout)["accounts"][0]
        assert "late receipts (lead 2)" in account["campaigns"][0]["notes"][0]["text"]
        assert json.loads(after.stdout)["accounts"][0]["found"]["consumed"] == 1
        assert any(step["text"].endswith("the next report will have it") for step in lead_before["steps"])
        assert any(step["text"].endswith("version 2 of the report has it") for step in lead_after["steps"])
        assert lead_after["charged"]
        assert [step["version"] for step in campaign["steps"] if "version" in step] == [1, 2]
