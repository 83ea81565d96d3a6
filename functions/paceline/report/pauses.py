"""What a pause really stopped: the messages that were handed to the provider after it was accepted."""

from __future__ import annotations

from datetime import datetime

from paceline.models import Message, Pause
from paceline.report.model import PauseReport
from paceline.status import MessageStatus


class PauseTally:
    """One pause, and the messages that went while it lasted."""

    def __init__(self, pause: Pause) -> None:
        self._pause = pause
        self._sent_after = 0
        self._last: datetime | None = None

    def add(self, message: Message) -> None:
        """Count a message that was handed over between the pause and its resume."""
        at = handed_over_at(message)
        if at is None or at <= self._pause.paused_at:
            return
        if self._pause.resumed_at is not None and at >= self._pause.resumed_at:
            return
        self._sent_after += 1
        self._last = max(self._last or at, at)

    def report(self) -> PauseReport:
        last = None if self._last is None else (self._last - self._pause.paused_at).total_seconds()
        return PauseReport(**self._pause.model_dump(), sent_after=self._sent_after, last_sent_after_seconds=last)


def handed_over_at(message: Message) -> datetime | None:
    """Return when a message was given to the provider; its claim, just before it, where the answer was not seen."""
    return None if message.status is MessageStatus.SKIPPED else message.sent_at or message.claimed_at
