"""Builders with defaults for the report's tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from paceline.models import Campaign, LeadCounts, Message, Plan
from paceline.report import Credits, Report, build_report
from paceline.status import MessageStatus

NOON = datetime(2026, 9, 2, 12, tzinfo=UTC)


def a_campaign(**changes: Any) -> Campaign:
    defaults = {
        "campaign_id": "renewals-september",
        "account_id": "acct-1",
        "name": "September renewals",
        "message": "Hello {first_name}",
        "leads_key": "leads/renewals.csv",
        "created_at": NOON,
    }
    return Campaign.model_validate(defaults | changes)


def a_plan(accepted: int, **changes: Any) -> Plan:
    return Plan.model_validate({"leads": LeadCounts(total=accepted, accepted=accepted), "parts": accepted} | changes)


def a_message(lead_no: int = 1, **changes: Any) -> Message:
    sent_at = NOON + timedelta(seconds=0.25 * lead_no)
    defaults: dict[str, Any] = {
        "lead_no": lead_no,
        "batch_id": "shared-0001",
        "route": "shared",
        "round": 1,
        "parts": 1,
        "status": MessageStatus.DELIVERED,
        "slot": sent_at,
        "claimed_at": sent_at,
        "sent_at": sent_at,
        "final_at": sent_at + timedelta(seconds=5),
    }
    return Message(**(defaults | changes))


def a_skipped_message(lead_no: int = 1, cause: str = "frequency_cap", **changes: Any) -> Message:
    nothing: dict[str, Any] = {"slot": None, "claimed_at": None, "sent_at": None, "final_at": NOON}
    return a_message(lead_no, **(nothing | {"status": MessageStatus.SKIPPED, "cause": cause} | changes))


def a_report(messages: Iterable[Message] = (), **changes: Any) -> Report:
    """A finished campaign whose leads are the messages' and whose credits are their parts, unless told otherwise."""
    rows = list(messages)
    parts = sum(row.parts for row in rows)
    defaults: dict[str, Any] = {
        "campaign": a_campaign(),
        "plan": a_plan(len({row.lead_no for row in rows})),
        "credits": Credits(reserved=parts, consumed=parts),
        "lost_to": {},
        "version": 1,
        "now": NOON + timedelta(days=3),
        "status": "finished",
    }
    return build_report(messages=rows, **(defaults | changes))


def the_story() -> Iterator[Message]:
    """The 22,178 messages of 2 September, by outcome and cause."""
    kinds = (
        (11_497, MessageStatus.DELIVERED, ""),
        (2_360, MessageStatus.UNCONFIRMED, ""),
        (6_028, MessageStatus.UNDELIVERED, "carrier_filtered"),
        (847, MessageStatus.UNDELIVERED, "unreachable"),
        (200, MessageStatus.FAILED, "number_refused"),
    )
    lead_no = 0
    for count, status, cause in kinds:
        for _ in range(count):
            lead_no += 1
            yield a_message(lead_no, status=status, cause=cause)
    for _ in range(1_246):
        lead_no += 1
        yield a_skipped_message(lead_no)
