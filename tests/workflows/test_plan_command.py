"""`paceline plan FILE`: who is sent to, who is not and why, what binds, when it ends; exit statuses for scripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from console.cli import main
from tests.builders.core import phone_number

GOOD = "".join(f"{phone_number(n)},Ana\n" for n in range(1, 6))
BAD = f"{phone_number(1)},Ana\n123,Ben\n,Cy\n"


@pytest.fixture
def leads(tmp_path: Path) -> Path:
    path = tmp_path / "leads.csv"
    path.write_text(f"phone,first_name\n{GOOD}{BAD}")
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["plan", *map(str, arguments)], env={"COLUMNS": "200"})


def test_the_plan_is_printed_for_people(leads: Path) -> None:
    done = run(leads, "--per-day", 3)

    assert done.exit_code == 0, done.output
    words = " ".join(done.output.split())
    assert "leads 8 in = 5 accepted + 2 rejected + 1 duplicates + 0 opted out" in words
    assert "phone numbers from the column 'phone'" in words
    assert "credits 5 needed, 1,000,000 available" in words
    assert "campaigns ahead none" in words
    assert "binds daily cap of the route on shared from 2026-09-02 16:00 UTC until 2026-09-03 04:00 UTC" in words
    assert "finishes 2026-09-03 12:00 UTC" in words
    assert "The number has too few digits: write the area code too. 8" in words
    assert "Parts per day 3 route shared 0, anew at 2026-09-03 04:00 UTC" in words
    assert "Warning: The route 'shared' may send 3 parts a day" in words


def test_the_plan_is_printed_for_programs_without_a_phone_number(leads: Path) -> None:
    done = run(leads, "--json")

    planned = json.loads(done.output)
    assert planned["leads"] == {"in": 8, "accepted": 5, "rejected": 2, "duplicates": 1, "opted_out": 0}
    assert {entry["reason"]: entry["row_numbers"] for entry in planned["excluded"]}["too_short"] == [8]
    assert sum(entry["leads"] for entry in planned["excluded"]) == 3
    assert sum(stream["batches"] for stream in planned["streams"]) == planned["batches"]
    assert phone_number(1)[-7:] not in done.output


def test_a_campaign_that_cannot_end_is_exit_status_1_and_says_why(leads: Path) -> None:
    done = run(leads, "--credits", 2)

    assert done.exit_code == 1
    assert "needs 5 credits and the account has 2" in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [(None, "There is no file"), ("name\nAna\n", "phone")],
    ids=["no file", "no phone column"],
)
def test_what_cannot_be_planned_is_exit_status_2_and_says_what_to_do(
    tmp_path: Path, text: str | None, sentence: str
) -> None:
    path = tmp_path / "leads.csv"
    if text is not None:
        path.write_text(text)

    done = run(path)

    assert done.exit_code == 2
    assert sentence in done.output
