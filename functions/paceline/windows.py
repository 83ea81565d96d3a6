"""Sending windows and days on the recipients' clocks: the one module that converts civil time.

The law counts the hours at the called party's place (47 CFR 64.1200(c)(1)); so a window is judged on the wall clock of
every zone of a stream, and it is open only while it is open in all of them. `opens` is included, `closes` is not;
`closes` before `opens` crosses midnight; `opens` equal to `closes` never closes. All results are aware UTC.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo

from paceline.errors import RequestInvalid
from paceline.models import SendingWindow

# Zones on opposite sides of the earth may share an hour only while one of them is on summer time: look a year ahead.
_DAYS_AHEAD = 367
_ONE_DAY = timedelta(days=1)
_ONE_SECOND = timedelta(seconds=1)


@cache
def _zone(name: str) -> ZoneInfo:
    """ZoneInfo itself keeps eight: a campaign over all of the US would read its files again and again."""
    return ZoneInfo(name)


def is_open(window: SendingWindow, zones: Sequence[str], now: datetime) -> bool:
    """Return whether a message may go now: the window is open in all zones (IANA names). `now` is aware."""
    if window.opens == window.closes:
        return True
    return all(_covers(window, now.astimezone(_zone(zone)).time()) for zone in zones)


def next_open(window: SendingWindow, zones: Sequence[str], now: datetime) -> datetime | None:
    """Return the first moment at or after now at which the window is open in all zones; None: never within a year."""
    if is_open(window, zones, now):
        return now.astimezone(UTC)
    return next((moment for moment in _changes(window, zones, now) if is_open(window, zones, moment)), None)


def closes_at(window: SendingWindow, zones: Sequence[str], now: datetime) -> datetime | None:
    """Return the end of the current opening (the first moment that is closed again); None: it never closes.

    Where the window is not open now there is nothing left of it: the answer is now.
    """
    if window.opens == window.closes or not zones:
        return None
    if not is_open(window, zones, now):
        return now.astimezone(UTC)
    return next((moment for moment in _changes(window, zones, now) if not is_open(window, zones, moment)), None)


def both(one: SendingWindow, other: SendingWindow) -> SendingWindow:
    """Return the window that is open while both are. Raises: RequestInvalid, where that is never, or twice a day."""
    if one.opens == one.closes:
        return other
    if other.opens == other.closes:
        return one
    opens = {a.opens for a, b in ((one, other), (other, one)) if _covers(b, a.opens)}
    if len(opens) != 1:
        hours = " and ".join(f"{w.opens:%H:%M} to {w.closes:%H:%M}" for w in (one, other))
        how = "share no hour" if not opens else "share two stretches of a day"
        raise RequestInvalid(f"The sending windows of the campaign and its account, {hours}, {how}: change one.")
    opening = opens.pop()
    return SendingWindow(opens=opening, closes=min((one.closes, other.closes), key=lambda end: _later(opening, end)))


def _later(since: time, until: time) -> timedelta:
    """Return how much later on the clock, past midnight where it must be."""
    day = date(2026, 1, 1)
    return (datetime.combine(day, until) - datetime.combine(day, since)) % _ONE_DAY


def day_of(moment: datetime, time_zone: str) -> date:
    """Return the civil date at that moment in a zone: the day whose cap a send uses."""
    return moment.astimezone(_zone(time_zone)).date()


def end_of_day(moment: datetime, time_zone: str) -> datetime:
    """Return when the civil day of that moment ends in a zone: the exact time at which a day cap resets."""
    return _instant(day_of(moment, time_zone) + _ONE_DAY, time(0), _zone(time_zone))


def _covers(window: SendingWindow, clock: time) -> bool:
    if window.opens < window.closes:
        return window.opens <= clock < window.closes
    return clock >= window.opens or clock < window.closes


def _changes(window: SendingWindow, zones: Sequence[str], now: datetime) -> Iterator[datetime]:
    """Yield, in order, every moment after now at which the window may open or close in one of the zones.

    Between two of them nothing changes, so that looking at these moments only is exact.
    """
    start = now.astimezone(UTC)
    for day in range(_DAYS_AHEAD):
        since = start + day * _ONE_DAY
        yield from sorted(
            moment for moment in _changes_near(window, zones, since) if since < moment <= since + _ONE_DAY
        )


def _changes_near(window: SendingWindow, zones: Sequence[str], since: datetime) -> set[datetime]:
    moments: set[datetime] = set()
    for zone in map(_zone, zones):
        today = since.astimezone(zone).date()
        for day in (today, today + _ONE_DAY):
            for clock in (window.opens, window.closes):
                # Both readings of a time that the autumn change repeats; the clock runs through it twice.
                moments |= {_instant(day, clock, zone), _instant(day, clock.replace(fold=1), zone)}
        moments |= _clock_change(zone, since)
    return moments


def _instant(day: date, clock: time, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, clock, zone).astimezone(UTC)


def _clock_change(zone: ZoneInfo, since: datetime) -> set[datetime]:
    """Return the moment of a change to or from summer time in the day after `since`: it can open or close a window."""
    before, after = since.replace(microsecond=0), since.replace(microsecond=0) + _ONE_DAY + _ONE_SECOND
    offset = before.astimezone(zone).utcoffset()
    if offset == after.astimezone(zone).utcoffset():
        return set()
    while after - before > _ONE_SECOND:
        middle = (before + (after - before) / 2).replace(microsecond=0)
        if middle.astimezone(zone).utcoffset() == offset:
            before = middle
        else:
            after = middle
    return {after}
