"""Numbers as customers write them: one spelling out, or a reason."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from phonenumbers import PhoneNumber as ParsedNumber
from phonenumbers.timezone import time_zones_for_geographical_number
from phonenumbers.tzdata import TIMEZONE_DATA

from paceline.leads.phone import REASONS, PhoneNumber, Refusal, _by_phonenumbers, _refused_by_spelling, normalise
from paceline.leads.zones import _PREFIX_DIGITS, ALL_US_ZONES, canonical, zones_of


@pytest.mark.parametrize(
    "value",
    [
        "(202) 555-0107",
        "+1 202.555.0107",
        "1-202-555-0107",
        "2025550107",
        "+12025550107",
        "12025550107",
        "+1 (202) 555-0107",
        "202 555 0107",
        "(202)555-0107",
        "1 202 555 0107",
        "202–555–0107",  # the dashes that word processors write
        "\u00a0202\u00a0555\u00a00107",  # spaces that do not break
        "２０２５５５０１０７",  # digits of full width
        "011 1 202 555 0107",  # as dialled from the US
        "'+12025550107",  # as our own lists guard it, and as Excel keeps text
        "\u202a+12025550107\u202c",  # as copied from a phone's address book
        "+1\u200a(202)\u2009555-0107",
        "  2025550107\t",
    ],
)
def test_every_spelling_of_a_number_becomes_one(value: str) -> None:
    assert normalise(value) == PhoneNumber("+12025550107")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("", "blank_phone"),
        ("  ", "blank_phone"),
        ("1.20256E+10", "scientific_notation"),  # as a float this is 12025600000, a number of somebody else
        ("1.2025550105E+10", "scientific_notation"),  # one rule for all, though no digit is lost here
        ("1,20256E+10", "scientific_notation"),
        ("1.20256e10", "scientific_notation"),
        ("1.20256E10", "scientific_notation"),
        ("1.2E+010", "scientific_notation"),
        ("12E9", "scientific_notation"),
        ("+1.20256E+10", "scientific_notation"),
        (" 1.20256 E+10 ", "scientific_notation"),
        ("2.02555E+09", "scientific_notation"),
        ("1.20255501070000E+10", "scientific_notation"),
        ("１.２０２５６Ｅ＋１０", "scientific_notation"),  # in full width
        ("2025550101.0", "decimal_number"),  # phonenumbers would read 20255501010
        ("2,025,550,101", "decimal_number"),
        ("12025550101.0", "decimal_number"),
        ("12025550101,0", "decimal_number"),  # where the comma is the decimal sign
        ("2025550101.00", "decimal_number"),
        ("+12025550101.0", "decimal_number"),
        ("12,025,550,101.00", "decimal_number"),
        ("2.025.550.101", "decimal_number"),
        ("202555010.1", "decimal_number"),  # without its point it is a number of somebody else
        ("2025550.101", "decimal_number"),
        ("12025550101.000000", "decimal_number"),
        ("$2025550101", "decimal_number"),
        ("2025550101 %", "decimal_number"),
        ("202-555-0101 / 202-555-0102", "several_numbers"),
        ("202-555-0101; 202-555-0102", "several_numbers"),
        ("202-555-0101\n202-555-0102", "several_numbers"),
        ("202-555-0101 x12", "extension"),
        ("202-555-0101 ext. 12", "extension"),
        ("202-555-0101#12", "extension"),
        ("202-555-0101;ext=12", "extension"),
        ("²025550101", "not_a_number"),  # a footnote's sign is no digit
        ("\x07\u200b", "blank_phone"),
        ("1-800-FLOWERS", "letters"),
        ("202-555-HOME", "letters"),
        ("n/a", "not_a_number"),
        ("555-0101", "too_short"),
        ("202-555-01001", "too_long"),
        ("111-222-3333", "not_a_number"),
        ("800-555-0101", "toll_free"),
        ("+1 888 555 0101", "toll_free"),
        ("900-555-0101", "premium_rate"),
        ("202-976-0101", "premium_rate"),  # the exchange that is paid by the call, in every area code
        ("+1 (212) 976 0101", "premium_rate"),
        ("202-555-1212", "special_service"),  # directory assistance
        ("+1 212 555 1212", "special_service"),
        ("500-555-0101", "special_service"),
        ("416-555-0101", "other_country"),  # Toronto
        ("+1 876 555 0101", "other_country"),  # Jamaica
        ("787-555-0101", "other_country"),  # Puerto Rico
        ("+44 20 7946 0018", "other_country"),
        ("+2025550101", "other_country"),  # a plus without the 1: Egypt
    ],
)
def test_a_number_that_cannot_be_texted_says_why(value: str, reason: str) -> None:
    assert normalise(value) == Refusal(reason, REASONS[reason])


separators = st.sampled_from(["", " ", "-", "."])
spellings = st.builds(
    "{0}{1}{2}{3}{4}{5}".format,
    st.sampled_from(["", "1", "+1", "1-", "+1 ", "1."]),
    st.integers(100, 999).map(str) | st.integers(200, 999).map("({})".format),
    separators,
    st.sampled_from(["555", "023", "123", "911", "211"]) | st.integers(0, 999).map("{:03}".format),
    separators,
    st.integers(0, 9999).map("{:04}".format),
)


@settings(max_examples=1500, deadline=None)
@given(spellings)
def test_the_fast_path_accepts_exactly_what_phonenumbers_accepts(value: str) -> None:
    assert normalise(value) == (_refused_by_spelling(value) or _by_phonenumbers(value, "US"))


@pytest.mark.parametrize("area", range(200, 1000, 7))
def test_the_fast_path_agrees_on_area_codes_and_the_exchanges_that_are_special(area: int) -> None:
    for exchange in ("200", "209", "211", "411", "555", "700", "911", "950", "976", "999"):
        number = f"{area}{exchange}0100"
        assert normalise(number) == _by_phonenumbers(number, "US")


@given(st.integers(200, 999), st.integers(0, 9_999_999))
def test_an_area_codes_zones_are_those_of_the_whole_number(area: int, rest: int) -> None:
    number = ParsedNumber(country_code=1, national_number=int(f"{area}{rest:07}"))
    zones = time_zones_for_geographical_number(number)

    found = zones_of(f"+1{area}{rest:07}")

    assert found == (ALL_US_ZONES if len(zones) > 6 or "Etc/Unknown" in zones else canonical(zones))


def test_an_area_code_in_pieces_has_the_zones_of_each_piece() -> None:
    pieces = [prefix.ljust(11, "0") for prefix in TIMEZONE_DATA if prefix.startswith("1") and len(prefix) > 4]

    wrong = [
        digits
        for digits in pieces
        if zones_of(f"+{digits}") != canonical(time_zones_for_geographical_number(_parsed(digits)))
    ]

    assert len(pieces) > 1000
    assert wrong == []


def _parsed(digits: str) -> ParsedNumber:
    return ParsedNumber(country_code=1, national_number=int(digits[1:]))


@settings(max_examples=300)
@given(st.text(alphabet=st.sampled_from("0123456789+-(). xeE,;/ABext#\n"), max_size=25) | st.text(max_size=15))
def test_whatever_a_cell_holds_there_is_an_answer(value: str) -> None:
    answer = normalise(value)

    assert answer.e164.startswith("+1") if isinstance(answer, PhoneNumber) else answer.reason in REASONS


@pytest.mark.parametrize(
    ("e164", "zones"),
    [
        ("+12025550101", ("America/New_York",)),
        ("+13125550101", ("America/Chicago",)),
        ("+16025550101", ("America/Phoenix",)),
        ("+12085550101", ("America/Los_Angeles", "America/Denver")),  # Idaho lies in two; Boise's clock is Denver's
        ("+18085550101", ("Pacific/Honolulu",)),
        ("+19075550101", ("America/Adak", "America/Anchorage")),
        ("+17015550101", ("America/Denver", "America/Chicago")),  # North Dakota
        ("+16625550101", ("America/Chicago",)),
        ("+19995550101", ALL_US_ZONES),  # no such area code: only when it is right everywhere
    ],
)
def test_a_number_has_every_zone_that_it_may_be_in(e164: str, zones: tuple[str, ...]) -> None:
    assert zones_of(e164) == zones


def test_zones_that_share_their_clocks_are_one() -> None:
    zones = canonical(["America/Detroit", "America/New_York", "America/Boise", "America/Juneau"])

    assert zones == ("America/Anchorage", "America/Denver", "America/New_York")


def test_the_cached_prefix_is_as_long_as_the_longest_in_the_table() -> None:
    assert max(len(prefix) for prefix in TIMEZONE_DATA if prefix.startswith("1")) <= _PREFIX_DIGITS - 1
