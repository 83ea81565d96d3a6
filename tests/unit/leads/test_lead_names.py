"""Names that are one however they are spelled, and values that show nothing."""

from __future__ import annotations

import sys

import pytest

from paceline.leads.names import normalise_name, trimmed

WHITE_SPACE = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()]
# Marks without width, directions, and letters that are drawn as a blank.
UNSEEN = [*"\x00\xad\u034f\u061c\u180e\u2800\u3164\uffa0\ufeff", *map(chr, range(0x200B, 0x2010))]
UNSEEN += [*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2060, 0x2065)), *map(chr, range(0x2066, 0x206A))]


@pytest.mark.parametrize("mark", WHITE_SPACE + UNSEEN, ids=ascii)
def test_what_shows_nothing_is_no_value_and_no_part_of_one(mark: str) -> None:
    assert trimmed(mark) == trimmed(mark * 3) == ""
    assert trimmed(f"{mark}Mary Jane{mark}") == "Mary Jane"


@pytest.mark.parametrize("value", ["0", "-", ".", "é", "李", "🙂", "None"])
def test_what_shows_something_is_a_value(value: str) -> None:
    assert trimmed(value) == value


@pytest.mark.parametrize(
    "name", ["Phone Number", "phone_number", "PHONE-NUMBER", " phoneNumber ", "\ufeffphone  number"]
)
def test_spellings_of_one_name_are_one(name: str) -> None:
    assert normalise_name(name) == "phonenumber"


@pytest.mark.parametrize("name", ["backup phone number", "phone number 2", "phones"])
def test_another_name_stays_another(name: str) -> None:
    assert normalise_name(name) != "phonenumber"
