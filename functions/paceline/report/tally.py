"""One pass over the messages of a campaign: what is counted, in bounded memory."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from paceline.models import Message, Pause
from paceline.report.model import Outcomes
from paceline.report.pace import SentTimes
from paceline.report.pauses import PauseTally
from paceline.status import FINAL, MessageStatus

NOT_STATED = "not_stated"
# Delivered has no cause, and unconfirmed is its own: only the others owe one.
OWES_A_CAUSE = frozenset({MessageStatus.UNDELIVERED, MessageStatus.FAILED, MessageStatus.SKIPPED})
# The marks of a lead: no message yet, one with an outcome, one without, more than one.
NONE, FINISHED, OPEN, DOUBLED = range(4)
# A hundred times the largest file: a lead_no beyond it is a broken row, and must not make the marks fill the memory.
LARGEST_LEAD_NO = 15_000_000


class RouteTally:
    """What one route did."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.sent = SentTimes()
        self.first_sent_at: datetime | None = None
        self.last_sent_at: datetime | None = None

    def add(self, message: Message) -> None:
        if message.status in FINAL:
            self.outcomes[message.status.value] += 1
        if (sent_at := message.sent_at) is None:
            return
        self.sent.add(sent_at, message.parts)
        self.first_sent_at = min(self.first_sent_at or sent_at, sent_at)
        self.last_sent_at = max(self.last_sent_at or sent_at, sent_at)


class Tally:
    """Counts of messages. Memory: one byte per lead, eight per sent part, and one counter per minute and route."""

    def __init__(self, pauses: Sequence[Pause] = ()) -> None:
        self.messages = 0
        self.pauses = [PauseTally(pause) for pause in pauses]
        self.routes: defaultdict[str, RouteTally] = defaultdict(RouteTally)
        self.causes: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.first_seen_at: datetime | None = None
        self.last_final_at: datetime | None = None
        self.misnumbered = 0
        self._marks = bytearray(1024)

    @property
    def outcomes(self) -> Outcomes:
        totals = sum((route.outcomes for route in self.routes.values()), Counter())
        return Outcomes(**totals)

    @property
    def finished(self) -> int:
        """Leads with exactly one message, which is final."""
        return self._marks.count(FINISHED)

    @property
    def open(self) -> int:
        """Leads with exactly one message, which is not final."""
        return self._marks.count(OPEN)

    @property
    def doubled(self) -> int:
        """Leads with more than one message."""
        return self._marks.count(DOUBLED)

    @property
    def seen(self) -> int:
        """Leads with at least one message."""
        return self.finished + self.open + self.doubled

    def add(self, message: Message) -> None:
        self.messages += 1
        self._mark(message)
        self.routes[message.route].add(message)
        for pause in self.pauses:
            pause.add(message)
        if message.status in FINAL and (message.cause or message.status in OWES_A_CAUSE):
            self.causes[message.status.value][message.cause or NOT_STATED] += 1
        if began := message.claimed_at or message.sent_at:
            self.first_seen_at = min(self.first_seen_at or began, began)
        if ended := message.final_at:
            self.last_final_at = max(self.last_final_at or ended, ended)

    def _mark(self, message: Message) -> None:
        lead_no, marks = message.lead_no, self._marks
        if not 1 <= lead_no <= LARGEST_LEAD_NO:
            self.misnumbered += 1
            return
        if lead_no >= len(marks):
            marks.extend(bytes(lead_no))  # at least doubles, so growing costs little
        if marks[lead_no] != NONE:
            marks[lead_no] = DOUBLED
        else:
            marks[lead_no] = FINISHED if message.status in FINAL else OPEN


def tally(messages: Iterable[Message], pauses: Sequence[Pause] = ()) -> Tally:
    """Return the counts of messages, which may come in any order."""
    counts = Tally(pauses)
    for message in messages:
        counts.add(message)
    return counts
