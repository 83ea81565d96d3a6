"""Build the outcome report of a campaign from its messages, in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TypeVar

from paceline.models import Campaign, Message, Plan
from paceline.report.headline import headline
from paceline.report.model import Credits, Outcomes, Report, ReportStatus, RouteReport
from paceline.report.sums import sums_of
from paceline.report.tally import RouteTally, tally

Number = TypeVar("Number", int, float)


def build_report(
    campaign: Campaign,
    plan: Plan,
    messages: Iterable[Message],
    credits: Credits,
    lost_to: Mapping[str, float],
    *,
    version: int,
    now: datetime,
    status: ReportStatus,
    reason: str = "",
    caps: Mapping[str, int] | None = None,
) -> Report:
    """Return the report; messages are read once, in any order, in bounded memory.

    lost_to: cause → seconds. caps: route → parts per minute, shown beside what was sent. now: aware.
    Started at the first claim (without one: at the campaign's start time); finished at the last outcome (or now).
    Never raises for sums that do not close: `balanced` is False, and `sums` say what is off.
    """
    counts = tally(messages, campaign.pauses)
    sums = sums_of(plan.leads, counts, credits)
    causes = {name: _largest_first(counts.causes[name]) for name in Outcomes.model_fields if name in counts.causes}
    routes = dict(sorted(counts.routes.items()))
    return Report(
        campaign_id=campaign.campaign_id,
        name=campaign.name,
        account_id=campaign.account_id,
        version=version,
        generated_at=now,
        status=status,
        reason=reason,
        started_at=counts.first_seen_at or campaign.start_at or campaign.created_at,
        finished_at=counts.last_final_at or now,
        headline=headline(status, reason, plan.leads, counts.outcomes, causes, sums),
        balanced=all(one.closes for one in sums),
        leads=plan.leads,
        outcomes=counts.outcomes,
        causes=causes,
        credits=credits,
        sums=sums,
        by_route={name: _route_report(route, (caps or {}).get(name)) for name, route in routes.items()},
        lost_to=_largest_first(lost_to),
        pauses=tuple(pause.report() for pause in counts.pauses),
        sent_per_minute={name: route.sent.per_minute() for name, route in routes.items()},
        max_sent_in_60_seconds={name: route.sent.most_in() for name, route in routes.items()},
        plan_warnings=plan.warnings,
        rejected_reasons=_largest_first(plan.rejected_reasons),
    )


def _route_report(route: RouteTally, cap: int | None) -> RouteReport:
    return RouteReport(
        outcomes=Outcomes(**route.outcomes),
        parts=route.sent.parts,
        first_sent_at=route.first_sent_at,
        last_sent_at=route.last_sent_at,
        parts_per_minute_cap=cap,
    )


def _largest_first(counts: Mapping[str, Number]) -> dict[str, Number]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
