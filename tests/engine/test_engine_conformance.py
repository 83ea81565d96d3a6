"""The engine against executions recorded on AWS. The recordings are not part of the project."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from console.conformance import comparable, load_comparator
from sandbox.engine.conformance import run_cases

RECORDINGS = Path(__file__).resolve().parents[3] / "shared" / "conformance"
LEAST_RATES = {"result": 1.0, "types": 0.97, "events": 0.97}

pytestmark = pytest.mark.skipif(
    not (RECORDINGS / "given.json").exists(), reason="the recordings are not here (../shared/conformance)"
)


@pytest.fixture(scope="module")
def cases() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((RECORDINGS / "given.json").read_text())["cases"]
    return found


@pytest.fixture(scope="module")
def actual() -> dict[str, dict[str, Any]]:
    return run_cases(RECORDINGS / "given.json")


@pytest.mark.parametrize("level", list(LEAST_RATES))
def test_every_area_conforms_to_what_was_recorded_on_aws(
    level: str, cases: list[dict[str, Any]], actual: dict[str, dict[str, Any]]
) -> None:
    problems = load_comparator(RECORDINGS)
    assert problems is not None

    failures = {
        case["id"]: found for case in cases if (found := problems(case, comparable(case, actual[case["id"]]), level))
    }

    totals = Counter(case["area"] for case in cases)
    failed = Counter(case["area"] for case in cases if case["id"] in failures)
    rates = {area: 1 - failed[area] / total for area, total in totals.items()}
    assert min(rates.values()) >= LEAST_RATES[level], failures
