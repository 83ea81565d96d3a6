"""Lead files that are small and unpack to more than memory, or that lie about it."""

from __future__ import annotations

import gzip
import io
import time
import zipfile
import zlib

import pytest
from openpyxl import Workbook

from paceline.errors import LeadFileInvalid
from paceline.leads.reading import open_lead_file
from paceline.leads.workbook import read_workbook

SHEET, END = "xl/worksheets/sheet1.xml", b"</sheetData>"
ROWS = b'<row><c t="inlineStr"><is><t>' + b"A" * 10_000 + b"</t></is></c></row>"


def parts_of_a_workbook() -> dict[str, bytes]:
    book, written = Workbook(), io.BytesIO()
    book.active.append(["phone"])
    book.active.append(["2025550101"])
    book.save(written)
    archive = zipfile.ZipFile(written)
    return {name: archive.read(name) for name in archive.namelist()}


def zipped(parts: dict[str, bytes]) -> bytearray:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return bytearray(made.getvalue())


def lying_workbook() -> bytes:
    """A workbook that says of a sheet of 20 MB that it has the size and checksum of its harmless beginning."""
    parts = parts_of_a_workbook()
    beginning = parts[SHEET].partition(END)[0]
    parts[SHEET] = beginning + ROWS * 2000 + END + b"</worksheet>"
    content = zipped(parts)
    real = [n.to_bytes(4, "little") for n in (zlib.crc32(parts[SHEET]), len(parts[SHEET]))]
    said = [n.to_bytes(4, "little") for n in (zlib.crc32(beginning), len(beginning))]
    for before, after in zip(real, said, strict=True):
        assert content.count(before) == 2  # its own heading, and the directory
        content = content.replace(before, after)
    return bytes(content)


def test_a_workbook_that_lies_about_its_size_is_damaged_and_costs_nothing() -> None:
    content, began = lying_workbook(), time.process_time()

    with pytest.raises(LeadFileInvalid, match="damaged"):
        list(read_workbook(io.BytesIO(content), "leads.xlsx")[1])

    assert time.process_time() - began < 1


def test_a_workbook_in_which_a_part_is_twice_is_read_once_or_refused() -> None:
    parts = parts_of_a_workbook()
    made = io.BytesIO(bytes(zipped(parts)))
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(made, "a") as archive:
        archive.writestr(SHEET, parts[SHEET].replace(b"2025550101", b"2025550199"))

    rows = [row["phone"] for _, row in read_workbook(io.BytesIO(made.getvalue()), "leads.xlsx")[1]]

    assert len(rows) == 1


def test_gzip_in_gzip_is_unpacked_once() -> None:
    content = gzip.compress(gzip.compress(b"phone\n2025550101\n"))

    with pytest.raises(LeadFileInvalid):
        list(open_lead_file(io.BytesIO(content), "leads.csv.gz"))


@pytest.mark.parametrize("name", ["leads.jsonl", "leads.csv"])
def test_a_row_that_nests_without_end_is_a_faulty_row(name: str) -> None:
    content = b'{"phone": "2025550101"}\n{"phone": ' + b"[" * 100_000 + b"\n" + b'{"phone": "2025550102"}\n'

    rows = list(open_lead_file(io.BytesIO(content), name))

    assert [values["phone"] for _, _, values in rows] == ["2025550101", "", "2025550102"]
