"""A campaign killed at its calls: a sample here; the whole by `make simulate`."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from console.cli import main
from sandbox.faults import KILLS, Fault
from sandbox.simulation.kill_everywhere import Setting, kill_at, kill_everywhere


def test_a_sample_of_all_calls_shows_nothing_sent_twice_and_nothing_lost() -> None:
    outcome = kill_everywhere(Setting(leads=6), every=131, workers=2)

    assert outcome.found == []
    assert outcome.positions > 300
    assert outcome.runs == outcome.positions // 131 * len(KILLS) + 1


@pytest.mark.whole
def test_every_call_of_a_small_campaign_shows_nothing_sent_twice_and_nothing_lost() -> None:
    outcome = kill_everywhere(Setting(leads=6))

    assert outcome.found == []


def test_one_position_is_replayed_with_the_same_end_as_in_the_run_of_all() -> None:
    setting = Setting(leads=6)

    outcome = kill_at(setting, 100, Fault.AFTER)

    assert outcome.found == []
    assert outcome.runs == 1


def test_the_command_needs_to_know_where_to_kill() -> None:
    result = CliRunner().invoke(main, ["simulate", "--leads", "6"])

    assert result.exit_code == 2
    assert "--kill-everywhere and --kill-at" in result.output


def test_the_command_prints_one_json_object() -> None:
    arguments = ["simulate", "--kill-at", "60", "--when", "before", "--leads", "3", "--json"]

    result = CliRunner().invoke(main, arguments)

    summary = json.loads(result.output)
    assert result.exit_code == 0, result.output
    assert {
        "positions",
        "runs",
        "sent_twice",
        "lost",
        "credits_off",
        "other",
        "violations",
        "seconds",
    } == summary.keys()
    assert (summary["runs"], summary["violations"]) == (1, [])
