"""What every stream may do at a moment of the simulation: its holds, its window, and the budgets that it draws on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from paceline.forecast.model import AccountCaps, RouteCaps, StreamLeft
from paceline.forecast.rates import NOTHING
from paceline.models import SendingWindow
from paceline.status import Cause
from paceline.windows import closes_at, day_of, end_of_day, is_open, next_open

Windows = tuple[SendingWindow, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """A stream may not send. cause: None before its start. until: None where only a signal ends it."""

    cause: Cause | None
    until: datetime | None


@dataclass(frozen=True, slots=True)
class Budget:
    """Something that streams use up. key: two streams with the same key draw on the same. ends_at: when it is anew."""

    key: tuple[str, ...]
    cause: Cause
    room: float
    ends_at: datetime | None


class Limits:
    """The caps of routes and accounts, and what of them the simulation has used."""

    def __init__(self, routes: Mapping[str, RouteCaps], accounts: Mapping[str, AccountCaps], now: datetime) -> None:
        self._routes, self._accounts = routes, accounts
        self._credits = {name: float(account.credits) for name, account in accounts.items()}
        self._used: dict[tuple[str, str, date], float] = {
            ("route", name, day_of(now, route.time_zone)): route.used_today for name, route in routes.items()
        }
        for name, account in accounts.items():
            self._used |= {("account", name, day): used for day, used in account.used.items()}
        self._days: dict[str, tuple[date, datetime]] = {}
        self._windows: dict[tuple[Windows, tuple[str, ...]], tuple[bool, datetime | None]] = {}

    def hold(self, stream: StreamLeft, now: datetime) -> Held | None:
        """Return what holds a stream, or None: it may send."""
        return next(self._holds(stream, now), None)

    def _holds(self, stream: StreamLeft, now: datetime) -> Iterator[Held]:
        route, account = self._routes[stream.route], self._accounts.get(stream.account_id)
        if stream.begins is not None and now < stream.begins:
            yield Held(None, stream.begins)
        if account is not None and not account.is_active:
            yield Held(Cause.ACCOUNT_NOT_ACTIVE, None)
        if not route.is_enabled:
            yield Held(Cause.ROUTE_DISABLED, None)
        opened, changes_at = self.window(stream, now)
        if not opened:
            yield Held(Cause.SENDING_WINDOW, changes_at)
        for budget in self.budgets(stream, now):
            if budget.room < NOTHING:
                yield Held(budget.cause, budget.ends_at)
        if route.throttled_until is not None and now < route.throttled_until:
            yield Held(Cause.PROVIDER_THROTTLED, route.throttled_until)

    def window(self, stream: StreamLeft, now: datetime) -> tuple[bool, datetime | None]:
        """Return whether the stream's window is open, and when that changes (None: never)."""
        key = (stream.windows, stream.zones)
        known = self._windows.get(key)
        if known is None or (known[1] is not None and known[1] <= now):
            known = self._windows[key] = _window_of(*key, now)
        return known

    def budgets(self, stream: StreamLeft, now: datetime) -> Iterator[Budget]:
        """Yield what the stream uses up by sending: credits, the route's day, the account's day."""
        route, account = self._routes[stream.route], self._accounts.get(stream.account_id)
        if account is not None:
            yield Budget(("credits", stream.account_id), Cause.CREDITS, self._credits[stream.account_id], None)
        today, ends_at = self._day(route.time_zone, now)
        if route.parts_per_day is not None:
            room = route.parts_per_day - self._used.get(("route", route.name, today), 0)
            yield Budget(("route", route.name), Cause.ROUTE_DAY_CAP, room, ends_at)
        if account is not None and account.parts_per_day is not None:
            room = account.parts_per_day - self._used.get(("account", stream.account_id, today), 0)
            key = ("account", stream.account_id, today.isoformat())
            yield Budget(key, Cause.ACCOUNT_DAY_CAP, room, ends_at)

    def _day(self, time_zone: str, now: datetime) -> tuple[date, datetime]:
        """Return the civil day of a zone and its end: computed once a day, for every event asks."""
        known = self._days.get(time_zone)
        if known is None or known[1] <= now:
            known = self._days[time_zone] = (day_of(now, time_zone), end_of_day(now, time_zone))
        return known

    def spend(self, stream: StreamLeft, now: datetime, parts: float) -> None:
        """Use up what so many parts take."""
        today, _ = self._day(self._routes[stream.route].time_zone, now)
        for key in (("route", stream.route, today), ("account", stream.account_id, today)):
            self._used[key] = self._used.get(key, 0) + parts
        if stream.account_id in self._credits:
            self._credits[stream.account_id] -= parts


def _window_of(windows: Windows, zones: tuple[str, ...], now: datetime) -> tuple[bool, datetime | None]:
    """Return whether all the windows are open, and when that changes (None: never, or not within a year)."""
    if all(is_open(window, zones, now) for window in windows):
        ends = [end for window in windows if (end := closes_at(window, zones, now)) is not None]
        return True, min(ends, default=None)
    moment = now
    while moment - now < timedelta(days=367):
        openings = [next_open(window, zones, moment) for window in windows]
        if any(opening is None for opening in openings):
            break
        latest = max(opening for opening in openings if opening is not None)
        if latest == moment:
            return False, latest
        moment = latest
    return False, None
