"""The one sentence that a customer needs first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from paceline.models import LeadCounts
from paceline.report.model import Outcomes, ReportStatus, Sum
from paceline.report.tally import NOT_STATED
from paceline.report.words import counted, label

SIDES = {
    "in": "leads in the file",
    "accepted": "accepted leads",
    "messages": "messages",
    "reserved": "reserved credits",
}


def headline(
    status: ReportStatus,
    reason: str,
    leads: LeadCounts,
    outcomes: Outcomes,
    causes: Mapping[str, Mapping[str, int]],
    sums: tuple[Sum, ...],
) -> str:
    """Return what became of the messages, in plain words; parts that are zero are left out."""
    return " ".join(
        part for part in (_ending(status, reason), _messages(status, leads, outcomes, causes, sums)) if part
    )


def _ending(status: ReportStatus, reason: str) -> str:
    if status == "finished":
        return ""
    if reason.startswith("cancelled "):
        return f"The campaign was {reason}."
    why = f": {reason.rstrip('.')}" if reason else ""
    return f"The campaign {'was cancelled' if status == 'cancelled' else 'failed'}{why}."


def _messages(
    status: ReportStatus,
    leads: LeadCounts,
    outcomes: Outcomes,
    causes: Mapping[str, Mapping[str, int]],
    sums: tuple[Sum, ...],
) -> str:
    became = ", ".join(_became(outcomes, causes))
    if wrong := _wrong(sums):
        return f"The sums do not close: {wrong}." + (f" Counted so far: {became}." if became else "")
    if leads.total == 0:
        return "Nothing was sent." if status == "failed" else "There were no leads, so nothing was sent."
    if leads.accepted == 0:
        return f"Nothing was sent: {_none_of(leads.total)} could be accepted."
    return f"{_all_have(leads.accepted)} an outcome: {became}."


def _became(outcomes: Outcomes, causes: Mapping[str, Mapping[str, int]]) -> list[str]:
    failed = outcomes.undelivered + outcomes.failed
    phrases = (
        (outcomes.delivered, "reached a handset", "reached handsets"),
        (outcomes.unconfirmed, "has no final receipt by the deadline", "have no final receipt by the deadline"),
        (failed, (why := f"failed{_main_cause(failed, causes)}"), why),
        (outcomes.skipped, "was skipped on purpose", "were skipped on purpose"),
    )
    return [counted(n, one, many) for n, one, many in phrases if n]


def _main_cause(failed: int, causes: Mapping[str, Mapping[str, int]]) -> str:
    """Return the largest cause of failure: " (6,028 of them filtered by the carrier)"."""
    known = Counter(causes.get("undelivered", {})) + Counter(causes.get("failed", {}))
    del known[NOT_STATED]
    if not known:
        return ""
    cause, count = max(known.items(), key=lambda item: (item[1], item[0]))
    words = label(cause)[0].lower() + label(cause)[1:]
    words = words if cause == "carrier_filtered" else f"because of “{words}”"
    if count == failed:
        return f" ({words})" if count == 1 else f" (all of them {words})"
    return f" ({count:,} of them {words})"


def _wrong(sums: tuple[Sum, ...]) -> str:
    """Return the first thing that is off in leads, and the first in credits: the other sums say the same again."""
    first: dict[str, str] = {}
    for one in sums:
        if not one.closes:
            first.setdefault(one.unit, f"the {SIDES[one.left.name]} are {one.off}")
    return "; ".join(first.values())


def _all_have(count: int) -> str:
    if count == 1:
        return "The only message has"
    return "Both messages have" if count == 2 else f"All {count:,} messages have"


def _none_of(count: int) -> str:
    return "the only lead in the file was not one that" if count == 1 else f"none of the {count:,} leads in the file"
