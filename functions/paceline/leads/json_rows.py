"""Lead files as JSON lines: one object a line, its names as headings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from paceline.errors import LeadFileInvalid
from paceline.leads.headings import FAULT, Heading, checked_heading
from paceline.leads.names import normalise_name, trimmed

# An object may leave out what it has no value for, so the columns are the names that the first thousand objects have.
_LINES_LOOKED_AT = 1000

# JSON can write half of a character, "\ud83d", that no encoding has.
_NO_CHARACTER = re.compile("[\0\ud800-\udfff]")

_Pairs = list[tuple[str, Any]]
NumberedRow = tuple[int, dict[str, str]]


def read_jsonl(lines: Iterator[str], filename: str) -> tuple[Heading, Iterator[NumberedRow]]:
    """Return the names as a heading, and the objects: (line number, values). A line that is no object is a faulty row.

    null, a list and an object are no value; a number is the text that the file has, so that no digit is lost.
    Raises: LeadFileInvalid.
    """
    first = list(islice(lines, _LINES_LOOKED_AT))
    names: dict[str, str] = {}
    for pairs in filter(None, map(_pairs, first)):
        for name, _ in pairs:
            names.setdefault(normalise_name(name), _NO_CHARACTER.sub("\ufffd", name))
    if not names:
        raise LeadFileInvalid(f'{filename} is not JSON lines: write one object a line, as {{"phone": "..."}}.')
    heading = checked_heading(Heading(names.values(), row_number=0), filename)
    blank = dict.fromkeys(heading.names, "")
    numbered = enumerate(chain(first, lines), start=1)
    return heading, ((number, _values(line, blank)) for number, line in numbered if trimmed(line))


def _values(line: str, blank: dict[str, str]) -> dict[str, str]:
    pairs = _pairs(line)
    if pairs is None:
        return {**blank, FAULT: "broken_json"}
    values = {normalise_name(name): _text(value) for name, value in pairs}
    if len(values) < len(pairs):
        return {**blank, FAULT: "twin_names"}
    values.pop(FAULT, None)
    if any(map(_NO_CHARACTER.search, values.values())):
        return {**blank, FAULT: "no_character"}
    if not any(values.values()):  # a program wrote it for somebody; a blank row of a spreadsheet nobody wrote
        return {**blank, FAULT: "no_values"}
    return {**blank, **values}


def _text(value: Any) -> str:
    if isinstance(value, str):
        return trimmed(value)
    return str(value).lower() if isinstance(value, bool) else ""


def _pairs(line: str) -> _Pairs | None:
    """Return an object's names and values; None where the line is not one object."""
    try:
        value = _decode(trimmed(line))
    except (ValueError, RecursionError):
        return None
    return value.pairs if isinstance(value, _Object) else None


class _Object:
    """A JSON object as it stands: a dict would drop the first of two equal names."""

    def __init__(self, pairs: _Pairs) -> None:
        self.pairs = pairs


_decode = json.JSONDecoder(
    object_pairs_hook=_Object, parse_int=str, parse_float=str, parse_constant=lambda _: None
).decode
