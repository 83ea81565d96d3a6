"""From what a customer wrote to a phone number that may be texted, or the reason why not."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumberType, ValidationResult

from paceline.leads.names import trimmed

REASONS = {
    "blank_phone": "The phone cell is empty.",
    "scientific_notation": "The spreadsheet has shortened the number (as in 1.2E+10) and digits are lost: format the"
    " column as text and type the number again.",
    "decimal_number": "The spreadsheet has treated the number as a quantity (as in 2025550100.0): format the column as"
    " text.",
    "several_numbers": "The cell holds more than one number: leave one.",
    "extension": "The number has an extension, and extensions cannot be texted.",
    "letters": "The number holds letters: write it in digits.",
    "too_short": "The number has too few digits: write the area code too.",
    "too_long": "The number has too many digits.",
    "not_a_number": "This is not a phone number that exists.",
    "toll_free": "Toll-free numbers are a business's, not a lead's.",
    "premium_rate": "Premium-rate numbers cannot be texted.",
    "special_service": "Numbers of this kind (personal, paging, voicemail, directory) are not a lead's own phone.",
    "other_country": "The number is outside the United States (Canada, the Caribbean and US territories included).",
}


class PhoneNumber(NamedTuple):
    """A number that may be texted, in E.164 ("+12025550100")."""

    e164: str


class Refusal(NamedTuple):
    """Why a row is not sent to: a stable code (a key of a REASONS table) and one sentence for the customer."""

    reason: str
    sentence: str


# The ways Americans write a number. Exactly these the fast path reads; all else is left to phonenumbers. A country code
# may stand alone ("1 202 ..."), so that ten digits beginning with 1 are not mistaken for an area code (2 to 9).
_AMERICAN = re.compile(r"(?:\+?1[ .-]?)?(?:\(([2-9][0-9]{2})\)[ .-]?|([2-9][0-9]{2})[ .-]?)([0-9]{3})[ .-]?([0-9]{4})")

_SCIENTIFIC = re.compile(r"[+-]?\d+([.,]\d+)?\s*[eE]\s*[+-]?\s*\d+")
# Three zeros at most: in "202555.0100" and "202555.0000" the four digits after the point are the number's own.
# And eight digits before a point are no spelling of a number, nor seven with other than four after it.
_QUANTITY = re.compile(
    r"[+-]?(\d+[.,]0{1,3}|\d{8,}[.,]\d+|\d{7}[.,](\d{1,3}|\d{5,})|\d{1,3}(,\d{3})+(\.\d+)?|\d{1,3}(\.\d{3})+(,\d+)?"
    r"|[$€£]\s*[\d.,]+|[\d.,]+\s*[%$€£])"
)
_SEVERAL = re.compile(r"\d\D*[/;,|&\n]\D*\d")
_EXTENSION = re.compile(r"\d[\s.,)]*(;\s*)?(ext|extn|extension|x|#)[\s.:=]*\d+\s*$", re.IGNORECASE)

_TEXTABLE = frozenset({PhoneNumberType.FIXED_LINE, PhoneNumberType.MOBILE, PhoneNumberType.FIXED_LINE_OR_MOBILE})
_REFUSED_TYPES = {PhoneNumberType.TOLL_FREE: "toll_free", PhoneNumberType.PREMIUM_RATE: "premium_rate"}
_REFUSED_LENGTHS = {
    ValidationResult.TOO_SHORT: "too_short",
    ValidationResult.IS_POSSIBLE_LOCAL_ONLY: "too_short",
    ValidationResult.TOO_LONG: "too_long",
}


_PREMIUM_EXCHANGE = "976"  # paid by the call, in every area code
_DIRECTORY = ("555", "1212")  # who to ask for a number, in every area code

_US = phonenumbers.PhoneMetadata.metadata_for_region("US")
assert _US is not None  # phonenumbers has it since its first release


def _patterns(*kinds: phonenumbers.PhoneNumberDesc | None) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(kind.national_number_pattern) for kind in kinds if kind and kind.national_number_pattern)


_US_TEXTABLE = _patterns(_US.fixed_line, _US.mobile)
_US_OTHER = _patterns(_US.toll_free, _US.premium_rate, _US.shared_cost, _US.personal_number, _US.voip, _US.pager)


def normalise(value: str, region: str = "US") -> PhoneNumber | Refusal:
    """Return the number in E.164, or why it is refused. `region`: where the number must be.

    Numbers kept for fiction (555-0100 to 555-0199 in every area code) are accepted: examples and tests use them.
    """
    if region == "US" and (match := _AMERICAN.fullmatch(value)):
        bracketed, bare, exchange, line = match.groups()
        area = bracketed or bare
        if _is_american(area + exchange) and (exchange, line) != _DIRECTORY:
            return PhoneNumber(f"+1{area}{exchange}{line}")
    plain = value if value.isascii() else _plain(value)
    if plain is None:
        return refusal("not_a_number")
    return _refused_by_spelling(plain) or _by_phonenumbers(plain, region)


def _plain(value: str) -> str | None:
    """Return a spelling without full width, spaces of odd widths and marks that nobody sees; None: it holds ² or ½."""
    if any(unicodedata.category(c) == "No" for c in value):
        return None
    shown = (c for c in unicodedata.normalize("NFKC", value) if unicodedata.category(c) != "Cf")
    return "".join(shown)


@lru_cache(maxsize=1 << 17)
def _is_american(prefix: str) -> bool:
    """Return whether a number with this area code and exchange is one that `_by_phonenumbers` accepts.

    Exact: for the US the patterns of phonenumbers look at these six digits and let the last four be anything. Asking
    its patterns at once is a hundred times as fast as its functions, which ask every country of +1 several times; a
    large file has a hundred thousand prefixes. A test compares the two paths.
    """
    number = prefix + "0000"
    return (
        prefix[3:] != _PREMIUM_EXCHANGE
        and any(kind.fullmatch(number) for kind in _US_TEXTABLE)
        and not any(k.fullmatch(number) for k in _US_OTHER)
    )


def refusal(reason: str) -> Refusal:
    """Return the refusal with that code and its sentence."""
    return Refusal(reason, REASONS[reason])


def _refused_by_spelling(value: str) -> Refusal | None:
    """Return why a spelling is refused that phonenumbers would turn into a number that the customer never wrote."""
    if not trimmed(value):
        return refusal("blank_phone")
    if not any(map(str.isdigit, value)):
        return refusal("not_a_number")
    for reason, pattern in (("scientific_notation", _SCIENTIFIC), ("decimal_number", _QUANTITY)):
        if pattern.fullmatch(value.strip()):
            return refusal(reason)
    if _EXTENSION.search(value):
        return refusal("extension")
    if _SEVERAL.search(value.strip()):
        return refusal("several_numbers")
    return refusal("letters") if any(map(str.isalpha, value)) else None


def _by_phonenumbers(value: str, region: str) -> PhoneNumber | Refusal:
    try:
        number = phonenumbers.parse(value, region)
    except NumberParseException as error:
        return refusal(_reason_of(error))
    if number.extension:
        return refusal("extension")
    if not phonenumbers.is_valid_number(number):
        return refusal(_why_invalid(number, region))
    if phonenumbers.region_code_for_number(number) != region:
        # Toll-free and premium numbers of the +1 countries are shared; they were given the region US above.
        return refusal("other_country")
    kind = phonenumbers.number_type(number)
    if region == "US" and (special := _special_line(str(number.national_number))):
        return refusal(special)
    if kind not in _TEXTABLE:
        return refusal(_REFUSED_TYPES.get(kind, "special_service"))
    return PhoneNumber(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))


def _special_line(national: str) -> str | None:
    """Return why a line is refused that exists in every area code and is nobody's: phonenumbers does not know them."""
    if national[3:6] == _PREMIUM_EXCHANGE:
        return "premium_rate"
    return "special_service" if (national[3:6], national[6:]) == _DIRECTORY else None


def _reason_of(error: NumberParseException) -> str:
    too_short = {NumberParseException.TOO_SHORT_NSN, NumberParseException.TOO_SHORT_AFTER_IDD}
    if error.error_type in too_short:
        return "too_short"
    return "too_long" if error.error_type == NumberParseException.TOO_LONG else "not_a_number"


def _why_invalid(number: phonenumbers.PhoneNumber, region: str) -> str:
    length = _REFUSED_LENGTHS.get(phonenumbers.is_possible_number_with_reason(number))
    if length:
        return length
    is_abroad = phonenumbers.region_code_for_country_code(number.country_code or 0) != region
    return "other_country" if is_abroad else "not_a_number"
