"""One accepted lead as one JSON line: planning writes them, a send reads them back."""

from __future__ import annotations

import json
from collections.abc import Iterator

from paceline.models import Lead


def lead_to_line(lead: Lead) -> bytes:
    """Return the lead as a line of JSON, its line end included."""
    fields = {name: getattr(lead, name) for name in lead.__slots__}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def leads_from_lines(lines: bytes) -> Iterator[Lead]:
    """Yield the leads of a batch: the bytes first_byte..last_byte of its object."""
    # Split at the line feed alone: a text may hold U+2028 and others that str.splitlines takes for line ends.
    for line in lines.split(b"\n"):
        if line:
            yield Lead(**json.loads(line))
