"""One lead list in every form that customers export: whatever the form, the same leads in the same rows."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from paceline.errors import LeadFileInvalid
from paceline.leads import decoding
from paceline.leads.headings import FAULT
from paceline.leads.names import trimmed
from paceline.leads.reading import LeadFile, open_lead_file

HEADINGS = ["Phone Number", "First_Name", "offer"]
PEOPLE = [
    ["+12025550101", "José", 'Save 10,50; or "12|00"'],
    ["(202) 555-0102", "Ana", "first line\nsecond line"],
    ["202-555-0103", "D’Arcy", "tab\there, comma"],
]
EXPECTED = [
    (number, number + 1, dict(zip(("phonenumber", "firstname", "offer"), person, strict=True)))
    for number, person in enumerate(PEOPLE, start=1)
]


def opened(body: bytes, name: str = "leads.csv") -> LeadFile:
    return open_lead_file(io.BytesIO(body), name)


def as_csv(delimiter: str = ",", line_end: str = "\r\n", quoting: Any = csv.QUOTE_MINIMAL) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=line_end, quoting=quoting).writerows([HEADINGS, *PEOPLE])
    return text.getvalue()


def as_jsonl(*objects: Any) -> str:
    made = objects or tuple(dict(zip(HEADINGS, person, strict=True)) for person in PEOPLE)
    return "".join(json.dumps(one) + "\n" for one in made)


def a_workbook(*rows: list[Any], first_cell: tuple[int, int] = (1, 1), others: dict[str, str] | None = None) -> bytes:
    """others: further sheets, each hidden or visible, with something in them."""
    workbook = Workbook()
    sheet = workbook.active
    sheet.title = "Leads"
    for down, row in enumerate(rows):
        for right, value in enumerate(row):
            sheet.cell(first_cell[0] + down, first_cell[1] + right, value)
    for name, state in (others or {}).items():
        other = workbook.create_sheet(name, 0 if state == "hidden" else None)
        other.sheet_state = state
        other["A1"] = "phone"
    file = io.BytesIO()
    workbook.save(file)
    return file.getvalue()


ENCODINGS: dict[str, Callable[[str], bytes]] = {
    "UTF-8": str.encode,
    "UTF-8 with a mark": lambda text: text.encode("utf-8-sig"),
    "UTF-16 with a mark": lambda text: text.encode("utf-16"),
    "UTF-16, big end first, with a mark": lambda text: ("\ufeff" + text).encode("utf-16-be"),
    "UTF-16 without a mark": lambda text: text.encode("utf-16-le"),
    "UTF-16, big end first, without a mark": lambda text: text.encode("utf-16-be"),
    "Windows-1252": lambda text: text.encode("windows-1252"),
}


@pytest.mark.parametrize("is_packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"], ids=["comma", "semicolon", "tab", "bar"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_csv_gives_the_same_leads_in_every_form(encoding: str, delimiter: str, line_end: str, is_packed: bool) -> None:
    body = ENCODINGS[encoding](as_csv(delimiter, line_end))

    assert list(opened(gzip.compress(body) if is_packed else body)) == EXPECTED


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"], ids=["comma", "semicolon", "tab", "bar"])
def test_csv_with_every_cell_quoted_is_the_same(delimiter: str) -> None:
    assert list(opened(as_csv(delimiter, quoting=csv.QUOTE_ALL).encode())) == EXPECTED


@pytest.mark.parametrize("encoding", [name for name in ENCODINGS])
def test_json_lines_give_the_same_leads_in_every_encoding(encoding: str) -> None:
    lines = "".join(json.dumps(json.loads(line), ensure_ascii=False) + "\n" for line in as_jsonl().splitlines())

    rows = list(opened(ENCODINGS[encoding](lines), "leads.jsonl"))

    assert [values for _, _, values in rows] == [values for _, _, values in EXPECTED]
    assert [row_number for _, row_number, _ in rows] == [1, 2, 3]  # an editor's line numbers: there is no heading


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_workbook_gives_the_same_leads(pack: Callable[[bytes], bytes]) -> None:
    assert list(opened(pack(a_workbook(HEADINGS, *PEOPLE)), "leads.xlsx")) == EXPECTED


def test_what_a_file_is_its_bytes_say_and_not_its_name() -> None:
    assert list(opened(a_workbook(HEADINGS, *PEOPLE), "leads.csv")) == EXPECTED
    assert list(opened(as_csv().encode(), "leads.xlsx")) == EXPECTED


# -- workbooks ------------------------------------------------------------------------------------------------------


def test_rows_of_a_workbook_have_excels_numbers_wherever_the_table_stands() -> None:
    body = a_workbook(["phone", "name"], ["2025550101", "Ana"], [None, None], ["2025550102", "Ben"], first_cell=(4, 3))

    assert [row_number for _, row_number, _ in opened(body)] == [5, 7]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        pytest.param(12025550101, "12025550101", id="a number kept as a number"),
        pytest.param(" +1 202 555 0101\u200b", "+1 202 555 0101", id="text with blanks around it"),
        pytest.param(12025600000, "1.20256E+10", id="a number whose last digits a spreadsheet has lost"),
        pytest.param("1.20256E+10", "1.20256E+10", id="such a number as text"),
        pytest.param(2025550101.5, "2025550101.5", id="no whole number"),
        pytest.param(1e20, "1e+20", id="a number beyond all digits"),
    ],
)
def test_a_phone_cell_is_the_digits_that_excel_holds_and_never_lost_ones_made_up(cell: Any, text: str) -> None:
    [(_, _, values)] = opened(a_workbook(["phone"], [cell]))

    assert values["phone"] == text


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        pytest.param(7, "7", id="a whole number"),
        pytest.param(100000, "100000", id="a round amount is no lost digits"),
        pytest.param(0, "0", id="zero is a value"),
        pytest.param(1.5, "1.5", id="a fraction"),
        pytest.param(True, "TRUE", id="true"),
        pytest.param(date(2026, 9, 3), "2026-09-03", id="a date"),
        pytest.param(datetime(2026, 9, 3, 14, 5), "2026-09-03 14:05", id="a date with a time"),  # noqa: DTZ001 (a workbook has no zones)
        pytest.param(time(14, 5), "14:05", id="a time"),
        pytest.param(timedelta(hours=3), "3:00:00", id="a duration"),
        pytest.param(None, "", id="an empty cell"),
        pytest.param("=1+1", "", id="a formula that was never calculated"),
    ],
)
def test_other_cells_are_text_as_a_person_would_type_it(cell: Any, text: str) -> None:
    [(_, _, values)] = opened(a_workbook(["phone", "value"], ["2025550101", cell]))

    assert values["value"] == text


def test_hidden_sheets_are_passed_over_and_other_sheets_are_named_in_a_note() -> None:
    file = opened(a_workbook(HEADINGS, *PEOPLE, others={"Lists": "hidden", "Old leads": "visible"}))

    assert list(file) == EXPECTED
    assert file.notes == ("Only the sheet 'Leads' is read, not 'Old leads'.",)


def test_hidden_rows_are_read_and_a_note_says_so() -> None:
    file = opened(with_rows(b'<row r="5" hidden="1"><c r="A5"><v>2025550104</v></c></row>'))

    assert [row_number for _, row_number, _ in file] == [2, 3, 4, 5]
    assert file.notes == ("Rows of the workbook are hidden, and they are read like the others.",)


def with_rows(rows: bytes) -> bytes:
    """A workbook whose sheet has more rows than it says."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(a_workbook(HEADINGS, *PEOPLE))) as made, zipfile.ZipFile(file, "w") as changed:
        for name in made.namelist():
            body = made.read(name)
            if name == "xl/worksheets/sheet1.xml":
                body = body.replace(b"</sheetData>", rows + b"</sheetData>")
            changed.writestr(name, body)
    return file.getvalue()


def an_archive(name: str, body: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, body)
    return file.getvalue()


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        pytest.param(a_workbook(), "is empty", id="nothing in it"),
        pytest.param(a_workbook(HEADINGS), "no leads", id="a heading alone"),
        pytest.param(a_workbook(["email"], ["ana@example.com"]), "headings are: 'email'", id="no phone column"),
        pytest.param(a_workbook(["Phone", "phone"], [1, 2]), "columns with one name", id="twins"),
        pytest.param(a_workbook(HEADINGS, *PEOPLE)[:3000], "damaged", id="cut short"),
        pytest.param(an_archive("leads.csv", b"phone\n1\n"), "zip archive", id="a zipped CSV file"),
        pytest.param(an_archive("xl/workbook.xml", b"no workbook"), "damaged", id="an archive that looks like one"),
        pytest.param(
            with_rows(b'<row r="1048576"><c t="n" r="XFD1048576"><v>1</v></c></row>'),
            "reaches to row 1,048,576 and column 16,384",
            id="a stray last cell, which the sheet's stated size leaves out",
        ),
        pytest.param(
            a_workbook(["Notes"], ["x"], others={"Old": "visible"}), "sheet 'Leads', the first", id="notes first"
        ),
    ],
)
def test_a_workbook_that_cannot_be_used_is_refused_with_what_to_do(body: bytes, sentence: str) -> None:
    with pytest.raises(LeadFileInvalid, match=sentence):
        list(opened(body, "leads.xlsx"))


# -- JSON lines -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param("null", "", id="null is no value"),
        pytest.param("0", "0", id="zero is one"),
        pytest.param("5", "5", id="a number"),
        pytest.param("5.10", "5.10", id="a number keeps its digits"),
        pytest.param("1.20256E+10", "1.20256E+10", id="a shortened number is not expanded"),
        pytest.param("12345678901234567890", "12345678901234567890", id="a long number is not rounded"),
        pytest.param("true", "true", id="true"),
        pytest.param('"Null"', "Null", id="a surname"),
        pytest.param('" \\u200b "', "", id="blanks"),
        pytest.param("NaN", "", id="not a number"),
        pytest.param("[1]", "", id="a list is no value"),
        pytest.param('{"a": 1}', "", id="an object is no value"),
    ],
)
def test_a_json_value_is_the_text_that_the_file_has(value: str, text: str) -> None:
    [(_, _, values)] = opened(f'{{"phone": "2025550101", "value": {value}}}\n'.encode())

    assert values["value"] == text


def test_objects_may_leave_names_out_and_have_them_in_any_order_and_spelling() -> None:
    body = as_jsonl({"Phone": "1", "b": "x"}, {"b": "y", "PHONE": "2", "First Name": "Ana"}, {"phone": "3"})

    file = opened(body.encode())

    assert file.columns == {"phone": "Phone", "b": "b", "firstname": "First Name"}
    assert [values for _, _, values in file] == [
        {"phone": "1", "b": "x", "firstname": ""},
        {"phone": "2", "b": "y", "firstname": "Ana"},
        {"phone": "3", "b": "", "firstname": ""},
    ]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        pytest.param('{"phone": "2025550102"', "broken_json", id="cut short"),
        pytest.param('"2025550102"', "broken_json", id="a text alone"),
        pytest.param('["2025550102"]', "broken_json", id="a list"),
        pytest.param('{"phone": 1}{"phone": 2}', "broken_json", id="two objects on a line"),
        pytest.param("[" * 100_000, "broken_json", id="deeper than anybody writes"),
        pytest.param('{"phone": "2025550102", "Phone": "2025550103"}', "twin_names", id="two spellings of one name"),
        pytest.param('{"phone": "2025550102", "phone": "2025550103"}', "twin_names", id="one name twice"),
        pytest.param('{"phone": null}', "no_values", id="nothing but nulls"),
        pytest.param("{}", "no_values", id="nothing at all"),
        pytest.param('{"phone": "2025550102", "name": "A\\u0000B"}', "no_character", id="NUL in a value"),
        pytest.param('{"phone": "2025550102", "name": "A\\ud83d"}', "no_character", id="half of an emoji"),
    ],
)
def test_a_line_that_cannot_be_used_is_one_faulty_row_with_its_line_number(line: str, fault: str) -> None:
    body = f'{{"phone": "2025550101"}}\n\n{line}\n{{"phone": "2025550104"}}\n'

    rows = list(opened(body.encode(), "leads.jsonl"))

    assert [(lead_no, row_number, values.get(FAULT)) for lead_no, row_number, values in rows] == [
        (1, 1, None),
        (2, 3, fault),
        (3, 4, None),
    ]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        pytest.param("", "is empty", id="nothing"),
        pytest.param("\n \n", "is empty", id="blank lines"),
        pytest.param("[]", "one JSON list", id="an empty list"),
        pytest.param('[{"phone": "2025550101"}]', "one JSON list", id="a list of leads"),
        pytest.param("{}\n{}\n", "not JSON lines", id="objects without a name"),
        pytest.param('{"phone":\n"2025550101"}\n', "not JSON lines", id="an object over several lines"),
        pytest.param('{"email": "ana@example.com"}\n', "headings are: 'email'", id="no phone"),
    ],
)
def test_json_that_is_no_list_of_leads_is_refused_as_a_file(body: str, sentence: str) -> None:
    with pytest.raises(LeadFileInvalid, match=sentence):
        list(opened(body.encode(), "leads.jsonl"))


# -- any file -------------------------------------------------------------------------------------------------------


def test_gzip_that_unpacks_to_more_than_anybodys_leads_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "MOST_UNPACKED_BYTES", 1 << 20)
    body = gzip.compress(b"phone\n2025550101\n" + b"2025550102,\n" * 100_000)

    with pytest.raises(LeadFileInvalid, match="more than 1 GiB"):
        list(opened(body, "leads.csv.gz"))


@pytest.mark.parametrize("opening", [b"phone\n1\n", b""], ids=["after the leads", "before a heading"])
def test_lines_beyond_any_list_of_leads_are_refused(opening: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "MOST_LINES", 5_000)

    with pytest.raises(LeadFileInvalid, match="more than 5,000 lines"):
        list(opened(opening + b"\n" * 6_000))


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\r\ufeff"), max_size=12).map(trimmed)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=6), st.sampled_from(",;\t|"))
def test_whatever_is_in_the_cells_comes_out_as_it_went_in(people: list[tuple[str, str]], delimiter: str) -> None:
    text = io.StringIO(newline="")
    rows = [("x", *person) for person in people]
    csv.writer(text, delimiter=delimiter).writerows([("phone", "name", "note"), *rows])

    found = [tuple(values.values()) for _, _, values in opened(text.getvalue().encode())]

    assert found == rows
