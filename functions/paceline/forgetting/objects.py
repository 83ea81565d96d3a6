"""What an object of the bucket says of a person, and what it is without that. By its key, which says what it is."""

from __future__ import annotations

import csv
import io
import zipfile
import zlib
from collections.abc import Iterator, Set
from contextlib import suppress
from dataclasses import replace

from paceline.cells import read_cell, safe_cell
from paceline.errors import LeadFileInvalid
from paceline.forgetting.spellings import FORGOTTEN, Person
from paceline.leads.decoding import read_lines, unpacked
from paceline.leads.lines import lead_to_line, leads_from_lines
from paceline.leads.workbook import read_workbook
from paceline.models import Lead

# Deleted whole: nothing reads an upload once its campaign is planned, and a dry run is made again for who asks.
WHOLE = ("uploads/", "dry-runs/")


def is_lead_file(key: str) -> bool:
    """Tell whether an object holds the accepted leads of batches."""
    return key.startswith("campaigns/") and key.endswith(".jsonl")


def mentions(key: str, body: bytes, person: Person) -> bool:
    """Tell whether an object has the person's number. Raises: LeadFileInvalid, where it cannot be read."""
    is_ours = not key.startswith("uploads/")
    texts = (body.decode("utf-8", "replace"),) if is_ours else _texts(key.rpartition("/")[2], body)
    return person.is_in(key) or any(map(person.is_in, texts))


def leads_of(body: bytes, person: Person) -> set[int]:
    """Return the numbers of the person's leads in an object of leads."""
    return {lead.lead_no for lead in leads_from_lines(body) if lead.phone_number == person.phone_number}


def without(key: str, body: bytes, person: Person, lead_nos: Set[int]) -> bytes:
    """Return an object of a campaign without the person. Every row and every lead's place and size stay."""
    if is_lead_file(key):
        return b"".join(_line_without(line, person) for line in body.splitlines(keepends=True))
    if key.endswith(".csv"):
        return _table_without(body, person, lead_nos)
    return person.without(body.decode()).encode()


def _texts(filename: str, body: bytes) -> Iterator[str]:
    """Yield the texts of an object, whatever it is: lines, or the parts and the rows of a workbook."""
    plain, head = unpacked(io.BytesIO(body), filename)
    if head[:4] != b"PK\x03\x04":
        yield from read_lines(plain, head, filename)
        return
    packed = plain.read()
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            for name in archive.namelist():
                yield archive.read(name).decode("utf-8", "replace")
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        raise LeadFileInvalid(f"{filename} is damaged: it cannot be read.") from error
    with suppress(LeadFileInvalid):  # numbers as Excel shows them; what it shows of no lead file was searched above
        for _, values in read_workbook(io.BytesIO(packed), filename)[1]:
            yield "\n".join(values.values())


def _line_without(line: bytes, person: Person) -> bytes:
    """Return a lead's line without the person, as long as it was: batches know their leads by their bytes."""
    lead = next(leads_from_lines(line), None)
    if lead is None:  # a line that nobody can read any more
        return b"\n".rjust(len(line)) if person.is_in(line.decode(errors="replace")) else line
    if not (person.is_in(lead.phone_number) or person.is_in(lead.text)):
        return line
    new = lead_to_line(_lead_without(lead, person))
    if len(new) > len(line):  # a text of unusual letters, spelled out
        new = lead_to_line(replace(lead, text=FORGOTTEN))
    return new[:-1].ljust(len(line) - 1) + b"\n"


def _lead_without(lead: Lead, person: Person) -> Lead:
    if lead.phone_number == person.phone_number:
        return replace(lead, phone_number="", text="")
    return replace(lead, text=person.without(lead.text))


def _table_without(body: bytes, person: Person, lead_nos: Set[int]) -> bytes:
    """Return a CSV file of ours, in which the person's rows keep their numbers, reasons and times."""
    rows = csv.DictReader(io.StringIO(body.decode(), newline=""))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, rows.fieldnames or ())
    writer.writeheader()
    writer.writerows(_row_without(row, person, lead_nos) for row in rows)
    return text.getvalue().encode()


def _row_without(row: dict[str, str], person: Person, lead_nos: Set[int]) -> dict[str, str]:
    is_theirs = read_cell(row.get("phone_number", "")) == person.phone_number
    emptied = {"phone_number", "explanation"} if is_theirs else set()
    if row.get("lead_no", "").isdecimal() and int(row["lead_no"]) in lead_nos and "provider_message_id" in row:
        row = row | {"provider_message_id": FORGOTTEN}
    return {name: "" if name in emptied else _cell_without(cell, person) for name, cell in row.items()}


def _cell_without(cell: str, person: Person) -> str:
    return safe_cell(person.without(read_cell(cell))) if person.is_in(cell) else cell
