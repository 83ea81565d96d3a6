"""Names that are one however they are spelled, and values that show nothing."""

from __future__ import annotations

import sys

import pytest

from paceline.leads.names import normalise_name, trimmed

WHITE_SPACE = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()]
# Marks without width, directions, and letters that are drawn as a blank.
UNSEEN = [*"\x00\xad\u034f\u061c\u180e\u2800\u3164\uffa0\ufeff", *map(chr, range(0x200B, 0x2010))]
UNSEEN += [*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), *"\u115f\u1160\u17b4\ufff9\u2065"]
UNSEEN += [*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2060, 0x2065)), *map(chr, range(0x2066, 0x206A))]


@pytest.mark.parametrize("mark", WHITE_SPACE + UNSEEN, ids=ascii)
def test_what_shows_nothing_is_no_value_and_no_part_of_one(mark: str) -> None:
    assert trimmed(mark) == trimmed(mark * 3) == ""
    assert trimmed(f"{mark}Mary Jane{mark}") == "Mary Jane"


@pytest.mark.parametrize(
    "nothing", ["\ufe0f", "\u180b", "\U000e0001\U000e007f", "\u200d\ufe0f \u200d", "\x07\u00a0\x1b"], ids=ascii
)
def test_marks_that_only_change_the_character_before_them_are_no_value_alone(nothing: str) -> None:
    assert trimmed(nothing) == ""


@pytest.mark.parametrize("value", ["0", "-", ".", "é", "李", "🙂", "None", "❤️", "🏴\U000e0067\U000e0062\U000e007f"])
def test_what_shows_something_is_a_value(value: str) -> None:
    assert trimmed(value) == value


@pytest.mark.parametrize(
    "name",
    [
        "Phone Number",
        "phone_number",
        "PHONE-NUMBER",
        " phoneNumber ",
        "\ufeffphone  number",
        "ｐｈｏｎｅ＿ｎｕｍｂｅｒ",
        "Phone\u2011Number\u200f",
    ],
)
def test_spellings_of_one_name_are_one(name: str) -> None:
    assert normalise_name(name) == "phonenumber"


@pytest.mark.parametrize("name", ["backup phone number", "phone number 2", "phones"])
def test_another_name_stays_another(name: str) -> None:
    assert normalise_name(name) != "phonenumber"
