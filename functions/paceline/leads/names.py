"""How headings, template fields and values are compared: customers spell one name in many ways, and blanks hide."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

# What shows nothing at the edge of a value: control characters, Unicode's white space, then marks without width,
# directions (copied with a number from a phone's address book) and letters that are drawn as a blank.
BLANKS = (
    "".join(map(chr, (*range(0x21), *range(0x7F, 0xA1))))
    + "\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
    + "\xad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    + "".join(map(chr, range(0x2060, 0x2070)))
    + "\ufeff\ufff9\ufffa\ufffb\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
)
# They show nothing alone either, and at an edge they may belong to the emoji before them: the red heart, a flag.
_ALONE = BLANKS + "".join(
    map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE0FFF + 1)))
)
_HYPHENS = "_-\u2010\u2011\u2012\u2013\u2014\u2212"
_IGNORED = str.maketrans(dict.fromkeys(BLANKS + _HYPHENS, ""))

# What a spreadsheet exports for a formula that failed: no person has such a name.
SPREADSHEET_ERRORS = frozenset(
    {"#N/A", "#NAME?", "#REF!", "#VALUE!", "#DIV/0!", "#NULL!", "#NUM!", "#SPILL!", "#CALC!"}
)


@lru_cache(maxsize=4096)
def normalise_name(name: str) -> str:
    """Return a heading or field name for comparison: "Phone Number", "phone-number" and "PHONE_NUMBER" are one."""
    return unicodedata.normalize("NFKC", name).translate(_IGNORED).casefold()


def trimmed(value: str) -> str:
    """Return a value without what shows nothing at its edges; "" where it would show nothing at all."""
    text = value.strip(BLANKS)
    return text if text.isascii() or text.strip(_ALONE) else ""
