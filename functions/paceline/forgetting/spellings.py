"""One phone number in every spelling that people and programs give it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property

from paceline.errors import RequestInvalid
from paceline.leads.phone import PhoneNumber, normalise

# What is put in a number's place. Shorter than any spelling: it fits where the bytes are counted.
FORGOTTEN = "forgotten"

# What may stand between the digits of a number; not what separates cells: two cells side by side are two numbers.
_BETWEEN = r"[ ()./+\u00a0\u2010-\u2015\u2212-]{0,4}"
_E164 = re.compile(r"\+[1-9][0-9]{6,14}")


@dataclass(frozen=True)
class Person:
    """Whom to forget. phone_number: E.164."""

    phone_number: str

    @cached_property
    def _spelled(self) -> re.Pattern[str]:
        digits = self.phone_number[1:]
        if digits.startswith("1") and len(digits) == 11:
            return re.compile(rf"(?<![0-9])(?:\+?1{_BETWEEN})?\(?{_BETWEEN.join(digits[1:])}(?![0-9])")
        return re.compile(rf"(?<![0-9])\+?{_BETWEEN.join(digits)}(?![0-9])")

    def is_in(self, text: str) -> bool:
        """Tell whether a text has the number, in any spelling."""
        return self._spelled.search(_plain(text)) is not None

    def without(self, text: str) -> str:
        """Return the text with the number taken out of it; one that does not have it as it is."""
        found = self._spelled.sub(FORGOTTEN, text)
        return self._spelled.sub(FORGOTTEN, _plain(found)) if self.is_in(found) else found


def person_of(written: str) -> Person:
    """Return the person of a number in any spelling. Raises: RequestInvalid, with what to write."""
    number = normalise(written)
    if isinstance(number, PhoneNumber):
        return Person(number.e164)
    if _E164.fullmatch(written.strip()):  # from abroad: no lead, but it may have written to one of our numbers
        return Person(written.strip())
    raise RequestInvalid(f"That is no phone number: {number.sentence} Write it as +12025550101.")


def _plain(text: str) -> str:
    """Full-width digits are digits."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)
