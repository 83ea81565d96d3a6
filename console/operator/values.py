"""Values as an operator writes and reads them, by command and in the web console."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

_MOST_DIGITS = 12


class Limit(click.ParamType[int | None]):
    """A cap: a number from 1, or `none`."""

    name = "N|none"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        if str(value).lower() == "none":
            return None
        if (number := whole_number(str(value))) is None:
            self.fail(f"{value!r} is no cap; write a whole number from 1, or none to take it away", param, ctx)
        return number


def given(ctx: click.Context, **names: str) -> dict[str, Any]:
    """Return what was given on the command line, by the API's names. names: API's name=the parameter's."""
    return {
        field: ctx.params[name]
        for field, name in names.items()
        if ctx.get_parameter_source(name) not in (None, click.core.ParameterSource.DEFAULT)
    }


def whole_number(text: str) -> int | None:
    """Return a whole number from 1 that may have commas in it; None: it is none, or larger than any that counts."""
    digits = text.strip().replace(",", "")
    if not digits.isascii() or not digits.isdecimal() or len(digits) > _MOST_DIGITS:
        return None
    return int(digits) or None


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return a line for each value that would change: "parts per minute: 30 → 60"."""
    return [_change(name, before.get(name), value) for name, value in after.items() if before.get(name) != value]


def changed(entry: Mapping[str, Any]) -> list[str]:
    """Return a line for each value that an entry of a trail changed. What was and is empty is left out."""
    pairs = ((name, both.get("before"), both.get("after")) for name, both in entry["changes"].items())
    return [_change(*pair) for pair in pairs if in_words(pair[1]) != in_words(pair[2])]


def masked(phone_number: str) -> str:
    """Return as much of a number as is shown to who did not ask for it: the last four digits."""
    return f"…{phone_number[-4:]}"


def _change(name: str, before: object, after: object) -> str:
    return f"{name.replace('_', ' ')}: {in_words(before)} → {in_words(after)}"


def in_words(value: object) -> str:
    """Return a value of the API's as people read it."""
    match value:
        case None | "":
            return "none"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case str():
            return value
        case list() | dict() if not value:
            return "none"
        case dict() if all(isinstance(one, str | int) for one in value.values()):
            return ", ".join(f"{name.replace('_', ' ')} {in_words(one)}" for name, one in value.items())
    return json.dumps(value)
