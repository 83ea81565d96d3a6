"""What a forecast is made of, and what it says. Parts are what caps and credits count; moments are aware."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta

from paceline.models import SendingWindow
from paceline.pacing import SEND_US
from paceline.status import Cause

# The share of a route's cap that is really used: lateness and missed slots cost the rest (measured: bench/).
EFFICIENCY = 0.98

# From a start to the first message: the plan, two Maps and an admission (measured: docs/decisions/015).
STARTUP = timedelta(seconds=1)
# On a route where others send, the next seconds' slots are theirs already.
STARTUP_BESIDE_OTHERS = timedelta(seconds=5)


_OF_THE_ACCOUNT = frozenset({Cause.CREDITS, Cause.ACCOUNT_NOT_ACTIVE, Cause.ACCOUNT_DAY_CAP})


@dataclass(frozen=True, slots=True)
class RouteCaps:
    """A route's caps in parts. throttled_until: the end of its provider's 429. used_today: of parts_per_day.

    concurrency: how many sends may be under way at once, of send_us each. is_fresh: it sent nothing for a minute.
    """

    name: str
    parts_per_minute: int
    parts_per_day: int | None = None
    used_today: int = 0
    time_zone: str = "America/New_York"
    is_enabled: bool = True
    throttled_until: datetime | None = None
    concurrency: int | None = None
    send_us: int = SEND_US
    is_fresh: bool = False


@dataclass(frozen=True, slots=True)
class AccountCaps:
    """An account's credits and day cap in parts. used: by civil day, as its rows count (the route's zone)."""

    credits: int
    parts_per_day: int | None = None
    used: Mapping[date, int] = field(default_factory=dict)
    is_active: bool = True


@dataclass(frozen=True, slots=True)
class StreamLeft:
    """What is left of a stream. windows: all must be open. begins: no message before it. send_by: none after it.

    room_a_part: what a part takes of the route's minutes: more than one where long texts leave the ends of them empty.
    """

    campaign_id: str
    stream: str
    route: str
    parts: int
    account_id: str = ""
    weight: int = 1
    windows: tuple[SendingWindow, ...] = (SendingWindow(),)
    zones: tuple[str, ...] = ()
    begins: datetime | None = None
    send_by: datetime | None = None
    room_a_part: float = 1.0


@dataclass(frozen=True, slots=True)
class Span:
    """A cause that binds on a route from a moment to another (None: nobody can say; a signal ends it)."""

    cause: Cause
    route: str
    since: datetime
    until: datetime | None


@dataclass(frozen=True, slots=True)
class Never:
    """Why some parts will not go: the cause that holds them, or that left them too late for send_by (`is_late`)."""

    cause: Cause
    route: str
    parts: int
    is_late: bool


@dataclass(frozen=True, slots=True)
class StreamForecast:
    """finish_at: of the stream's last message; None: never, and `never` says why. spans: what binds it, in order."""

    stream: str
    route: str
    finish_at: datetime | None
    spans: tuple[Span, ...]
    never: Never | None


@dataclass(frozen=True, slots=True)
class Forecast:
    """finish_at: of the campaign's last message; None where a part of it never goes. streams: by name."""

    finish_at: datetime | None
    streams: Mapping[str, StreamForecast]

    @property
    def never(self) -> tuple[Never, ...]:
        """Why parts will not go, one entry a cause and route, the most parts first.

        What the account lacks is one entry, for all routes together, under the route that it leaves the most parts on.
        """
        found = [stream.never for stream in self.streams.values() if stream.never is not None]
        sums: dict[tuple[Cause, str, bool], Never] = {}
        for one in sorted(found, key=lambda one: -one.parts):
            key = (one.cause, "" if one.cause in _OF_THE_ACCOUNT else one.route, one.is_late)
            known = sums.get(key)
            sums[key] = replace(known, parts=known.parts + one.parts) if known else one
        return tuple(sorted(sums.values(), key=lambda one: -one.parts))

    @property
    def spans(self) -> tuple[Span, ...]:
        """What binds the campaign, by cause and route, in order: the union of its streams' spans."""
        found: dict[tuple[Cause, str], list[Span]] = {}
        for stream in self.streams.values():
            for span in stream.spans:
                found.setdefault((span.cause, span.route), []).append(span)
        united = [span for spans in found.values() for span in _united(spans)]
        return tuple(sorted(united, key=lambda span: span.since))

    @property
    def last_stream(self) -> StreamForecast | None:
        """The stream that ends last: what binds it binds the campaign."""
        order = sorted(self.streams.values(), key=lambda one: (one.finish_at is None, one.finish_at or 0))
        return order[-1] if order else None


def _united(spans: Sequence[Span]) -> list[Span]:
    united: list[Span] = []
    for span in sorted(spans, key=lambda one: one.since):
        last = united[-1] if united else None
        if last is None or (last.until is not None and span.since > last.until):
            united.append(span)
        elif last.until is not None and (span.until is None or span.until > last.until):
            united[-1] = Span(last.cause, last.route, last.since, span.until)
    return united
