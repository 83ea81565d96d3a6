"""Forecasts from rows that the workflow writes anyway: what is left, the caps, and who else sends on the routes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from paceline import keys, rows
from paceline.accounts import account_use
from paceline.batches import batch_summaries
from paceline.campaigns import get_plan
from paceline.forecast import AccountCaps, Forecast, RouteCaps, forecast
from paceline.holds import route_scope
from paceline.models import Account, Campaign, Plan
from paceline.moments import from_us, to_us
from paceline.pace_rows import to_pace
from paceline.pacing import MINUTE_US
from paceline.ports import ObjectStore
from paceline.remaining import Remaining, remaining
from paceline.routes import campaigns_on, parts_used, route_now
from paceline.status import CampaignStatus
from paceline.table import Row, Table
from paceline.windows import day_of

# What a forecast looks at: with more campaigns at once on one route each would have next to no share of it.
MOST_CAMPAIGNS = 20


@dataclass(frozen=True, slots=True)
class Outlook:
    """Reads for forecasts at the moment `now`."""

    table: Table
    store: ObjectStore
    now: datetime

    def forecast(self, own: Remaining, beside: Sequence[Remaining]) -> Forecast:
        """Return when the campaign's last message goes, beside the others."""
        everyone = [own, *beside]
        leased: Counter[str] = Counter()
        for one in everyone:
            leased.update(one.leased)
        names = {stream.route for one in everyone for stream in one.streams}
        routes = {name: self._route_caps(name, leased[name]) for name in names}
        zones = {route.time_zone for route in routes.values()}
        by_account: dict[str, list[Remaining]] = {}
        for one in everyone:
            by_account.setdefault(one.campaign.account_id, []).append(one)
        accounts = {name: self._account_caps(name, zones, its) for name, its in by_account.items()}
        streams = [stream for one in everyone for stream in one.streams]
        return forecast(own.campaign.campaign_id, streams, routes, accounts, self.now)

    def beside(self, routes: Iterable[str], campaign_id: str) -> list[Remaining]:
        """Return what is left of the other campaigns that run on the routes, of what is sent on those routes."""
        names = set(routes)
        others = {other for name in names for other in campaigns_of(self.table, name, self.now)} - {campaign_id}
        found = []
        for campaign in self.running(sorted(others)):
            if plan := get_plan(self.table, campaign.campaign_id):
                summaries = batch_summaries(self.table, campaign.campaign_id)
                left = self.remaining(campaign, plan, summaries).on(names)
                found += [left] if left.parts else []
        return found

    def remaining(self, campaign: Campaign, plan: Plan, summaries: Sequence[Row]) -> Remaining:
        """Return what is left of a campaign that was started."""
        return remaining(self.table, self.store, campaign, plan, summaries, self.now)

    def running(self, campaign_ids: Sequence[str]) -> Iterator[Campaign]:
        """Yield those of the first twenty campaigns that run, by name."""
        wanted = [keys.campaign(name) for name in campaign_ids[:MOST_CAMPAIGNS]]
        found = map(rows.to_campaign, self.table.get_many(wanted) if wanted else [])
        for campaign in sorted(found, key=lambda one: one.campaign_id):
            if campaign.status is CampaignStatus.RUNNING:
                yield campaign

    def account(self, account_id: str) -> Account | None:
        row = self.table.get(keys.account(account_id))
        return rows.to_account(row) if row else None

    def _route_caps(self, name: str, leased: int) -> RouteCaps:
        route, signals = route_now(self.table, name)
        pace, moment = to_pace(self.table.get(keys.route_pace(name))), to_us(self.now)
        refused_until = max(signals.throttled_until, signals.misconfigured_until)
        return RouteCaps(
            name=name,
            parts_per_minute=route.parts_per_minute,
            parts_per_day=route.parts_per_day,
            used_today=parts_used(self.table, route, self.now) - leased,
            time_zone=route.time_zone,
            is_enabled=route.is_enabled,
            throttled_until=from_us(refused_until) if refused_until else None,
            concurrency=route.concurrency,
            send_us=pace.send_us,
            is_fresh=all(one.last + MINUTE_US <= moment for one in pace.rounds),
        )

    def _account_caps(self, account_id: str, zones: set[str], its: Sequence[Remaining]) -> AccountCaps:
        account = self.account(account_id)
        if account is None:
            return AccountCaps(credits=0)
        leased = sum(sum(one.leased.values()) for one in its)
        used = {}
        if account.parts_per_day is not None:
            days = {day_of(self.now, zone) for zone in zones}
            used = {day: account_use(self.table, account_id, day) - leased for day in days}
        is_active = account.operational_status == "active" and account.compliance_status == "approved"
        return AccountCaps(account.available + leased, account.parts_per_day, used, is_active)


def campaigns_of(table: Table, route: str, now: datetime) -> list[str]:
    """Return the campaigns that lately asked for the route or wait for it, by name."""
    held = {row["campaign_id"] for row in held_for(table, route, now)}
    return sorted(held.union(campaigns_on(table.get(keys.route_pace(route)) or {})))


def held_for(table: Table, route: str, now: datetime) -> list[dict[str, str]]:
    """Return the holds of batches that wait for a change of the route: cause, since, until, campaign_id."""
    # A hold that ended by time leaves its row for a while.
    waiting = table.query(f"HOLD#{route_scope(route)}")
    return [row for row in waiting if not row["until"] or datetime.fromisoformat(row["until"]) > now]
