"""rejects.csv: read as it was written, safe in a spreadsheet, and its numbers good for another upload."""

from __future__ import annotations

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.leads.phone import PhoneNumber, normalise
from paceline.leads.reading import open_lead_file
from paceline.leads.rejects import Rejects, read_rejects
from paceline.models import ExcludedLead
from paceline.status import Excluded

FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")


def written(*leads: ExcludedLead) -> bytes:
    rejects = Rejects()
    for lead in leads:
        rejects.add(lead)
    return rejects.to_csv()


excluded_leads = st.builds(
    ExcludedLead,
    lead_no=st.integers(1, 10**6),
    row_number=st.integers(2, 10**6),
    kind=st.sampled_from(Excluded),
    reason=st.text(st.characters(codec="utf-8", exclude_categories=["Cc"])),
    explanation=st.sampled_from(["", "The same number as in row 3.", "no x;=1+1, and"]),
    phone_number=st.sampled_from(["", "+12025550101", "=1+1", "'+1", '"a", b', "x\r\ny", "-5;=1"]),
)


@given(st.lists(excluded_leads, max_size=5))
def test_rows_are_read_as_they_were_written(leads: list[ExcludedLead]) -> None:
    stream = io.BytesIO(written(*leads))

    assert list(read_rejects(stream)) == leads
    assert not stream.closed


def test_a_file_without_guards_is_read_too() -> None:
    file = (
        b"lead_no,row_number,kind,reason,phone_number,explanation\r\n1,2,duplicates,duplicate,+12025550101,Twice.\r\n"
    )

    assert list(read_rejects(io.BytesIO(file))) == [
        ExcludedLead(1, 2, Excluded.DUPLICATE, "duplicate", "+12025550101", "Twice.")
    ]


@pytest.mark.parametrize("separator", [",", ";", "\t"], ids=["comma", "semicolon", "tab"])
@pytest.mark.parametrize(
    "field_name", ["=HYPERLINK(1)", "@SUM(A1)", "+1", "-1", "\t=1", "\r=1", "x;=1", "x\t=1", "＝1", "\u00a0=1"]
)
def test_a_fields_name_from_the_message_runs_in_no_spreadsheet(field_name: str, separator: str) -> None:
    explanation = f"{field_name} is blank in this row."

    text = written(ExcludedLead(1, 2, Excluded.REJECTED, "blank_field", explanation=explanation)).decode()

    cells = [cell for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) for cell in row]
    assert not [cell for cell in cells if FORMULA.match(cell)]


def test_the_numbers_of_a_list_are_the_same_when_it_is_uploaded_again() -> None:
    numbers = [f"+1202555{line:04}" for line in range(128, 133)]
    file = written(*(ExcludedLead(n, n + 1, Excluded.OPTED_OUT, "opted_out", e164) for n, e164 in enumerate(numbers)))

    again = [normalise(values["phonenumber"]) for _, _, values in open_lead_file(io.BytesIO(file), "rejects.csv")]

    assert again == list(map(PhoneNumber, numbers))
