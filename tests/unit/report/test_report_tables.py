"""The CSV files: every lead once, times to the microsecond, and no cell that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import re
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_builders import NOON, a_message, a_skipped_message

from paceline.cells import read_cell, safe_cell
from paceline.models import ExcludedLead, Lead
from paceline.report import (
    OUTCOME_COLUMNS,
    TIMELINE_COLUMNS,
    outcome_rows,
    timeline_rows,
    write_csv,
)
from paceline.report.tables import utc
from paceline.status import Excluded, MessageStatus

FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
ATTACKS = [
    "\tplain",  # a tab alone is enough for some
    "\rplain",
    "=1+1",
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "  =1+1",  # some programs trim
    "\u00a0=1",
    "\uff1d1+1",  # full-width =
    "\x00=1",
    'x;=HYPERLINK("https://example.test")',  # two cells where the list separator is a semicolon
    "x\t=1",
    'x"=1',
    "a,b|=1",
]


def a_lead(lead_no: int = 1) -> Lead:
    return Lead(lead_no=lead_no, phone_number=f"+120255501{lead_no:02}", text="Hello", parts=1)


def parse(pieces: object) -> list[dict[str, str]]:
    text = b"".join(pieces).decode()  # type: ignore[call-overload]
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_outcomes_has_one_row_for_each_lead_of_the_file_in_the_files_order() -> None:
    leads = [
        (a_lead(4), a_message(4, status=MessageStatus.UNDELIVERED, cause="carrier_filtered")),
        (a_lead(1), a_message(1)),
    ]
    excluded = [
        ExcludedLead(2, 3, Excluded.REJECTED, "not_a_number", "12"),
        ExcludedLead(3, 4, Excluded.OPTED_OUT, "opted_out", "+12025550103"),
    ]

    rows = parse(write_csv(outcome_rows(leads, excluded), OUTCOME_COLUMNS))

    assert [row["lead_no"] for row in rows] == ["1", "2", "3", "4"]
    assert [row["outcome"] for row in rows] == ["delivered", "rejected", "opted_out", "undelivered"]
    assert [row["row_number"] for row in rows] == ["", "3", "4", ""]
    assert [row["cause"] for row in rows] == ["", "not_a_number", "opted_out", "carrier_filtered"]
    assert rows[0]["sent_at"] == "2026-09-02T12:00:00.250000Z"
    assert rows[1]["sent_at"] == rows[1]["route"] == ""


def test_an_accepted_lead_without_a_message_is_still_in_the_file() -> None:
    rows = parse(write_csv(outcome_rows([(a_lead(1), None)], []), OUTCOME_COLUMNS))

    assert [(row["lead_no"], row["outcome"]) for row in rows] == [("1", "no_message")]


def test_a_phone_number_is_text_in_a_spreadsheet_and_whole_for_a_program() -> None:
    rows = parse(write_csv(outcome_rows([(a_lead(1), a_message(1))], []), OUTCOME_COLUMNS))

    assert rows[0]["phone_number"] == "'+12025550101"
    assert read_cell(rows[0]["phone_number"]) == "+12025550101"


@pytest.mark.parametrize("attack", ATTACKS, ids=repr)
@pytest.mark.parametrize("separator", [",", ";", "\t"], ids=["comma", "semicolon", "tab"])
def test_no_cell_starts_a_formula_whatever_separator_the_spreadsheet_assumes(attack: str, separator: str) -> None:
    excluded = [ExcludedLead(1, 2, Excluded.REJECTED, attack, attack)]

    text = b"".join(write_csv(outcome_rows([], excluded), OUTCOME_COLUMNS)).decode()

    cells = [cell for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) for cell in row]
    assert not [cell for cell in cells if FORMULA.match(cell)]


@pytest.mark.parametrize("number", [-2, 0, 13])
def test_a_number_of_ours_stays_a_number(number: int) -> None:
    assert safe_cell(number) == str(number)


@given(st.text() | st.text(st.sampled_from("=+-@'\"\t\r\n ;,|x\uff1d\u00a0")))
def test_no_text_starts_a_formula_and_every_text_without_control_characters_comes_back(text: str) -> None:
    cell = safe_cell(text)

    assert not FORMULA.match(cell)
    assert read_cell(cell) == re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", "", text)


def test_timeline_has_one_row_for_each_message_by_lead_and_blanks_for_what_was_never_sent() -> None:
    rows = parse(write_csv(timeline_rows([a_message(12), a_skipped_message(3), a_message(2)]), TIMELINE_COLUMNS))

    assert [row["lead_no"] for row in rows] == ["2", "3", "12"]
    assert (rows[1]["slot"], rows[1]["sent_at"], rows[1]["outcome"]) == ("", "", "skipped")
    assert rows[0]["sent_at"] == "2026-09-02T12:00:00.500000Z"


def test_times_are_written_in_utc_with_all_their_digits() -> None:
    time = datetime(2026, 9, 2, 8, 0, 0, 7, tzinfo=timezone(timedelta(hours=-4)))

    assert utc(time) == "2026-09-02T12:00:00.000007Z"
    assert utc(NOON) == "2026-09-02T12:00:00.000000Z"


def test_a_large_file_is_written_in_pieces() -> None:
    leads = (ExcludedLead(n, n + 1, Excluded.DUPLICATE, "duplicate", "+12025550101") for n in range(1, 20_001))

    pieces = list(write_csv(outcome_rows([], leads), OUTCOME_COLUMNS))

    assert len(pieces) > 5
    assert max(map(len, pieces)) < 70_000
    assert b"".join(pieces).count(b"\r\n") == 20_001
