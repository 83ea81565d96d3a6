"""Answers about the plan of a campaign that was not started yet."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import AwareDatetime

from api.answers import Answer
from api.answers.campaigns import PlanSummary


class CreditsNeeded(Answer):
    needed: int
    available: int


class ExcludedLeads(Answer):
    """The leads of one reason. row_numbers: the first, as a spreadsheet shows them (the heading is row 1)."""

    kind: str
    reason: str
    explanation: str
    leads: int
    row_numbers: list[int]


class PlanningAnswer(Answer):
    """The plan is being made: look for it at `Location`, after `Retry-After` seconds."""

    campaign_id: str
    stage: Literal["planning"]
    asked_at: AwareDatetime


class PlanAnswer(PlanSummary):
    """What a start now would do. streams: by route and time zones. caps: every one that applies.

    asked_at: the file, opt-outs and routes are those of then; credits, caps and times those of now. files: addresses
    that are good for an hour.
    """

    campaign_id: str
    stage: Literal["ready"]
    asked_at: AwareDatetime
    files: dict[str, str]
    excluded: list[ExcludedLeads]
    streams: list[dict[str, Any]]
    credits: CreditsNeeded
    send_by: AwareDatetime
    binding_caps: list[dict[str, Any]]
    campaigns_ahead: list[dict[str, Any]]
    caps: list[dict[str, Any]]
    finish_at: AwareDatetime | None = None
    finish_reason: dict[str, Any] | None = None
