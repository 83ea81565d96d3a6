"""A route whose rounds leave as a test says: what the pace's log is made of, without senders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from paceline import keys, rows
from paceline.departures import departed, round_ref
from paceline.models import Message
from paceline.moments import from_us, iso, to_us
from paceline.pacing import Request
from paceline.slots import take_slots
from paceline.status import MessageStatus
from paceline.table import Put, Row, Table
from paceline.turns import Turn
from tests.builders.core import NOON, World

CAMPAIGN = "renewals"


@dataclass
class Given:
    """A round that has its slots. left: when each message left (microseconds), None: never. is_closed: as its row."""

    batch_id: str
    lease: Row
    left: list[int | None]
    is_closed: bool = False

    @property
    def slots(self) -> list[int]:
        return list(self.lease["slots"])

    def messages(self, until: int) -> list[Message]:
        """Return the messages that left by a moment, as the ledger has them."""
        found = []
        for lead_no, slot, parts, left in zip(
            self.lease["lead_nos"], self.lease["slots"], self.lease["sizes"], self.left, strict=False
        ):
            if left is None or left > until:
                continue
            at = from_us(left)
            message = Message(lead_no, self.batch_id, "shared", 1, parts, MessageStatus.SENT, slot=from_us(slot))
            found.append(Message(**{**_fields(message), "claimed_at": at, "sent_at": at, "answered_at": at}))
        return found


def _fields(message: Message) -> dict[str, object]:
    return {name: getattr(message, name) for name in message.__slots__}


@dataclass
class Road:
    """One route under test. Every ask is a batch of its own, with one round."""

    world: World
    name: str = "shared"
    given: list[Given] = field(default_factory=list)
    asked: int = 0

    def ask(
        self,
        now: datetime = NOON,
        parts: Sequence[int] = (1,) * 40,
        cap: int = 240,
        *,
        until: datetime | None = None,
        late: Sequence[float | None] = (),
        campaign_id: str = CAMPAIGN,
        concurrency: int | None = None,
        table: Table | None = None,
    ) -> list[int] | Turn:
        """Ask for slots once. late: by how many seconds each message leaves after its slot (None: never)."""
        self.asked += 1
        batch_id = f"{self.asked:05}"
        ref = round_ref(campaign_id, batch_id, 1)
        valid_until = to_us(until or NOON.replace(year=2027))
        request = Request(ref, tuple(parts), cap, valid_until, concurrency)
        answer = take_slots(table or self.world.table, self.name, request, now)
        if isinstance(answer, Turn):
            return answer
        self.keep(campaign_id, batch_id, answer.moments, parts, late)
        return answer.moments

    def slots(self, now: datetime = NOON, *args: object, **options: object) -> list[int]:
        """Ask for slots that must be there."""
        answer = self.ask(now, *args, **options)  # type: ignore[arg-type]
        assert isinstance(answer, list), answer
        return answer

    def write_what_left(self, now: int, *, messages: bool = True) -> None:
        """Let the rows say what left by now: in a closed round's lease, or in the messages' own rows (messages)."""
        for one in self.given:
            if one.is_closed:
                continue
            campaign_id = one.lease["pk"].split("#")[1]
            left = one.messages(now)
            if one.slots[-1] + 8_000_000 < now:
                one.is_closed = True
                closing = {"closed_at": iso(from_us(now)), "departed": departed(one.lease, left)}
                self.world.table.put(Put(one.lease | closing))
                continue
            for message in left if messages else ():
                self.world.table.put(Put(rows.message_row(campaign_id, message, None)))

    def keep(
        self,
        campaign_id: str,
        batch_id: str,
        slots: list[int],
        parts: Sequence[int],
        late: Sequence[float | None] = (),
    ) -> None:
        """Let a round's lease have these slots."""
        pk, sk = keys.lease(campaign_id, batch_id, 1)
        lease: Row = {"pk": pk, "sk": sk, "round": 1, "parts": sum(parts), "lead_nos": list(range(1, len(parts) + 1))}
        lease |= {"sizes": list(parts), "slots": slots, "first_slot": slots[0]}
        self.world.table.put(Put(lease))
        delays = list(late) or [0.0] * len(slots)
        left = [
            None if delay is None else slot + round(delay * 1e6) for slot, delay in zip(slots, delays, strict=False)
        ]
        self.given.append(Given(batch_id, lease, left))
