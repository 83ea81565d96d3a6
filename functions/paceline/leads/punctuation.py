"""Typographic punctuation as plain letters of the GSM-7 alphabet: one curly apostrophe makes a text UCS-2."""

from __future__ import annotations

from typing import NamedTuple

from paceline.segments import Encoding, Segments, measure

_PLAIN = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′‵ʹʻʼ`´＇", "'"),
        **dict.fromkeys("“”„‟″‶«»＂", '"'),
        **dict.fromkeys("‐‑‒–—―−⁃•‣∙", "-"),
        **dict.fromkeys("\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000\t", " "),
        **dict.fromkeys("\u00ad\u200b\u200c\u200e\u200f\u2060\ufeff", ""),
        **dict.fromkeys("\u2028\u2029", "\n"),
        "…": "...",
        "‹": "<",
        "›": ">",
        "⁄": "/",
    }
)


class Measured(NamedTuple):
    """A text with its parts, and how many parts its typographic punctuation costs (0: none)."""

    text: str
    segments: Segments
    punctuation_parts: int


def measured(text: str, *, to_gsm7: bool) -> Measured:
    """Return the text as it will be sent.

    to_gsm7: typographic punctuation is made plain; but only in a text that is GSM-7 afterwards, for in any other (an
    emoji, a letter of another alphabet) it would change the text and save nothing.
    """
    segments = measure(text)
    if segments.encoding is Encoding.GSM_7:
        return Measured(text, segments, 0)
    plain = text.translate(_PLAIN)
    plain_segments = measure(plain)
    if plain_segments.encoding is not Encoding.GSM_7:
        return Measured(text, segments, 0)
    saved = segments.parts - plain_segments.parts
    return Measured(plain, plain_segments, saved) if to_gsm7 else Measured(text, segments, saved)
