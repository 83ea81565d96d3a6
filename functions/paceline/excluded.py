"""Who is not sent to and why, in a few lines: each reason with its leads and the first rows that it concerns."""

from __future__ import annotations

import io

from paceline.leads.rejects import read_rejects
from paceline.models import JsonObject

SAMPLES = 3


def by_reason(rejects: bytes) -> list[JsonObject]:
    """Return each reason in a rejects.csv, the most leads first: kind, reason, explanation (where it is one), leads,
    row_numbers.

    row_numbers: of the first rows, as a spreadsheet shows them. Phone numbers stay in the file.
    """
    found: dict[tuple[str, str], JsonObject] = {}
    for lead in read_rejects(io.BytesIO(rejects)):
        named = {"kind": lead.kind.value, "reason": lead.reason, "explanation": lead.explanation}
        entry = found.setdefault((lead.kind.value, lead.reason), named | {"leads": 0, "row_numbers": []})
        entry["leads"] += 1
        if entry["explanation"] != lead.explanation:  # it names another row, for one: what is of one lead is no reason
            entry["explanation"] = ""
        if len(entry["row_numbers"]) < SAMPLES:
            entry["row_numbers"].append(lead.row_number)
    return sorted(found.values(), key=lambda entry: -int(entry["leads"]))
