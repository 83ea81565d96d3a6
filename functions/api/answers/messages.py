"""Answers about a campaign's messages."""

from __future__ import annotations

from pydantic import AwareDatetime

from api.answers import Answer
from paceline.status import MessageStatus


class MessageAnswer(Answer):
    """One message; neither its number nor its text. cause: why it did not arrive, or blank."""

    lead_no: int
    batch_id: str
    route: str
    parts: int
    status: MessageStatus
    cause: str
    claimed_at: AwareDatetime | None
    sent_at: AwareDatetime | None
    final_at: AwareDatetime | None


class MessagesAnswer(Answer):
    """One page, by lead number. next: `after` of the next page; null: this is the last."""

    messages: list[MessageAnswer]
    next: str | None
