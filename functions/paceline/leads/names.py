"""How headings and template fields are compared: customers spell one name in many ways."""

from __future__ import annotations

import re

# Case, spaces of every kind, hyphens, underscores, and the invisible marks that editors put before a first heading.
_IGNORED = re.compile("[\\s\\-_\u200b\u2060\ufeff]+")


def normalise_name(name: str) -> str:
    """Return a heading or field name for comparison: "Phone Number", "phone-number" and "PHONE_NUMBER" are one."""
    return _IGNORED.sub("", name).casefold()
