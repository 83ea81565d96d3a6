"""Finding one lead of a campaign: by its number, by its row in the customer's file, or by its phone number."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import TypeAdapter

from paceline.batches import read_all_leads
from paceline.errors import ObjectNotFound, PacelineError
from paceline.leads.phone import PhoneNumber, normalise
from paceline.leads.rejects import read_rejects
from paceline.models import Batch, ExcludedLead, Lead, Plan
from paceline.ports import ObjectStore

_BATCHES = TypeAdapter(list[Batch])


class LeadNotFound(PacelineError):
    """The campaign has no such lead, or what was given names none; the message says how to write it."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person gave: one of the three."""

    lead_no: int = 0
    row_number: int = 0
    phone_number: str = ""

    def matches(self, lead: Lead | ExcludedLead) -> bool:
        if self.phone_number:
            return lead.phone_number == self.phone_number
        return lead.row_number == self.row_number if self.row_number else lead.lead_no == self.lead_no


def parse(text: str) -> Wanted:
    """Return which lead is meant by `17`, `row:17` or a phone number. Raises: LeadNotFound."""
    kind, _, row = text.strip().partition(":")
    if kind == "row" and row.isascii() and row.isdecimal() and int(row):
        return Wanted(row_number=int(row))
    if text.isascii() and text.isdecimal() and 0 < len(text) <= 7:  # no phone number is as short
        return Wanted(lead_no=int(text))
    number = normalise(text)
    if isinstance(number, PhoneNumber):
        return Wanted(phone_number=number.e164)
    raise LeadNotFound("Name the lead by its number (17), its row in the file (row:18) or its phone number.")


def planned_batches(store: ObjectStore, plan: Plan) -> list[Batch]:
    """Return the batches of a plan, in their order."""
    return _BATCHES.validate_json(store.get(plan.batches_manifest_key)) if plan.batches_manifest_key else []


def find(store: ObjectStore, plan: Plan, wanted: Wanted) -> tuple[Batch, Lead] | list[ExcludedLead]:
    """Return the accepted lead with its batch, else every excluded row that is meant. Raises: LeadNotFound."""
    found = next((pair for pair in _accepted(store, plan) if wanted.matches(pair[1])), None)
    if found is not None:
        return found
    excluded = [lead for lead in _excluded(store, plan) if wanted.matches(lead)]
    if not excluded:
        raise LeadNotFound(f"The campaign has no such lead. Its file has {plan.leads.total:,} leads.")
    return excluded


def duplicates_of(store: ObjectStore, plan: Plan, lead: Lead) -> list[ExcludedLead]:
    """Return the rows that were excluded because they hold the same number as an accepted lead."""
    if lead.is_forgotten:
        return []
    return [one for one in _excluded(store, plan) if one.phone_number == lead.phone_number]


def _accepted(store: ObjectStore, plan: Plan) -> Iterator[tuple[Batch, Lead]]:
    """Yield every accepted lead with its batch."""
    for batch, leads in read_all_leads(store, planned_batches(store, plan)):
        yield from ((batch, lead) for lead in leads)


def _excluded(store: ObjectStore, plan: Plan) -> Iterator[ExcludedLead]:
    if not plan.rejects_key:
        return
    try:
        rejects = store.get(plan.rejects_key)
    except ObjectNotFound:
        return
    yield from read_rejects(io.BytesIO(rejects))
