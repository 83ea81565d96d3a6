"""How many parts (SMS segments) a text takes. Carriers bill, caps count and credits pay by the part.

Source: 3GPP TS 23.038 (the GSM 7-bit alphabet and its extension table), TS 23.040 (the header of joined parts).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

# TS 23.038, table 6.2.1, without the escape character: one septet each.
GSM_BASIC = (
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
GSM_EXTENSION = "\f^{}\\[~]|€"  # table 6.2.1.1: an escape and a second septet each

# Octets of user data are 140: 160 septets or 70 UTF-16 units. A joined part gives 6 octets to its header.
GSM_ALONE, GSM_JOINED = 160, 153
UCS2_ALONE, UCS2_JOINED = 70, 67

_BASIC_ONLY = re.compile(f"[{re.escape(GSM_BASIC)}]*")
_GSM_ONLY = re.compile(f"[{re.escape(GSM_BASIC + GSM_EXTENSION)}]*")
_EXTENSION = re.compile(f"[{re.escape(GSM_EXTENSION)}]")
_NOT_GSM = re.compile(f"[^{re.escape(GSM_BASIC + GSM_EXTENSION)}]")


class Encoding(StrEnum):
    """The alphabet in which a text travels."""

    GSM_7 = "GSM_7"
    UCS_2 = "UCS_2"


class Segments(NamedTuple):
    """What a text costs. units: septets for GSM_7, UTF-16 code units for UCS_2. An empty text has 0 parts."""

    encoding: Encoding
    units: int
    parts: int


def measure(text: str) -> Segments:
    """Return the encoding, units and parts of a text as it will be sent, that is, after personalisation."""
    if _BASIC_ONLY.fullmatch(text):  # nearly every text: no character of two units, so a division is exact
        return Segments(Encoding.GSM_7, len(text), _divided(len(text), GSM_ALONE, GSM_JOINED))
    if _GSM_ONLY.fullmatch(text):
        units = len(text) + len(_EXTENSION.findall(text))
        widths: Iterable[int] = (2 if c in GSM_EXTENSION else 1 for c in text)
        return Segments(Encoding.GSM_7, units, _packed(widths, units, GSM_ALONE, GSM_JOINED))
    units = sum(_utf16_units(c) for c in text)
    return Segments(Encoding.UCS_2, units, _packed(map(_utf16_units, text), units, UCS2_ALONE, UCS2_JOINED))


def characters_outside_gsm(text: str) -> frozenset[str]:
    """Return the characters that make a text UCS_2, so that a customer can be told what costs the extra parts."""
    return frozenset(_NOT_GSM.findall(text))


def _utf16_units(character: str) -> int:
    return 2 if character > "\uffff" else 1


def _divided(units: int, alone: int, joined: int) -> int:
    return min(units, 1) if units <= alone else -(-units // joined)


def _packed(widths: Iterable[int], units: int, alone: int, joined: int) -> int:
    """Count parts where a character of two units that would straddle two parts moves to the next whole."""
    if units <= alone:
        return min(units, 1)
    parts, used = 1, 0
    for width in widths:
        if used + width > joined:
            parts, used = parts + 1, 0
        used += width
    return parts
