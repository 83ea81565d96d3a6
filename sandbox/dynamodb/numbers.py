"""DynamoDB's numbers: exact, 38 digits, kept as text of which every number has one."""

from __future__ import annotations

from decimal import Context, Decimal, DivisionByZero, Inexact, InvalidOperation, Overflow
from typing import Any

from sandbox.dynamodb.errors import invalid

MAXIMUM_DIGITS = 38
_EXACT = Context(prec=MAXIMUM_DIGITS, traps=[Inexact, InvalidOperation, Overflow, DivisionByZero])
_LARGEST, _SMALLEST = Decimal("9.9999999999999999999999999999999999999E+125"), Decimal("1E-130")


def canonical_number(text: Any) -> str:
    """Return the one text of a number. Raises: ValidationException (not a number, over 38 digits, out of range)."""
    if not isinstance(text, str):
        raise invalid(f"NUMBER_VALUE must be text, not {type(text).__name__}")
    if text.isdecimal() and text.isascii() and (text[0] != "0" or text == "0") and len(text) <= MAXIMUM_DIGITS:
        return str.__str__(text)  # the usual case, spared the way through Decimal
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise invalid(f"The parameter cannot be converted to a numeric value: {text}") from None
    return number_text(number)


def number_text(number: Decimal) -> str:
    """Return the canonical text of a Decimal. Raises: ValidationException, as `canonical_number`."""
    if not number.is_finite():
        raise invalid(f"The parameter cannot be converted to a numeric value: {number}")
    if number == 0:
        return "0"
    try:
        number = number.normalize(_EXACT)
    except Inexact:
        raise invalid("Attempting to store more than 38 significant digits in a Number") from None
    if abs(number) > _LARGEST:
        raise invalid("Number overflow. Attempting to store a number with magnitude larger than supported range")
    if abs(number) < _SMALLEST:
        raise invalid("Number underflow. Attempting to store a number with magnitude smaller than supported range")
    text = format(number, "f")
    return text if len(text) <= MAXIMUM_DIGITS + 2 else str(number)


def add_numbers(left: str, right: str, sign: int = 1) -> str:
    """Return left + sign × right, exact. Raises: ValidationException when 38 digits do not hold it."""
    try:
        return number_text(_EXACT.add(Decimal(left), sign * Decimal(right)))
    except Inexact:
        raise invalid("Attempting to store more than 38 significant digits in a Number") from None
