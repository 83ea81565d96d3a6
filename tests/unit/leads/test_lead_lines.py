"""A lead's line in a batch object: JSON, one line, and the same lead when it is read back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.leads.lines import lead_to_line, leads_from_lines
from paceline.models import Lead

leads = st.builds(
    Lead,
    lead_no=st.integers(1, 10**7),
    phone_number=st.integers(2_000_000_000, 9_999_999_999).map("+1{}".format),
    text=st.text(st.characters(exclude_categories=["Cs"])),
    parts=st.integers(1, 20),
    row_number=st.integers(0, 10**7),
)


@given(st.lists(leads, max_size=4))
def test_leads_are_read_as_they_were_written(some: list[Lead]) -> None:
    lines = b"".join(map(lead_to_line, some))

    assert list(leads_from_lines(lines)) == some
    assert lines.count(b"\n") == len(some)


@given(leads)
def test_a_line_is_what_json_itself_would_write(lead: Lead) -> None:
    fields = {name: getattr(lead, name) for name in Lead.__slots__}

    assert lead_to_line(lead).decode() == json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n"


GOOD = {"lead_no": 1, "phone_number": "+12025550101", "text": "Hi", "parts": 1, "row_number": 2}


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"\0\0\0", id="no JSON"),
        pytest.param(b"\xff", id="no UTF-8"),
        pytest.param(b"[1]", id="no object"),
        pytest.param(json.dumps({**GOOD, "text": None}).encode(), id="without a text"),
        pytest.param(json.dumps({**GOOD, "parts": "1"}).encode(), id="parts that are no number"),
        pytest.param(json.dumps({**GOOD, "phone_number": "12"}).encode(), id="a number that is none"),
        pytest.param(json.dumps({**GOOD, "more": 1}).encode(), id="a field too many"),
        pytest.param(json.dumps({k: v for k, v in GOOD.items() if k != "phone_number"}).encode(), id="no number"),
    ],
)
def test_a_line_that_is_no_lead_is_no_fate_of_the_others(line: bytes) -> None:
    lead = Lead(**GOOD)

    assert list(leads_from_lines(line + b"\n" + lead_to_line(lead))) == [lead]
