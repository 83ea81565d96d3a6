"""Making a forecast: streams simulated from event to event.

Between two events (a window opens or closes, a day ends, a budget is used up, a stream is done) every rate is constant,
so the time of the next event is plain arithmetic. A campaign's share of a route is by weight among the campaigns that
may send on it at that moment: what a finished or held one leaves is shared by the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from paceline.forecast.limits import Budget, Held, Limits
from paceline.forecast.model import (
    EFFICIENCY,
    AccountCaps,
    Forecast,
    Never,
    RouteCaps,
    Span,
    StreamForecast,
    StreamLeft,
)
from paceline.forecast.rates import NOTHING, RouteRate
from paceline.status import Cause

# A guard, not a limit: thirty days of twenty streams are some 1,300 events.
MOST_EVENTS = 50_000


def forecast(
    campaign_id: str,
    streams: Sequence[StreamLeft],
    routes: Mapping[str, RouteCaps],
    accounts: Mapping[str, AccountCaps],
    now: datetime,
    *,
    efficiency: float = EFFICIENCY,
) -> Forecast:
    """Return when the streams of a campaign end. streams: those of the other campaigns on its routes, too.

    An account that is not given has no limits. efficiency: the share of a route's pace that is really used.
    """
    flows = [_Flow(stream, float(stream.parts)) for stream in streams if stream.parts > 0]
    own = [flow for flow in flows if flow.of.campaign_id == campaign_id]
    rates = {name: RouteRate(route, efficiency) for name, route in routes.items()}
    _Simulation(flows, own, rates, Limits(routes, accounts, now), now).run()
    ends = [flow.finish_at or now for flow in own]
    finish_at = max(ends, default=now) if all(flow.finish_at for flow in own) else None
    return Forecast(finish_at, {flow.of.stream: flow.result() for flow in own})


@dataclass(slots=True)
class _Flow:
    """A stream while it is simulated. left: parts. spans: its causes so far. is_late: its send_by came first."""

    of: StreamLeft
    left: float
    rate: float = 0.0
    finish_at: datetime | None = None
    is_late: bool = False
    spans: list[Span] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        return self.is_late or self.finish_at is not None

    def note(self, cause: Cause, since: datetime, until: datetime | None) -> None:
        """Note what binds it for a step; a cause that goes on has one span."""
        if self.spans and self.spans[-1].cause is cause and self.spans[-1].until == since:
            since = self.spans.pop().since
        self.spans.append(Span(cause, self.of.route, since, until))

    def result(self) -> StreamForecast:
        never = None
        if self.finish_at is None:
            cause = self.spans[-1].cause if self.spans else Cause.SEND_BY_PASSED
            never = Never(cause, self.of.route, round(self.left), self.is_late)
        return StreamForecast(self.of.stream, self.of.route, self.finish_at, tuple(self.spans), never)


@dataclass(slots=True)
class _Simulation:
    flows: list[_Flow]
    own: list[_Flow]
    rates: Mapping[str, RouteRate]
    limits: Limits
    now: datetime

    def run(self) -> None:
        """Simulate until every stream of the campaign is over, or nothing changes any more."""
        for _ in range(MOST_EVENTS):
            going = [flow for flow in self.flows if not flow.is_over]
            if all(flow.is_over for flow in self.own):
                return
            holds = [self.limits.hold(flow.of, self.now) for flow in going]
            self._set_rates(going, holds)
            until = self._next_event(going, holds)
            for flow, hold in zip(going, holds, strict=True):
                if (cause := Cause.PACE if hold is None else hold.cause) is not None:
                    flow.note(cause, self.now, until)
            if until is None:
                return
            self._advance(going, until)

    def _set_rates(self, going: Sequence[_Flow], holds: Sequence[Held | None]) -> None:
        """Give each stream its parts a second: by weight among campaigns, by what is left within one."""
        weights: dict[str, dict[str, int]] = {}
        left: dict[tuple[str, str], float] = {}
        moving = [flow for flow, hold in zip(going, holds, strict=True) if hold is None]
        for flow in moving:
            route, campaign = flow.of.route, flow.of.campaign_id
            weights.setdefault(route, {})[campaign] = flow.of.weight
            left[route, campaign] = left.get((route, campaign), 0) + flow.left
        for flow in going:
            flow.rate = 0.0
        for flow in moving:
            route, campaign = flow.of.route, flow.of.campaign_id
            share = flow.of.weight / sum(weights[route].values()) * flow.left / left[route, campaign]
            flow.rate = share * self.rates[route].at(self.now) / flow.of.room_a_part

    def _next_event(self, going: Sequence[_Flow], holds: Sequence[Held | None]) -> datetime | None:
        """Return the next moment at which something changes; None: nothing ever does."""
        moments = [hold.until for hold in holds if hold is not None]
        moments += [flow.of.send_by for flow in going]
        moving = {flow.of.route for flow, hold in zip(going, holds, strict=True) if hold is None}
        moments += [self.rates[route].changes_at(self.now) for route in moving]
        drawn: dict[tuple[str, ...], tuple[Budget, float]] = {}
        for flow in (flow for flow in going if flow.rate):
            moments += [self.limits.window(flow.of, self.now)[1], self._in(flow.left / flow.rate)]
            for budget in self.limits.budgets(flow.of, self.now):
                drawn[budget.key] = (budget, drawn.get(budget.key, (budget, 0.0))[1] + flow.rate)
        for budget, rate in drawn.values():
            moments += [budget.ends_at, self._in(budget.room / rate)]
        return min((moment for moment in moments if moment is not None and moment > self.now), default=None)

    def _in(self, seconds: float) -> datetime | None:
        # Beyond ten years is never; and a step is at least the microsecond that moves the time on.
        return self.now + timedelta(microseconds=max(1, round(seconds * 1e6))) if seconds < 3e8 else None

    def _advance(self, going: Sequence[_Flow], until: datetime) -> None:
        seconds = (until - self.now).total_seconds()
        for flow in going:
            parts = min(flow.left, flow.rate * seconds)
            if parts:
                self.limits.spend(flow.of, self.now, parts)
                self.rates[flow.of.route].use(parts * flow.of.room_a_part)
                flow.left -= parts
            if flow.left < NOTHING:
                flow.finish_at = until
            elif flow.of.send_by is not None and until >= flow.of.send_by:
                flow.is_late = True
        self.now = until
