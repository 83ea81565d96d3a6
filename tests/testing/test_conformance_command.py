"""`paceline conformance`: what the engine really did is written, and one broken case never loses the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from console.cli import main

PARALLEL = {
    "StartAt": "Both",
    "States": {
        "Both": {
            "Type": "Parallel",
            "Branches": [{"StartAt": "Left", "States": {"Left": {"Type": "Pass", "End": True}}}],
            "End": True,
        }
    },
}
COMPARATOR = """
def problems(case, actual, level="result"):
    if level == "result":
        return [] if actual["status"] == case["expected"]["status"] else ["status"]
    ours, theirs = [e["type"] for e in actual["events"]], case["expected"]["events"]
    return [] if sorted(ours) == sorted(theirs) else ["events"]
"""


def case(name: str, **changes: Any) -> dict[str, Any]:
    """A case of one Pass state that gives its input back."""
    definition = {"StartAt": "Give Back", "States": {"Give Back": {"Type": "Pass", "End": True}}}
    events = ["ExecutionStarted", "PassStateEntered", "PassStateExited", "ExecutionSucceeded"]
    usual = {
        "id": name,
        "area": "pass",
        "definition": definition,
        "input": {"n": 1},
        "lambdas": {},
        "s3": {},
        "concurrent": False,
        "events_sorted": False,
        "expected": {"status": "SUCCEEDED", "output": {"n": 1}, "events": events},
    }
    return usual | changes


def conformance(folder: Path, content: Any, *options: str) -> Result:
    path = folder / "recorded.json"
    path.write_text(content if isinstance(content, str) else json.dumps({"cases": content}))
    return CliRunner().invoke(main, ["conformance", str(path), "--json", str(folder / "out.json"), *options])


def written(folder: Path) -> dict[str, Any]:
    actual: dict[str, Any] = json.loads((folder / "out.json").read_text())
    return actual


def test_what_the_engine_did_is_written_by_case(tmp_path: Path) -> None:
    result = conformance(tmp_path, [case("one")])

    assert result.exit_code == 0, result.output
    actual = written(tmp_path)["one"]
    assert set(actual) == {"status", "output", "error", "cause", "events"}
    assert (actual["status"], actual["output"]) == ("SUCCEEDED", {"n": 1})
    assert actual["events"][1] == {
        "type": "PassStateEntered", "id": 2, "previousEventId": 0, "name": "Give Back", "input": {"n": 1}
    }  # fmt: skip


def test_the_table_says_how_many_conform_where_a_comparator_lies_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "compare.py").write_text(COMPARATOR)
    wrong = case("two", expected={"status": "SUCCEEDED", "events": ["ExecutionStarted"]})

    result = conformance(tmp_path, [case("one"), wrong])

    assert result.stdout.splitlines()[1].split() == ["pass", "2", "2", "1", "1"]


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        pytest.param({"id": "broken", "area": "pass"}, "definition", id="a case without a definition"),
        pytest.param("no case", "str", id="a case that is no object"),
        pytest.param(case("one"), "another case has this id", id="a second case of the same id"),
        pytest.param(
            case(
                "broken",
                lambdas={"f": {"behaviour": "dance"}},
                definition={
                    "StartAt": "Call",
                    "States": {
                        "Call": {
                            "Type": "Task",
                            "Resource": "arn:aws:states:::lambda:invoke",
                            "Parameters": {"FunctionName": "f"},
                            "End": True,
                        }
                    },
                },
            ),
            "dance",
            id="a function's behaviour that nobody knows",
        ),
    ],
)
def test_a_case_that_cannot_be_run_is_named_and_the_others_are_kept(tmp_path: Path, broken: Any, why: str) -> None:
    result = conformance(tmp_path, [case("one"), broken, case("three")])

    assert result.exit_code == 1
    assert why in result.stderr
    statuses = {name: actual["status"] for name, actual in written(tmp_path).items()}
    assert (statuses.pop("one"), statuses.pop("three")) == ("SUCCEEDED", "SUCCEEDED")
    assert set(statuses.values()) <= {"NOT_RUN"}


@pytest.mark.parametrize("content", ["not json", "[]", '{"cases": 3}', '{"cases": []}'])
def test_a_file_that_is_no_recording_is_refused(tmp_path: Path, content: str) -> None:
    result = conformance(tmp_path, content)

    assert result.exit_code == 2
    assert result.stderr.startswith("Error: ")
    assert not (tmp_path / "out.json").exists()


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["conformance", str(tmp_path / "none.json")])

    assert result.exit_code == 2
    assert "No such file" in result.stderr


@pytest.mark.parametrize(("option", "value"), [("--area", "other"), ("--id", "two")])
def test_only_the_chosen_cases_are_run(tmp_path: Path, option: str, value: str) -> None:
    conformance(tmp_path, [case("one"), case("two", area="other")], option, value)

    assert set(written(tmp_path)) == {"two"}


def test_events_that_a_sorted_recording_lost_are_written_and_left_out_of_the_score_only(tmp_path: Path) -> None:
    (tmp_path / "compare.py").write_text(COMPARATOR)
    recorded = [
        "ExecutionStarted", "ParallelStateEntered", "ParallelStateStarted", "PassStateEntered", "PassStateExited",
        "ParallelStateExited", "ExecutionSucceeded",
    ]  # fmt: skip
    expected = {"status": "SUCCEEDED", "events": recorded}

    result = conformance(tmp_path, [case("one", definition=PARALLEL, events_sorted=True, expected=expected)])

    assert "ParallelStateSucceeded" in [event["type"] for event in written(tmp_path)["one"]["events"]]
    assert result.stdout.splitlines()[1].split() == ["pass", "1", "1", "1", "1"]
    assert "0 of 1 conform at level events" in result.stdout
