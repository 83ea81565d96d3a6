"""`paceline contention`: the old designs give the story's figures, and ours shares no row that a send writes."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from console.cli import main
from console.contention.tables import show
from sandbox.contention.cells import measure
from sandbox.contention.figures import figures_of
from sandbox.contention.loads import Cell
from sandbox.contention.pool import Pool

FIGURES = {
    "design",
    "workers",
    "ceiling_parts_per_minute",
    "sends",
    "measured_seconds",
    "sends_per_minute",
    "conflicts_per_1000_sends",
    "refused_by_condition_per_1000_sends",
    "shared_row_writes_per_1000_sends",
    "hottest_row",
    "lambda_ms_per_send",
    "rows",
}


def contention(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["contention", *map(str, arguments)])


@cache
def figures(design: str, workers: int) -> dict[str, Any]:
    """Return one cell at the story's ceiling, measured for a minute."""
    return figures_of(measure(Cell(design, workers, 500), seed=1, minutes=1))


def rows_that_sends_write(cell: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["row"]: row for row in cell["rows"] if row["most_messages_on_a_row"]}


@pytest.mark.parametrize(
    ("workers", "a_minute"),
    [
        pytest.param(2, 77, id="two workers, 77 in the story's logs"),
        pytest.param(8, 200, id="eight, about 200"),
        pytest.param(16, 240, id="sixteen, only about 240"),
    ],
)
def test_rewrite_gives_the_storys_sends_a_minute(workers: int, a_minute: int) -> None:
    assert figures("rewrite", workers)["sends_per_minute"] == pytest.approx(a_minute, rel=0.15)


def test_more_workers_on_rewrite_are_more_conflicts_and_hardly_more_sends() -> None:
    two, eight, sixteen = (figures("rewrite", workers) for workers in (2, 8, 16))

    conflicts = [cell["conflicts_per_1000_sends"] for cell in (two, eight, sixteen)]
    assert conflicts == sorted(conflicts)
    assert sixteen["conflicts_per_1000_sends"] * sixteen["sends_per_minute"] / 1000 > 80  # "more than 100", in a minute
    assert eight["sends_per_minute"] > 2 * two["sends_per_minute"]
    assert sixteen["sends_per_minute"] < 1.4 * eight["sends_per_minute"]


def test_with_add_sixteen_workers_reach_the_ceiling_nearly() -> None:
    rewrite, add = figures("rewrite", 16), figures("add", 16)

    assert 409 <= add["sends_per_minute"] <= 500  # the story's queue fell by 409 in a minute
    assert add["conflicts_per_1000_sends"] < rewrite["conflicts_per_1000_sends"]
    assert add["shared_row_writes_per_1000_sends"] < rewrite["shared_row_writes_per_1000_sends"] / 3


@pytest.mark.parametrize("design", ["rewrite", "add"])
def test_every_send_of_the_old_designs_writes_rows_that_other_sends_write(design: str) -> None:
    rows = rows_that_sends_write(figures(design, 16))

    assert {name for name, row in rows.items() if row["shared"]} == {"account", "account day", "route minute"}
    assert rows["account"]["rows"] == 1
    assert rows["account"]["writes_per_1000_sends"] > 1000


def test_no_row_that_a_send_of_ours_writes_is_written_by_another_send() -> None:
    leased = figures("leased", 16)
    rows = rows_that_sends_write(leased)

    assert {"batch message", "recipient"} <= rows.keys()
    assert {name: row["most_messages_on_a_row"] for name, row in rows.items()} == dict.fromkeys(rows, 1)
    assert not any(row["shared"] for row in rows.values())


def test_ours_keeps_to_the_ceiling_without_conflicts_and_writes_shared_rows_once_a_batch() -> None:
    leased = figures("leased", 16)

    assert 300 <= leased["sends_per_minute"] <= 500
    assert leased["conflicts_per_1000_sends"] < 1
    assert leased["shared_row_writes_per_1000_sends"] < 250
    assert {"account", "route pace"} <= {row["row"] for row in leased["rows"] if row["shared"]}


def test_the_command_prints_and_writes_the_same_json_and_a_picture(tmp_path: Path) -> None:
    options = ("--workers", 2, "--ceilings", 500, "--designs", "rewrite,add", "--minutes", 1)
    out = tmp_path / "new" / "folder"

    result = contention(*options, "--out", out, "--json")

    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed == json.loads((out / "contention.json").read_text())
    assert (out / "contention.png").read_bytes().startswith(b"\x89PNG")
    assert printed["calibration"].keys() >= {"answer_seconds", "call_seconds", "commit_seconds"}
    rewrite, add = printed["cells"]
    assert rewrite.keys() == add.keys() == FIGURES
    assert rewrite["hottest_row"].keys() == {"row", "writes_per_second", "writes_in_busiest_second"}
    assert rewrite == figures("rewrite", 2)  # the same seed, the same figures
    assert "  2 of 2  add, 2 workers, ceiling 500" in result.stderr


def test_a_person_sees_the_table_of_designs_and_the_rows_of_each(capsys: pytest.CaptureFixture[str]) -> None:
    show([figures("rewrite", 2), figures("rewrite", 16), figures("add", 16)], Console(width=150))

    shown = capsys.readouterr().out
    assert "Shared-row" in shown
    assert "Rows that rewrite writes (16 workers, 500 a minute), per 1,000 sends:" in shown
    assert "Rows that add writes (16 workers, 500 a minute), per 1,000 sends:" in shown
    assert "nobody" in shown


def test_a_design_that_sends_nothing_is_an_error_and_status_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pool, "start", lambda pool: None)

    result = contention("--workers", 2, "--ceilings", 500, "--designs", "add", "--out", tmp_path)

    assert result.exit_code == 1
    assert "add sent nothing with 2 workers at 500 a minute" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        pytest.param(["--workers", "2,many"], "write it like 2,8,16", id="a word among the workers"),
        pytest.param(["--workers", "0"], "greater than 0", id="no workers"),
        pytest.param(["--ceilings", ""], "write it like 2,8,16", id="no ceiling"),
        pytest.param(["--designs", "rewrite,best"], "designs: rewrite, add, leased", id="an unknown design"),
        pytest.param(["--minutes", "0"], "--minutes", id="no time"),
        pytest.param(["--out", "README.md"], "README.md", id="a file for a folder"),
        pytest.param(["--out", "README.md/out"], "cannot be written", id="a folder in a file"),
    ],
)
def test_bad_input_is_one_clear_error_and_status_2(arguments: list[str], sentence: str) -> None:
    result = contention(*arguments)

    assert result.exit_code == 2
    assert sentence in result.stderr
    assert "Traceback" not in result.output
