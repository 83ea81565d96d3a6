"""Where a lead says it is beats the guess from its number; what cannot be read gets the strictest answer."""

from __future__ import annotations

from itertools import pairwise
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.leads.places import Places, zones_of_state, zones_of_timezone, zones_of_zip
from paceline.leads.places_us import STATE_NAMES, STATE_ZONES, ZIP_ZONES
from paceline.leads.zones import canonical

EASTERN, CENTRAL, MOUNTAIN = "America/New_York", "America/Chicago", "America/Denver"
PACIFIC, ARIZONA = "America/Los_Angeles", "America/Phoenix"


@pytest.mark.parametrize(
    ("value", "zone"),
    [
        ("America/Chicago", CENTRAL),
        ("america/chicago", CENTRAL),
        ("America/New York", EASTERN),
        ("America/Indiana/Indianapolis", EASTERN),  # its clocks are New York's
        ("US/Pacific", PACIFIC),
        ("Eastern", EASTERN),
        ("EST", EASTERN),  # the clock on the wall, in summer too
        ("EDT", EASTERN),
        ("et", EASTERN),
        ("Central Time", CENTRAL),
        ("Mountain Standard Time", MOUNTAIN),
        ("Pacific Daylight Time", PACIFIC),
        ("Hawaii", "Pacific/Honolulu"),
        ("US/Arizona", ARIZONA),
        ("Europe/London", "Europe/London"),
        ("America/Havana", "America/Havana"),  # New York's clocks on most days, but not on all
    ],
)
def test_a_time_zone_is_read_as_people_write_it(value: str, zone: str) -> None:
    assert zones_of_timezone(value) == (zone,)


@pytest.mark.parametrize("value", ["UTC-5", "-0500", "Mars/Phobos", "GMT", "Etc/GMT+5", "somewhere", "../etc/passwd"])
def test_what_is_no_zone_of_a_place_is_not_read(value: str) -> None:
    assert zones_of_timezone(value) is None


@pytest.mark.parametrize(
    ("value", "zones"),
    [
        ("10001", (EASTERN,)),
        ("02139", (EASTERN,)),
        ("2139", (EASTERN,)),  # a spreadsheet has taken the zero
        ("601", ("America/Puerto_Rico",)),  # both zeros
        ("10001-1234", (EASTERN,)),
        ("100011234", (EASTERN,)),
        ("60601", (CENTRAL,)),
        ("79901", (MOUNTAIN, CENTRAL)),  # El Paso, and places beside it that keep Central time
        ("75201", (CENTRAL,)),  # Dallas: closer than all of Texas
        ("86001", (ARIZONA, MOUNTAIN)),
        ("97914", (PACIFIC, MOUNTAIN)),
        ("96813", ("Pacific/Honolulu",)),
        ("96799", ("Pacific/Pago_Pago", "Pacific/Honolulu")),  # Samoa shares its first digits with Hawaii
        ("99501", ("America/Adak", "America/Anchorage")),
    ],
)
def test_a_zip_code_has_the_zones_of_its_first_three_digits(value: str, zones: tuple[str, ...]) -> None:
    assert zones_of_zip(value) == zones


@pytest.mark.parametrize("value", ["09012", "96201", "34001", "00000", "12", "123456", "K1A 0B1", "SW1A", "1O001"])
def test_a_zip_code_that_says_no_place_is_not_read(value: str) -> None:
    assert zones_of_zip(value) is None


@pytest.mark.parametrize(
    ("value", "zones"),
    [
        ("NY", (EASTERN,)),
        (" n.y. ", (EASTERN,)),
        ("New York", (EASTERN,)),
        ("TX", (MOUNTAIN, CENTRAL)),
        ("texas", (MOUNTAIN, CENTRAL)),
        ("FL", (CENTRAL, EASTERN)),
        ("ID", (PACIFIC, MOUNTAIN)),
        ("AZ", (ARIZONA, MOUNTAIN)),
        ("District of Columbia", (EASTERN,)),
        ("Washington", (PACIFIC,)),
        ("Washington, D.C.", (EASTERN,)),
        ("PR", ("America/Puerto_Rico",)),
    ],
)
def test_a_state_has_all_its_zones(value: str, zones: tuple[str, ...]) -> None:
    assert zones_of_state(value) == zones


@pytest.mark.parametrize("value", ["ON", "Ontario", "XX", "12", "?"])
def test_what_is_no_state_is_not_read(value: str) -> None:
    assert zones_of_state(value) is None


COLUMNS = {"phone": "Phone", "state": "State", "zip": "ZIP", "timezone": "Timezone"}


@pytest.mark.parametrize(
    ("values", "zones"),
    [
        pytest.param({"timezone": "Pacific", "zip": "10001", "state": "TX"}, (PACIFIC,), id="the time zone first"),
        pytest.param({"timezone": "", "zip": "75201", "state": "FL"}, (CENTRAL,), id="then the ZIP code"),
        pytest.param({"timezone": "", "zip": "", "state": "FL"}, (CENTRAL, EASTERN), id="then the state"),
        pytest.param({"timezone": "?", "zip": "75201"}, (CENTRAL,), id="one that cannot be read is passed over"),
        pytest.param({"timezone": "?", "zip": "", "state": "Ontario"}, (), id="a place that nobody can read"),
        pytest.param({"timezone": "", "zip": "", "state": ""}, None, id="no place: the number decides"),
        pytest.param({}, None, id="no columns"),
    ],
)
def test_the_column_closest_to_a_clock_wins(values: dict[str, str], zones: tuple[str, ...] | None) -> None:
    assert Places(COLUMNS).zones_of(values) == zones


@given(st.text(max_size=20))
def test_whatever_a_cell_holds_there_is_an_answer(value: str) -> None:
    for read in (zones_of_timezone, zones_of_zip, zones_of_state):
        zones = read(value)
        assert zones is None or {*zones} <= available_timezones()


def test_the_tables_are_in_order_whole_and_of_zones_that_exist() -> None:
    runs = [(first, last) for first, last, _ in ZIP_ZONES]

    assert all(first <= last for first, last in runs)
    assert all(last < first for (_, last), (first, _) in pairwise(runs))
    assert len(STATE_ZONES) == 56  # the states, the capital, five territories
    assert {*STATE_NAMES.values()} == {*STATE_ZONES}
    for zones in [*STATE_ZONES.values(), *(zones for _, _, zones in ZIP_ZONES)]:
        assert canonical(zones) == zones  # west to east, each standing for its clocks
        assert all(map(ZoneInfo, zones))
