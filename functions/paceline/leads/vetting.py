"""What becomes of each row of a lead file: a lead, or excluded for a stated reason. Never both, never neither."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from paceline.leads.phone import PhoneNumber, Refusal, normalise
from paceline.leads.reading import SURPLUS, LeadFile
from paceline.leads.template import BlankField, Template
from paceline.models import ExcludedLead
from paceline.ports import OptOuts
from paceline.status import Excluded

# Columns that say a lead's carrier, in order of preference, as normalised names.
CARRIER_COLUMNS = ("carrier", "carriername", "mobilecarrier", "wirelesscarrier", "phonecarrier")

_OPT_OUTS_AT_ONCE = 100  # DynamoDB's BatchGetItem takes 100 keys
_ROWS_AT_ONCE = 1000  # rows held while waiting for those 100 numbers

# Twilio refuses a longer body (its error 21617): better known before the start than 25,000 times after it.
LONGEST_TEXT = 1600


class Candidate(NamedTuple):
    """A row that may become a lead: its number and text are good."""

    lead_no: int
    row_number: int
    phone_number: str
    text: str
    carrier: str


Vetted = Candidate | ExcludedLead


def carrier_column(columns: Mapping[str, str]) -> str | None:
    """Return the normalised name of the column with the carriers, or None."""
    return next((name for name in CARRIER_COLUMNS if name in columns), None)


def vet(file: LeadFile, template: Template, account_id: str, opt_outs: OptOuts) -> Iterator[Vetted]:
    """Yield what became of each row, in the file's order: rejected, a duplicate, opted out, or accepted.

    A rejected row does not take its number: a later, good row with the same number is the first one. Of the good rows
    with one number the first wins.
    """
    return _without_opted_out(_without_duplicates(_without_faults(file, template)), account_id, opt_outs)


def _without_faults(file: LeadFile, template: Template) -> Iterator[Vetted]:
    phone, carrier = file.phone_name, carrier_column(file.columns) or ""
    for lead_no, row_number, values in file:
        number = normalise(values[phone])
        text = _text(values, template) if isinstance(number, PhoneNumber) else ""
        refused = next((found for found in (number, text) if isinstance(found, Refusal)), None)
        if refused:
            yield ExcludedLead(lead_no, row_number, Excluded.REJECTED, refused.reason, explanation=refused.sentence)
        elif isinstance(number, PhoneNumber) and isinstance(text, str):
            yield Candidate(lead_no, row_number, number.e164, text, values.get(carrier, ""))


def _text(values: Mapping[str, str], template: Template) -> str | Refusal:
    if SURPLUS in values:
        return Refusal("too_many_cells", "The row has more cells than there are headings: a value may need quotes.")
    text = template.render(values)
    if isinstance(text, BlankField):
        return Refusal("blank_field", f"The row has no {text.name}, and the message has no default for it.")
    if not text.strip():
        return Refusal("blank_text", "The text for this row is empty.")
    if len(text) > LONGEST_TEXT:
        return Refusal("text_too_long", f"The text for this row has more than {LONGEST_TEXT:,} characters.")
    return text


def _without_duplicates(rows: Iterable[Vetted]) -> Iterator[Vetted]:
    first_row: dict[int, int] = {}  # number → row, as integers: a million of them take about 100 MB
    for row in rows:
        if isinstance(row, Candidate):
            kept = first_row.setdefault(int(row.phone_number[1:]), row.row_number)
            if kept != row.row_number:
                yield _excluded(row, Excluded.DUPLICATE, "duplicate", f"The same number as in row {kept}.")
                continue
        yield row


def _without_opted_out(rows: Iterable[Vetted], account_id: str, opt_outs: OptOuts) -> Iterator[Vetted]:
    waiting: list[Vetted] = []
    numbers: list[str] = []
    for row in rows:
        waiting.append(row)
        if isinstance(row, Candidate):
            numbers.append(row.phone_number)
        if len(numbers) == _OPT_OUTS_AT_ONCE or len(waiting) == _ROWS_AT_ONCE:
            yield from _asked(waiting, numbers, account_id, opt_outs)
            waiting, numbers = [], []
    yield from _asked(waiting, numbers, account_id, opt_outs)


def _asked(waiting: list[Vetted], numbers: list[str], account_id: str, opt_outs: OptOuts) -> Iterator[Vetted]:
    stopped = opt_outs.opted_out(account_id, numbers) if numbers else set()
    for row in waiting:
        if isinstance(row, Candidate) and row.phone_number in stopped:
            yield _excluded(row, Excluded.OPTED_OUT, "opted_out", "The recipient has opted out of your messages.")
        else:
            yield row


def _excluded(row: Candidate, kind: Excluded, reason: str, explanation: str) -> ExcludedLead:
    return ExcludedLead(row.lead_no, row.row_number, kind, reason, row.phone_number, explanation)
