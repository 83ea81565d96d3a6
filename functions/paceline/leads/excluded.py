"""The list of rows that were not accepted, for the customer, and its sums."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import astuple, fields

from paceline.models import ExcludedLead
from paceline.status import Excluded

COLUMNS = tuple(field.name for field in fields(ExcludedLead))


class ExcludedLeads:
    """Counts excluded rows and writes them as CSV.

    No cell can run as a formula in a spreadsheet: nothing in it is the customer's text but field names from the message
    and numbers in E.164, which a spreadsheet reads as numbers.
    """

    def __init__(self) -> None:
        self.kinds: Counter[Excluded] = Counter()
        self.rejected_reasons: Counter[str] = Counter()
        self._buffer = io.BytesIO()
        self._text = io.TextIOWrapper(self._buffer, encoding="utf-8", newline="", write_through=True)
        self._rows = csv.writer(self._text)
        self._rows.writerow(COLUMNS)

    def add(self, lead: ExcludedLead) -> None:
        """Count a row and add it to the list."""
        self.kinds[lead.kind] += 1
        if lead.kind is Excluded.REJECTED:
            self.rejected_reasons[lead.reason] += 1
        self._rows.writerow(astuple(lead))

    def to_csv(self) -> bytes:
        """Return the list with its heading row."""
        return self._buffer.getvalue()
