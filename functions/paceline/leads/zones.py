"""The time zones in which a recipient may be, from the number: only a proxy for the place, so never narrowed by guess.

Source: the prefix table of phonenumbers (area code and exchange → zones).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from phonenumbers import PhoneNumber as ParsedNumber
from phonenumbers.timezone import time_zones_for_geographical_number
from phonenumbers.tzdata import TIMEZONE_DATA

# One zone stands for all whose clocks show the same the whole year, so that a campaign has few streams. West to east.
# And where the place is unknown, the message may only go when it may go in all of these: the strictest answer.
ALL_US_ZONES = (
    "Pacific/Honolulu",
    "America/Adak",
    "America/Anchorage",
    "America/Los_Angeles",
    "America/Phoenix",
    "America/Denver",
    "America/Chicago",
    "America/New_York",
)
_STANDING_FOR_OTHERS = (*ALL_US_ZONES, "America/Puerto_Rico", "Pacific/Guam", "Pacific/Pago_Pago")
# Where the table does not know, it answers with all zones of the country code, over 40; a real area code has 3 at most.
_MOST_ZONES_OF_AN_AREA = 6
# The moments at which zones are told apart: every hour, since Havana changes its clocks on New York's days, two hours
# earlier. The year is only an example (no US rule differs between years since 2007).
_MOMENTS = tuple(datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=hour) for hour in range(365 * 24))

_PREFIX_DIGITS = len("+1202555")  # the table's longest prefix under +1 has seven digits; a test holds it to that
_AREA_DIGITS = len("+1202")
# Nearly all area codes are whole; these are in pieces, by exchange.
_DIVIDED = {"+" + prefix[:4] for prefix in TIMEZONE_DATA if prefix[0] == "1" and len(prefix) > 4}


def zones_of(e164: str) -> tuple[str, ...]:
    """Return the zones of a US number in E.164, each standing for its offsets, west to east; never empty."""
    area = e164[:_AREA_DIGITS]
    return _zones_of_prefix(e164[:_PREFIX_DIGITS] if area in _DIVIDED else area + "555")


@lru_cache(maxsize=1 << 17)
def _zones_of_prefix(prefix: str) -> tuple[str, ...]:
    number = ParsedNumber(country_code=1, national_number=int(prefix[2:] + "0000"))
    zones: tuple[str, ...] = time_zones_for_geographical_number(number)
    if len(zones) > _MOST_ZONES_OF_AN_AREA or "Etc/Unknown" in zones:
        return ALL_US_ZONES
    return canonical(zones)


def canonical(zones: Iterable[str]) -> tuple[str, ...]:
    """Return the zones with each replaced by the one that stands for its clocks, without repeats, west to east."""
    return tuple(zone for _, zone in sorted(set(map(_standing_for, zones))))


@lru_cache(maxsize=1024)
def _standing_for(zone: str) -> tuple[tuple[timedelta, ...], str]:
    """Return the zone that stands for a zone, after its offsets in winter and summer, by which zones are sorted."""
    clocks = _clocks(zone)
    same = next((other for other in _STANDING_FOR_OTHERS if _clocks(other) == clocks), zone)
    return (clocks[0], clocks[len(clocks) // 2]), same


@lru_cache(maxsize=len(_STANDING_FOR_OTHERS) * 2)
def _clocks(zone: str) -> tuple[timedelta, ...]:
    clock = ZoneInfo(zone)
    return tuple(moment.astimezone(clock).utcoffset() or timedelta() for moment in _MOMENTS)
