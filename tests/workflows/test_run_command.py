"""`paceline run` as its user sees it: the same timeline however fast the machine, and errors that say what to do."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from console import run
from console.cli import main
from sandbox.deployment import ROOT

LEADS = "phone,first_name\n" + "".join(f"+1202555{number:04},Lead\n" for number in range(100, 130))


@pytest.fixture
def leads(tmp_path: Path) -> Path:
    path = tmp_path / "leads.csv"
    path.write_text(LEADS)
    return path


def paceline(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["run", *map(str, arguments)])


def summary_of(*arguments: object) -> dict[str, Any]:
    result = paceline(*arguments, "--json")
    assert result.exit_code == 0, result.output
    summary: dict[str, Any] = json.loads(result.stdout)
    return summary


def test_looking_on_does_not_change_the_timeline(leads: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    timelines = []
    for seconds in (0.0, 1e9):  # a look after each step of the clock, as on a slow machine; and none
        monkeypatch.setattr(run, "REFRESH_SECONDS", seconds)
        summary_of(leads, "--seed", 3, "--per-minute", 20, "--out", tmp_path / str(seconds))
        timelines.append((tmp_path / str(seconds) / "timeline.csv").read_bytes())

    assert timelines[0] == timelines[1]
    assert timelines[0].count(b"\n") == 31


def test_the_summary_has_every_promised_field_and_all_files_are_there(leads: Path, tmp_path: Path) -> None:
    summary = summary_of(leads, "--out", tmp_path / "out")

    assert summary["leads"] == {"in": 30, "rejected": 0, "duplicates": 0, "opted_out": 0, "accepted": 30}
    assert sum(summary["outcomes"].values()) == 30
    assert summary["credits"]["reserved"] == summary["credits"]["consumed"] + summary["credits"]["released"]
    assert summary["balanced"] is True
    assert summary["max_sent_in_60_seconds"]["shared"] <= 240
    expected = {"virtual_seconds", "wall_seconds", "lost_to", "conflicts", "shared_row_writes", "state_transitions"}
    assert expected <= summary.keys()
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert files == {"report.json", "report.html", "outcomes.csv", "rejects.csv", "timeline.csv"}


def test_the_readme_shows_what_its_sample_campaign_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    [sample] = re.findall(r"ends like this.*?\n\n(.+?)\n\nHow to read it", (ROOT / "README.md").read_text(), re.DOTALL)

    printed = paceline(ROOT / "events" / "leads-1000.csv", "--out", tmp_path / "out").output

    lines = {as_shown(line) for line in printed.splitlines()}
    assert [line for line in sample.splitlines() if as_shown(line) not in lines] == []


def as_shown(line: str) -> str:
    """Return a line without its blanks, and without the seconds that this machine took."""
    return re.sub(r" in [\d.]+ s$", "", " ".join(line.split()))


def test_too_few_credits_hold_the_campaign_and_the_summary_says_for_how_long(leads: Path) -> None:
    summary = summary_of(leads, "--credits", 10)

    assert summary["balanced"] is True
    assert summary["outcomes"]["skipped"] == 20
    assert summary["lost_to"]["credits"] > 29 * 86_400  # until what is left is skipped, a month after the start


@pytest.mark.parametrize(
    ("content", "arguments", "sentence"),
    [
        pytest.param(None, [], "There is no file", id="a missing file"),
        pytest.param("", [], "is empty", id="an empty file"),
        pytest.param("phone,first_name\n", [], "no leads", id="a heading alone"),
        pytest.param("email\na@example.com\n", [], "Its headings are: 'email'", id="no phone column"),
        pytest.param(LEADS, ["--message", "Hi {{city}}"], "'city'", id="a field that the file lacks"),
        pytest.param(LEADS, ["--message", "Hi {{city"], "position", id="a field that is not closed"),
        pytest.param(LEADS, ["--route", "nowhere"], "Routes: shared, verizon", id="an unknown route"),
        pytest.param(LEADS, ["--per-minute", "0"], "--per-minute", id="a cap of 0"),
        pytest.param(LEADS, ["--per-day", "0"], "--per-day", id="a day cap of 0"),
        pytest.param(LEADS, ["--start", "soon"], "is no time", id="a start that is no time"),
    ],
)
def test_bad_input_is_one_clear_error_and_status_2(
    tmp_path: Path, content: str | None, arguments: list[str], sentence: str
) -> None:
    path = tmp_path / "leads.csv"
    if content is not None:
        path.write_text(content)

    result = paceline(path, *arguments)

    assert result.exit_code == 2
    assert sentence in result.stderr
    assert "Traceback" not in result.output


def test_a_row_without_a_phone_is_rejected_and_the_others_are_sent(tmp_path: Path) -> None:
    path = tmp_path / "leads.csv"
    path.write_text("phone,first_name\n+12025550101,Ana\n,Ben\n")

    summary = summary_of(path, "--out", tmp_path / "out")

    assert summary["leads"] == {"in": 2, "rejected": 1, "duplicates": 0, "opted_out": 0, "accepted": 1}
    assert "2,3,,,rejected,blank_phone" in (tmp_path / "out" / "outcomes.csv").read_text()
