"""What every run promises: the same by the same seed, only what its roles allow, few writes of shared rows."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from paceline import keys
from sandbox.carrier import Profile
from sandbox.deployment import ROOT
from tests.builders.campaigns import an_office, is_balanced

ROUGH = Profile(throttled=0.05, failing=0.05, silent=0.05, refused=(("21614", 0.05),))

# -- the same seed -------------------------------------------------------------------------------------------------


def timeline(seed: int) -> bytes:
    with an_office(profile=ROUGH, seed=seed) as office:
        office.start(30)
        office.report()
        return office.file("timeline.csv")


def test_the_same_seed_gives_the_same_timeline_byte_for_byte_and_another_seed_another() -> None:
    first, again, other = timeline(7), timeline(7), timeline(8)

    assert first == again
    assert first != other
    assert first.count(b"\n") == other.count(b"\n") == 31


# -- permissions ---------------------------------------------------------------------------------------------------


def without(template: str, function: str, action: str) -> str:
    """Return the template with an action taken from one function's policies."""
    start = template.index(f"  {function}:")
    end = template.index("\n\n", start)
    block = template[start:end]
    assert action in block
    return template[:start] + re.sub(rf'"?{re.escape(action)}"?,? ?', "", block, count=1) + template[end:]


@pytest.fixture
def stripped(tmp_path: Path) -> Path:
    """A copy of the template and its definitions."""
    (tmp_path / "statemachines").symlink_to(ROOT / "statemachines")
    return tmp_path / "template.yaml"


def test_a_call_that_the_role_does_not_allow_is_refused_with_function_action_and_resource(stripped: Path) -> None:
    stripped.write_text(without((ROOT / "template.yaml").read_text(), "SendFunction", "dynamodb:UpdateItem"))
    with an_office(template=stripped) as office:
        office.start(1)

        report = office.report()

        causes = {
            json.loads(event["taskFailedEventDetails"]["cause"])["errorMessage"]
            for _, history in office.histories()
            for event in history
            if event["type"] == "TaskFailed" and event["taskFailedEventDetails"]["error"] == "ServiceFault"
        }
        refused = (
            r"function \S*SendFunction\S* is not allowed to call dynamodb:UpdateItem on arn:aws:dynamodb:\S*:table/"
        )
        assert causes
        assert all(re.search(refused, cause) for cause in causes)
        assert office.sent == 0
        assert report["outcomes"]["delivered"] == 0


# -- contention ----------------------------------------------------------------------------------------------------


def promised_writes() -> dict[str, tuple[float, float]]:
    """Read the table of rows in keys.py: what a row is called → from, to how many writes per 1,000 sends."""
    found = {}
    for line in (keys.__doc__ or "").splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        if len(cells) == 4 and (numbers := re.findall(r"\d+(?:\.\d+)?", cells[2])):
            low, high = float(numbers[0]), float(numbers[1] if len(numbers) > 1 else numbers[0])
            per_message = 1000 if "a message" in cells[2] or "a receipt" in cells[2] else 1
            found[cells[0]] = (low * per_message, high * per_message)
    return found


KINDS = {
    "account": "ACCOUNT",
    "route day": "DAY",
    "account day": "DAY",
    "route pace": "PACE",
    "batch": "BATCH",
    "lease": "LEASE",
    "message": "MESSAGE",
    "recipient": "RECIPIENT",
    "hold": "HOLD",
}


def test_a_thousand_sends_write_shared_rows_at_most_two_hundred_times_and_the_table_of_rows_holds() -> None:
    with an_office() as office:
        by_kind = office.sandbox.counters.by_kind
        before, shared_before = Counter(by_kind), office.sandbox.counters.shared_row_writes
        office.start((ROOT / "events" / "leads-1000.csv").read_bytes(), route="shared")

        report = office.report()

        sends = office.sent
        assert is_balanced(office, report)
        assert sends >= 950
        shared = office.sandbox.counters.shared_row_writes - shared_before
        assert shared * 1000 / sends <= 200
        written = Counter[str]()
        for (action, kind), count in (by_kind - before).items():
            written[kind] += count if action in ("Put", "Update", "Delete") else 0
        for row, (_, most) in promised_writes().items():
            for name in row.split(", "):
                if name in KINDS:
                    assert written[KINDS[name]] * 1000 / sends <= most * 1.1, (name, written)
        assert not {"HOLD"} & written.keys()
