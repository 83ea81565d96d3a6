"""Fakes of the clock, the provider and the workflow: each does what the real one does, and keeps what was asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from paceline.errors import ProviderMisconfigured, ProviderThrottled, ProviderUnsure
from paceline.ports import Accepted, Doubt, OutgoingMessage, ProviderRecord, Refused
from paceline.status import MessageStatus


@dataclass
class FakeClock:
    """A clock that stands still until somebody moves it."""

    moment: datetime

    def now(self) -> datetime:
        return self.moment

    def passes(self, **duration: float) -> datetime:
        """Let time pass (timedelta's arguments); return the new time."""
        self.moment += timedelta(**duration)
        return self.moment


@dataclass
class FakeProvider:
    """A provider with a book of what it accepted; each attribute makes it misbehave.

    throttles: Retry-After seconds of the 429s that it answers next. is_silent: it accepts and never answers. is_down:
    it neither accepts nor answers. is_mute: it says nothing of what it has. trouble: why it refuses a whole route.
    refuses: the cause of a refusal. before_answer: called once it has accepted, before its answer is seen (a fast
    receipt). while_getting_ready: called before a send may be offered.
    """

    throttles: list[float] = field(default_factory=list)
    is_silent: bool = False
    is_down: bool = False
    is_mute: bool = False
    trouble: str = ""
    refuses: str = ""
    before_answer: Callable[[OutgoingMessage, str], None] | None = None
    while_getting_ready: Callable[[], object] | None = None
    accepted: dict[str, OutgoingMessage] = field(default_factory=dict)
    statuses: dict[str, tuple[MessageStatus, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    sends: int = 0

    def get_ready(self) -> None:
        """Take as long as a test wants."""
        if self.while_getting_ready is not None:
            self.while_getting_ready()

    def send(self, message: OutgoingMessage) -> Accepted | Refused:
        self.sends += 1
        if self.throttles:
            raise ProviderThrottled("429", retry_after_seconds=self.throttles.pop(0))
        if self.is_down:
            raise ProviderUnsure("no answer")
        if self.trouble:
            raise ProviderMisconfigured("refused", cause=self.trouble, code="1")
        if self.refuses:
            return Refused(self.refuses, "21614")
        sid = f"SM{len(self.accepted) + 1:04}"
        self.accepted[sid] = message
        self.statuses[sid] = (MessageStatus.SENT, "")
        if self.before_answer is not None:
            self.before_answer(message, sid)
        if self.is_silent:
            raise ProviderUnsure("no answer")
        return Accepted(sid)

    def look_up(self, message: OutgoingMessage, doubt: Doubt) -> ProviderRecord | None:
        self.asked.append(message.message_id)
        if self.is_mute:
            raise ProviderUnsure("no answer")
        same = [sid for sid, sent in self._same(message) if sid not in doubt.known]
        return self.status_of(same[0]) if len(same) == 1 else None

    def status_of(self, provider_message_id: str) -> ProviderRecord | None:
        self.asked.append(provider_message_id)
        if self.is_mute:
            raise ProviderUnsure("no answer")
        if provider_message_id not in self.statuses:
            return None
        return ProviderRecord(provider_message_id, *self.statuses[provider_message_id])

    def texts_to(self, phone_number: str) -> int:
        """Return how many messages a person was really sent."""
        return sum(sent.phone_number == phone_number for sent in self.accepted.values())

    def _same(self, message: OutgoingMessage) -> Iterator[tuple[str, OutgoingMessage]]:
        wanted = (message.phone_number, message.text)
        return ((sid, sent) for sid, sent in self.accepted.items() if (sent.phone_number, sent.text) == wanted)


@dataclass
class FakeWorkflow:
    """A workflow whose tokens wait until they are resumed. over: tokens whose task ended before."""

    started: list[str] = field(default_factory=list)
    resumed: list[str] = field(default_factory=list)
    over: set[str] = field(default_factory=set)
    on_resume: Callable[[str], None] | None = None

    def start(self, campaign_id: str) -> str:
        if campaign_id not in self.started:
            self.started.append(campaign_id)
        return f"arn:aws:states:us-east-1:123456789012:execution:paceline-campaign:{campaign_id}"

    def revise(self, campaign_id: str, reports_begun: int) -> str:
        return self.start(f"{campaign_id}.r{reports_begun}")

    def resume(self, token: str, output: dict[str, object]) -> None:
        """As the real one: a task that is over already is no error."""
        if token in self.over:
            return
        self.resumed.append(token)
        self.over.add(token)
        if self.on_resume is not None:
            self.on_resume(token)
