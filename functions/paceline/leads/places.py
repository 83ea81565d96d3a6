"""Where a lead says it is: its columns for time zone, ZIP code and state, as zones. A place beats a guess.

Of the columns the closest to a clock wins: time zone, then ZIP code, then state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from zoneinfo import available_timezones

from paceline.leads.places_us import NAMED_ZONES, STATE_NAMES, STATE_ZONES, ZIP_ZONES
from paceline.leads.zones import canonical

# In order of preference, as normalised names.
TIMEZONE_COLUMNS = ("timezone", "tz", "recipienttimezone")
ZIP_COLUMNS = ("zip", "zipcode", "zip5", "postalcode", "postcode", "mailingzip")
STATE_COLUMNS = ("state", "statecode", "stateprovince", "province", "st", "mailingstate", "homestate")

Zones = tuple[str, ...]


class Places:
    """Reads the place of a row from the columns that its file has."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        """columns: normalised name → heading."""
        asked: tuple[tuple[tuple[str, ...], Callable[[str], Zones | None]], ...] = (
            (TIMEZONE_COLUMNS, zones_of_timezone),
            (ZIP_COLUMNS, zones_of_zip),
            (STATE_COLUMNS, zones_of_state),
        )
        named = ((next((name for name in names if name in columns), None), read) for names, read in asked)
        self._columns = [(name, read) for name, read in named if name is not None]

    def zones_of(self, values: Mapping[str, str]) -> Zones | None:
        """Return the zones of a row, west to east; None: it says no place; (): it says one that nobody can read."""
        is_blank = True
        for name, read in self._columns:
            if value := values.get(name):
                if zones := read(value):
                    return zones
                is_blank = False
        return None if is_blank else ()


@lru_cache(maxsize=4096)
def zones_of_timezone(value: str) -> Zones | None:
    """Return the zone of an IANA name in any case, or of a name as Americans write it (Eastern, EST, US/Pacific)."""
    plain = " ".join(value.replace("_", " ").casefold().split())
    for ending in (" time", " standard", " daylight", " time zone", " time", " standard"):
        plain = plain.removesuffix(ending)
    if zone := NAMED_ZONES.get(plain.removeprefix("us/")):
        return canonical([zone])
    known = _iana_names().get(value.casefold().replace(" ", "_"))
    return canonical([known]) if known else None


@lru_cache(maxsize=1 << 16)
def zones_of_zip(value: str) -> Zones | None:
    """Return the zones of a ZIP code's first three digits. Spreadsheets drop its leading zeros: 2139 is 02139."""
    digits = value.partition("-")[0].strip()
    if len(digits) == 9:  # ZIP+4 without its hyphen
        digits = digits[:5]
    if not (digits.isascii() and digits.isdigit() and 3 <= len(digits) <= 5):
        return None
    return _zones_of_zip_area(int(digits.zfill(5)[:3]))


@lru_cache(maxsize=1000)
def _zones_of_zip_area(area: int) -> Zones | None:
    found = next((zones for first, last, zones in ZIP_ZONES if first <= area <= last), None)
    return canonical(found) if found else None


@lru_cache(maxsize=4096)
def zones_of_state(value: str) -> Zones | None:
    """Return all zones of a state, given as its letters or its name: a state that lies in two has both."""
    plain = "".join(c for c in value.upper() if c.isalpha())
    zones = STATE_ZONES.get(STATE_NAMES.get(plain, plain))
    return canonical(zones) if zones else None


@lru_cache(maxsize=1)
def _iana_names() -> dict[str, str]:
    places = (name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))
    return {name.casefold(): name for name in places}
