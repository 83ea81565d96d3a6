"""The equations that a report proves, in leads and in credits. A sum that fails says what is off; nothing raises."""

from __future__ import annotations

from typing import Literal

from paceline.models import LeadCounts
from paceline.report.model import Credits, Outcomes, Sum, Term
from paceline.report.tally import Tally
from paceline.report.words import counted


def sums_of(leads: LeadCounts, counts: Tally, credits: Credits) -> tuple[Sum, ...]:
    """Return every equation. All close exactly when each accepted lead is in one outcome and no credit is lost.

    Equal totals are not enough: a doubled lead can hide a missing one. So leads with exactly one outcome are counted
    by lead, and both the accepted leads and the messages read must equal them.
    """
    one_outcome = {"leads_with_exactly_one_outcome": counts.finished}
    wrong = wrong_with(leads, counts)
    return (
        equation("leads", ("in", leads.total), _file_terms(leads)),
        equation("leads", ("accepted", leads.accepted), _outcome_terms(counts.outcomes), wrong),
        equation("leads", ("accepted", leads.accepted), one_outcome, wrong),
        equation("leads", ("messages", counts.messages), one_outcome, wrong),
        equation(
            "credits", ("reserved", credits.reserved), {"consumed": credits.consumed, "released": credits.released}
        ),
    )


def equation(unit: Literal["leads", "credits"], left: tuple[str, int], right: dict[str, int], wrong: str = "") -> Sum:
    """Return left = right, added; where that does not hold, with the difference and what is known to be wrong."""
    difference = left[1] - sum(right.values())
    off = "" if difference == 0 else f"off by {counted(abs(difference), unit[:-1])}" + (f": {wrong}" if wrong else "")
    return Sum(
        unit=unit,
        left=Term(name=left[0], count=left[1]),
        right=tuple(Term(name=name, count=count) for name, count in right.items()),
        closes=difference == 0,
        off=off,
    )


def wrong_with(leads: LeadCounts, counts: Tally) -> str:
    """Return what keeps accepted leads from having one outcome each, in words; "" when nothing does."""
    missing = leads.accepted - counts.seen
    found = (
        (missing, "accepted lead without a message", "accepted leads without a message"),
        (counts.open, "message without a final outcome", "messages without a final outcome"),
        (counts.doubled, "lead with more than one message", "leads with more than one message"),
        (-missing, "lead with a message that was not accepted", "leads with a message that were not accepted"),
        (counts.misnumbered, "message with an impossible lead number", "messages with an impossible lead number"),
    )
    return ", ".join(counted(n, one, many) for n, one, many in found if n > 0)


def _file_terms(leads: LeadCounts) -> dict[str, int]:
    return {
        "rejected": leads.rejected,
        "duplicates": leads.duplicates,
        "opted_out": leads.opted_out,
        "accepted": leads.accepted,
    }


def _outcome_terms(outcomes: Outcomes) -> dict[str, int]:
    return {name: getattr(outcomes, name) for name in Outcomes.model_fields}
