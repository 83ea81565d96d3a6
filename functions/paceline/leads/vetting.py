"""What becomes of each row of a lead file: a lead, or excluded for a stated reason. Never both, never neither."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from paceline.leads.composing import Composer
from paceline.leads.headings import FAULT, FAULTS
from paceline.leads.phone import PhoneNumber, Refusal, normalise
from paceline.leads.places import Places
from paceline.leads.punctuation import Measured
from paceline.leads.reading import LeadFile
from paceline.leads.zones import ALL_US_ZONES, zones_of
from paceline.models import ExcludedLead
from paceline.ports import CarrierLookUp, OptOuts
from paceline.status import Excluded

# Columns that say a lead's carrier, in order of preference, as normalised names.
CARRIER_COLUMNS = ("carrier", "carriername", "mobilecarrier", "wirelesscarrier", "phonecarrier")

_NUMBERS_AT_ONCE = 100  # DynamoDB's BatchGetItem takes 100 keys
_ROWS_AT_ONCE = 1000  # rows held while waiting for those 100 numbers


class Candidate(NamedTuple):
    """A row that may become a lead: its number and text are good. zones: ALL_US_ZONES where the place is unknown."""

    lead_no: int
    row_number: int
    phone_number: str
    message: Measured
    carrier: str
    zones: tuple[str, ...]


Vetted = Candidate | ExcludedLead


def carrier_column(columns: Mapping[str, str]) -> str | None:
    """Return the normalised name of the column with the carriers, or None."""
    return next((name for name in CARRIER_COLUMNS if name in columns), None)


def vet(
    file: LeadFile, composer: Composer, account_id: str, opt_outs: OptOuts, carriers: CarrierLookUp | None
) -> Iterator[Vetted]:
    """Yield what became of each row, in the file's order: rejected, a duplicate, opted out, or accepted.

    A rejected row does not take its number: a later, good row with the same number is the first one. Of the good rows
    with one number the first wins. carriers: asked where a lead says none; None: nobody needs to know.
    """
    rows = _without_duplicates(_without_faults(file, composer))
    return _Asked(account_id, opt_outs, carriers).among(rows)


def _without_faults(file: LeadFile, composer: Composer) -> Iterator[Vetted]:
    phone, carrier, places = file.phone_name, carrier_column(file.columns) or "", Places(file.columns)
    for lead_no, row_number, values in file:
        number = _refused_by_its_form(values) or normalise(values[phone])
        message = composer.compose(values) if isinstance(number, PhoneNumber) else number
        if isinstance(number, PhoneNumber) and isinstance(message, Measured):
            zones = _zones(places, values, number.e164)
            yield Candidate(lead_no, row_number, number.e164, message, values.get(carrier, ""), zones)
        elif isinstance(message, Refusal):
            yield ExcludedLead(lead_no, row_number, Excluded.REJECTED, message.reason, explanation=message.sentence)


def _refused_by_its_form(values: Mapping[str, str]) -> Refusal | None:
    fault = values.get(FAULT)
    return Refusal(fault, FAULTS[fault]) if fault else None


def _zones(places: Places, values: Mapping[str, str], e164: str) -> tuple[str, ...]:
    said = places.zones_of(values)
    return zones_of(e164) if said is None else said or ALL_US_ZONES


def _without_duplicates(rows: Iterable[Vetted]) -> Iterator[Vetted]:
    first_row: dict[int, int] = {}  # number → row, as integers: a million of them take about 100 MB
    for row in rows:
        if isinstance(row, Candidate):
            kept = first_row.setdefault(int(row.phone_number[1:]), row.row_number)
            if kept != row.row_number:
                yield _excluded(row, Excluded.DUPLICATE, "duplicate", f"The same number as in row {kept}.")
                continue
        yield row


class _Asked:
    """Asks the table about the rows that are left, a hundred numbers at a time."""

    def __init__(self, account_id: str, opt_outs: OptOuts, carriers: CarrierLookUp | None) -> None:
        self._account_id, self._opt_outs, self._carriers = account_id, opt_outs, carriers

    def among(self, rows: Iterable[Vetted]) -> Iterator[Vetted]:
        """Yield the rows, those of people who opted out as excluded, and the others with the carriers found."""
        waiting: list[Vetted] = []
        numbers: list[str] = []
        for row in rows:
            waiting.append(row)
            if isinstance(row, Candidate):
                numbers.append(row.phone_number)
            if len(numbers) == _NUMBERS_AT_ONCE or len(waiting) == _ROWS_AT_ONCE:
                yield from self._answered(waiting, numbers)
                waiting, numbers = [], []
        yield from self._answered(waiting, numbers)

    def _answered(self, waiting: list[Vetted], numbers: list[str]) -> Iterator[Vetted]:
        stopped = self._opt_outs.opted_out(self._account_id, numbers) if numbers else set()
        found = self._carriers_of(waiting, stopped)
        for row in waiting:
            if not isinstance(row, Candidate):
                yield row
            elif row.phone_number in stopped:
                yield _excluded(row, Excluded.OPTED_OUT, "opted_out", "The recipient has opted out of your messages.")
            else:
                yield row._replace(carrier=found[row.phone_number]) if row.phone_number in found else row

    def _carriers_of(self, waiting: list[Vetted], stopped: set[str]) -> Mapping[str, str]:
        candidates = (row for row in waiting if isinstance(row, Candidate) and not row.carrier)
        unknown = [row.phone_number for row in candidates if row.phone_number not in stopped]
        return self._carriers.carriers_of(self._account_id, unknown) if self._carriers and unknown else {}


def _excluded(row: Candidate, kind: Excluded, reason: str, explanation: str) -> ExcludedLead:
    return ExcludedLead(row.lead_no, row.row_number, kind, reason, row.phone_number, explanation)
