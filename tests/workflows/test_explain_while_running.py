"""`paceline explain` of a campaign that is under way: what a lead waits for, with the evidence."""

from __future__ import annotations

import json

from click.testing import CliRunner

from console.cli import main
from tests.builders.campaigns import an_office, id_of


def test_a_lead_that_waits_says_for_what_with_the_evidence() -> None:
    with an_office(credits=2) as office:
        office.start(5)
        office.wait_until(lambda: bool(office.shown()["held_by"]))

        done = CliRunner().invoke(main, ["explain", "--stack", "paceline", id_of("renewals"), "5", "--json"])
        found = json.loads(done.stdout)

        assert found["status"] is None
        assert "its batch waits: Not enough credits" in found["about"]
        assert "until a signal ends it: Not enough credits (3 needed, 0 available)" in done.stdout
