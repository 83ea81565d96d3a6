"""A lead's line in a batch object: JSON, one line, and the same lead when it is read back."""

from __future__ import annotations

import json

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
