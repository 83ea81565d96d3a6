"""Lead files as customers make them: encodings, delimiters, headings, damage."""

from __future__ import annotations

import gzip
import io
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import LeadFileInvalid
from paceline.leads.headings import FAULT, Heading
from paceline.leads.names import trimmed
from paceline.leads.reading import LeadFile, Row, open_lead_file


def opened(content: str | bytes, encoding: str = "utf-8") -> LeadFile:
    body = content if isinstance(content, bytes) else content.encode(encoding)
    return open_lead_file(io.BytesIO(body), "leads.csv")


def rows_of(content: str | bytes, encoding: str = "utf-8") -> list[Row]:
    return list(opened(content, encoding))


def test_a_mark_before_the_first_heading_is_not_seen() -> None:
    file = opened("\ufeffPhone Number,backup phone number,First_Name\r\n+1 202-555-0101,+1 202-555-0190,Ana\r\n")

    assert file.headings == ("Phone Number", "backup phone number", "First_Name")
    assert file.phone_column == "Phone Number"
    assert file.columns["firstname"] == "First_Name"
    assert list(file) == [
        (1, 2, {"phonenumber": "+1 202-555-0101", "backupphonenumber": "+1 202-555-0190", "firstname": "Ana"})
    ]


@pytest.mark.parametrize("heading", ["phone", "  PHONE-NUMBER ", "phone_number", "phoneNumber", "Cell Phone", "Mobile"])
def test_the_phone_column_is_found_in_any_spelling(heading: str) -> None:
    assert opened(f"name,{heading}\nAna,2025550101\n").phone_column == heading.strip()


def test_the_preferred_phone_column_wins_wherever_it_stands() -> None:
    assert opened("mobile,phone\n2025550101,2025550102\n").phone_column == "phone"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("phone,name\n1,José\n".encode(), "José", id="UTF-8"),
        pytest.param("phone,name\n1,José\n".encode("utf-8-sig"), "José", id="UTF-8 with a mark"),
        pytest.param("phone,name\n1,José\n".encode("utf-16"), "José", id="UTF-16, little end first"),
        pytest.param("\ufeffphone,name\n1,José\n".encode("utf-16-be"), "José", id="UTF-16, big end first"),
        pytest.param("phone,name\n1,José\n".encode("utf-16-le"), "José", id="UTF-16 without a mark, little end first"),
        pytest.param("phone,name\n1,José\n".encode("utf-16-be"), "José", id="UTF-16 without a mark, big end first"),
        pytest.param("phone,name\n1,D’Arcy é\n".encode("windows-1252"), "D’Arcy é", id="Windows-1252"),
        pytest.param(gzip.compress("phone,name\n1,José\n".encode()), "José", id="gzip"),
        pytest.param(gzip.compress("phone,name\n1,José\n".encode("utf-16")), "José", id="gzip of UTF-16"),
        pytest.param("phone,name\r1,José\r".encode(), "José", id="line ends of old Macs"),
    ],
)
def test_encodings_are_told_apart_by_their_bytes(body: bytes, expected: str) -> None:
    assert rows_of(body) == [(1, 2, {"phone": "1", "name": expected})]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_the_one_that_shows_a_phone_column(delimiter: str) -> None:
    content = f'name{delimiter}phone\n"a,b;c|d\te"{delimiter}2025550101\n'

    assert rows_of(content) == [(1, 2, {"name": "a,b;c|d\te", "phone": "2025550101"})]


def test_commas_in_the_cells_of_a_semicolon_file_stay_there() -> None:
    quoted = '+12025550103;Ana;"Save 10,50 today, or 12,00 tomorrow"'
    content = f"phone;first_name;offer\n{quoted}\n2025550104;Ben;5,25 off, now;\n"

    rows = rows_of(content)

    assert [row[2]["offer"] for row in rows] == ["Save 10,50 today, or 12,00 tomorrow", "5,25 off, now"]
    assert FAULT not in rows[1][2]  # an empty cell more is only a delimiter at the end


def test_a_hint_of_excel_decides_the_delimiter_and_is_no_row() -> None:
    assert rows_of("sep=;\r\nphone;a,b\r\n1;2\r\n") == [(1, 2, {"phone": "1", "a,b": "2"})]


def test_row_numbers_are_those_of_a_spreadsheet() -> None:
    content = '\nphone,note\n1,"two\nlines"\n\n , \n2,x\n'

    rows = rows_of(content)

    # The blank line, the row of blanks and the heading's blank line above count; a line break in a cell does not.
    assert [(lead_no, row_number) for lead_no, row_number, _ in rows] == [(1, 3), (2, 6)]
    assert rows[0][2]["note"] == "two\nlines"


def test_short_rows_are_filled_and_surplus_cells_are_a_fault_of_the_row() -> None:
    rows = rows_of("phone,name,state\n1\n2,Smith, John,NY\n")

    assert rows[0][2] == {"phone": "1", "name": "", "state": ""}
    assert rows[1][2][FAULT] == "too_many_cells"


@given(st.lists(st.text(st.sampled_from("a1 .\t\x07\x7f\u00a0\u200bé"), max_size=4), min_size=2, max_size=2))
def test_plain_rows_and_all_others_are_trimmed_alike(cells: list[str]) -> None:
    values = Heading(["phone", "name"], 1).fitted(cells)

    assert values == dict(zip(("phone", "name"), map(trimmed, cells), strict=True))


@pytest.mark.parametrize("rows_before", [0, 5000], ids=["at the top", "far down"])
def test_a_stray_nul_is_a_fault_of_its_row_wherever_it_is(rows_before: int) -> None:
    rows = rows_of(b"phone,name\n" + b"2025550101,Ana\n" * rows_before + b"2025550102,B\0n\n2025550103,Cy\n")

    assert [values.get(FAULT) for _, _, values in rows[-2:]] == ["no_character", None]
    assert rows[-2][:2] == (rows_before + 1, rows_before + 2)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        pytest.param(b"", "leads.csv is empty", id="no bytes"),
        pytest.param("phone,name\n2025550101,Ana\n".encode("utf-32"), "not a text file", id="UTF-32"),
        pytest.param("phone,name\n2025550101,Ana\n".encode("utf-32-be"), "not a text file", id="UTF-32, no mark"),
        pytest.param(b"ph\0ne,name\n2025550101,Ana\n", "not a text file", id="NUL in the heading"),
        pytest.param(b"\xef\xbb\xbf \r\n\r\n", "leads.csv is empty", id="a mark and blank lines"),
        pytest.param(b"phone,name\n", "no leads", id="a heading alone"),
        pytest.param(b"phone,name\n,\n \n", "no leads", id="a heading and blank rows"),
        pytest.param(b"email,first_name\nana@example.com,Ana\n", "headings are: 'email', 'first_name'", id="no phone"),
        pytest.param(b"backup phone number,x\n1,2\n", "no phone column", id="contains is not enough"),
        pytest.param(b"phone,Name,name\n1,2,3\n", "several columns with one name: 'Name', 'name'", id="twins"),
        pytest.param(b"phone,x;mobile\n1,2;3\n", "not clear which character", id="two delimiters fit"),
        pytest.param(b"PK\x03\x04\x14\x00", "damaged", id="a workbook cut short"),
        pytest.param(b"\xd0\xcf\x11\xe0" + b"\x00" * 600, "without a password", id="a workbook under a password"),
        pytest.param(b"\x89PNG\r\n\x1a\n\x00\x00", "not a text file", id="a picture"),
        pytest.param(gzip.compress(b"phone\n" + b"1\n" * 99)[:-12], "damaged", id="gzip cut short"),
        pytest.param(b'phone,name\n1,"Ana\n2,Ben\n', "never closed", id="a quotation mark never closed"),
        pytest.param(b'phone,name\n1,"' + b"x\n" * 99999, "never closed", id="one that swallows a large file"),
        pytest.param(b"phone,name\n" + b"x" * 200000, "never closed", id="a cell beyond reason"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_what_to_do(content: bytes, sentence: str) -> None:
    with pytest.raises(LeadFileInvalid, match=sentence):
        list(opened(content))


def test_a_file_without_heading_is_refused_without_repeating_a_number() -> None:
    with pytest.raises(LeadFileInvalid, match="Add a heading row") as caught:
        opened("+1 202-555-0101,Ana\n")

    assert "0101" not in str(caught.value) + str(caught.value.evidence)


class Dribble(io.RawIOBase):
    """A body that cannot seek and gives what it likes, as one from a network does."""

    def __init__(self, rows: int) -> None:
        self.rest = rows

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        self.rest -= 1
        return b"phone,note\n" if self.rest == 10_000 - 1 else b"1," + b"x" * 90 + b"\n" if self.rest >= 0 else b""


def test_memory_does_not_grow_with_the_file() -> None:
    tracemalloc.start()

    leads = sum(1 for _ in open_lead_file(Dribble(10_000), "leads.csv"))  # type: ignore[arg-type]  # a stream is enough
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert leads == 9_999
    assert peak < 600_000  # of 900,000 bytes read; the buffers are all that is held


class BrokenConnection(io.RawIOBase):
    """A body whose connection is lost at once."""

    def read(self, size: int = -1) -> bytes:
        raise ConnectionResetError


def test_a_lost_connection_is_not_called_a_damaged_file() -> None:
    with pytest.raises(ConnectionResetError):
        open_lead_file(BrokenConnection(), "leads.csv")  # type: ignore[arg-type]  # a stream is enough
