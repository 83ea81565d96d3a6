"""How headings, template fields and values are compared: customers spell one name in many ways, and blanks hide."""

from __future__ import annotations

import re
from functools import lru_cache

# Case, spaces of every kind, hyphens, underscores, and the invisible marks that editors put before a first heading.
_IGNORED = re.compile("[\\s\\-_\u200b\u2060\ufeff]+")

# What shows nothing at the edge of a value: Unicode's white space, then marks without width, directions (copied with a
# number from a phone's address book) and three letters that are drawn as a blank. "Hi \u200b," is "Hi ,".
BLANKS = (
    " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
    "\x00\xad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063"
    "\u2064\u2066\u2067\u2068\u2069\ufeff\u2800\u3164\uffa0"
)

# What a spreadsheet exports for a formula that failed: no person has such a name.
SPREADSHEET_ERRORS = frozenset(
    {"#N/A", "#NAME?", "#REF!", "#VALUE!", "#DIV/0!", "#NULL!", "#NUM!", "#SPILL!", "#CALC!"}
)


@lru_cache(maxsize=4096)
def normalise_name(name: str) -> str:
    """Return a heading or field name for comparison: "Phone Number", "phone-number" and "PHONE_NUMBER" are one."""
    return _IGNORED.sub("", name).casefold()


def trimmed(value: str) -> str:
    """Return a value without what shows nothing at its edges; "" where it would show nothing at all."""
    return value.strip(BLANKS)
