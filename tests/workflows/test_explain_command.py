"""`paceline explain`: the life of a lead and of a campaign, from rows alone; no number beyond its last four digits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner, Result

from console.cli import main
from sandbox.carrier import DELIVERED, FILTERED, Profile
from tests.builders.campaigns import Office, a_file, an_office, id_of
from tests.builders.core import phone_number

# Row 2 to 6 are leads 1 to 5; then a duplicate of lead 1, a number that is too short, and lead 8.
FILE = a_file(5) + f"{phone_number(1)},Ben\n123,Cy\n{phone_number(8)},Di\n".encode()


def explain(*arguments: str) -> Result:
    return CliRunner().invoke(
        main,
        ["explain", "--stack", "paceline", *(id_of(a) if a in ("renewals", "planless") else a for a in arguments)],
        env={"COLUMNS": "240"},
    )


def told(*arguments: str) -> dict[str, Any]:
    done = explain(*arguments, "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def office() -> Iterator[Office]:
    """A campaign that waited for credits, was paused and resumed, and is over; one lead was filtered."""
    profile = Profile(exact=((DELIVERED, 5), (FILTERED, 1)), refused=(), doubled=0.0)
    with an_office(credits=2, profile=profile) as made:
        made.start(FILE)
        made.wait_until(lambda: bool(made.shown()["held_by"]))
        made.change("pause")
        made.passes(minutes=3)
        made.change("resume")
        made.buy(50)
        made.report()
        yield made


def texts(found: dict[str, Any]) -> str:
    return "\n".join(step["text"] for step in found["steps"])


def test_the_life_of_a_lead_has_every_step_with_its_time(office: Office) -> None:
    found = told("renewals", "1")

    steps = found["steps"]
    begins = (
        "the campaign was created",
        "the campaign's start",
        "planned: route shared (by its carrier, or for want of one; rows do not tell which), stream 1 of 1",
        "row 7 holds the same number and was left out",
        "round 1: 2 credits and day use leased for 2 leads",
        "round 1: its slot was set to 2026-09-02T16:00",
        "claimed in round 1",
        "handed to the provider",
        "the provider took it as SM",
        "a receipt of twilio came: sent",
        "round 1 was closed: 0 of its parts went back",
        "its batch waited until 2026-09-02T16:0",
        "outcome: delivered",
        "charged: 1 credit, because it reached the handset",
    )
    assert [one for one in begins if not any(step["text"].startswith(one) for step in steps)] == []
    timed = [step["at"] for step in steps[2:] if step["at"]]
    assert timed == sorted(timed)
    assert len(timed) > 8
    assert found["provider_message_id"] in texts(found)
    assert (found["status"], found["charged"], found["row_number"], found["batch_id"]) == (
        "delivered",
        True,
        2,
        "00001",
    )


def test_a_lead_is_found_by_number_row_and_phone_number(office: Office) -> None:
    by_number, by_row, by_phone = (told("renewals", which) for which in ("8", "row:9", phone_number(8)))

    assert by_number == by_row == by_phone
    assert by_number["phone_number_ends_in"] == "0108"


def test_no_phone_number_and_no_text_is_printed(office: Office) -> None:
    printed = explain("renewals", phone_number(3)).output + json.dumps(told("renewals", phone_number(3)))

    assert "…0103" in printed
    assert phone_number(3) not in printed
    assert phone_number(3)[2:] not in printed
    assert "renewal is due" not in printed


def test_an_excluded_row_says_why_with_its_row_number(office: Office) -> None:
    short, twice = told("renewals", "row:8"), told("renewals", "row:7")

    assert texts(short) == "row 8: rejected: The number has too few digits: write the area code too."
    assert "row 7: a duplicate" in texts(twice)
    assert "row 7 holds the same number" in texts(told("renewals", phone_number(1)))
    assert (short["excluded"], short["charged"]) == (True, False)


def test_a_filtered_lead_says_what_the_receipt_said_and_why_it_is_charged(office: Office) -> None:
    outcomes = {row["lead_no"]: row["outcome"] for row in office.rows("outcomes.csv")}
    [lead_no] = [lead_no for lead_no, outcome in outcomes.items() if outcome == "undelivered"]

    found = told("renewals", lead_no)

    assert "receipt of twilio came: undelivered (filtered by the carrier)" in texts(found)
    assert "outcome: undelivered: filtered by the carrier" in texts(found)
    assert "charged: 1 credit, because the account pays for every message that the provider took" in texts(found)


def test_the_life_of_a_campaign_has_its_pause_holds_looks_and_report(office: Office) -> None:
    found = told("renewals")

    words = texts(found)
    assert "planned: 8 leads = 6 accepted + 1 rejected + 1 duplicates + 0 opted out" in words
    assert "paused by key customer" in words
    assert "resumed by key customer" in words
    assert "Not enough credits held 1 batch on shared until" in words
    assert "the last of 6 messages so far was handed to a provider" in words
    assert "reconciliation, look 0: 1 batch open" in words
    assert "report, version 1: " in words
    assert found["messages"] == {"delivered": 5, "undelivered": 1}


def test_times_are_shown_in_another_zone_too(office: Office) -> None:
    done = explain("renewals", "1", "--zone", "America/New_York")

    assert "2026-09-02 16:00:0" in done.output
    assert "2026-09-02 12:00:0" in done.output
    assert explain("renewals", "--zone", "Mars/Base").exit_code == 2


def test_what_is_not_there_is_exit_status_2(office: Office) -> None:
    for arguments, words in (
        (("nothing",), "no campaign 'nothing'"),
        (("renewals", "99"), "no such lead. Its file has 8 leads"),
        (("renewals", "Ana"), "its row in the file (row:18)"),
    ):
        done = explain(*arguments)

        assert done.exit_code == 2
        assert words in done.output


def test_what_rows_do_not_tell_is_said(office: Office) -> None:
    found = told("renewals", "1")

    assert "when it was planned: the plan keeps no time" in found["not_told"]
    assert not any("receipts" in one for one in found["not_told"])


def test_a_campaign_without_a_plan_has_no_leads_yet(office: Office) -> None:
    office.post("/v1/campaigns", {"campaign_id": "planless", "name": "Later", "message": "Hello"})

    found = told("planless", "1")

    assert found["steps"] == []
    assert "nobody has read its file" in found["not_told"][0]
