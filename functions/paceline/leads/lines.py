"""One accepted lead as one JSON line: planning writes them, a send reads them back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from paceline.models import Lead

_FIELDS = {"lead_no": int, "phone_number": str, "text": str, "parts": int, "row_number": int}
_PHONE_NUMBER = re.compile(r"(\+[1-9][0-9]{6,14})?")  # E.164; none, where the person was forgotten

_quoted = json.JSONEncoder(ensure_ascii=False).encode


def lead_to_line(lead: Lead) -> bytes:
    """Return the lead as a line of JSON, its line end included."""
    # By hand: json.dumps of the whole costs a third of planning. A test holds it to json's own reading.
    return (
        f'{{"lead_no":{lead.lead_no},"phone_number":{_quoted(lead.phone_number)},"text":{_quoted(lead.text)},'
        f'"parts":{lead.parts},"row_number":{lead.row_number}}}\n'
    ).encode()


def leads_from_lines(lines: bytes) -> Iterator[Lead]:
    """Yield the leads of a batch: the bytes first_byte..last_byte of its object. A line that is no lead is left out."""
    # Split at the line feed alone: a text may hold U+2028 and others that str.splitlines takes for line ends.
    for line in lines.split(b"\n"):
        if line and (lead := _lead_of(line)):
            yield lead


def _lead_of(line: bytes) -> Lead | None:
    try:
        fields = json.loads(line)
    except ValueError:
        return None
    if not isinstance(fields, dict) or {name: type(value) for name, value in fields.items()} != _FIELDS:
        return None
    return Lead(**fields) if _PHONE_NUMBER.fullmatch(fields["phone_number"]) else None
