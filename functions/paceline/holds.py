"""Holds: a batch that may not go on waits for the exact end of the cause, or for a signal that ends it earlier.

A hold's row is written under the scope whose change can end it, so that a signal finds its holds with one query.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from paceline import keys
from paceline.accounts import get_account
from paceline.campaigns import OVER, get_campaign
from paceline.models import Hold
from paceline.moments import iso, to_us
from paceline.ports import Workflow
from paceline.retention import expiry
from paceline.routes import get_route, route_now
from paceline.status import CampaignStatus, Cause
from paceline.table import Delete, Put, Row, Table
from paceline.windows import day_of

# Campaigns hold for a month at most.
HOLD_RETENTION = timedelta(days=31)

_OF_ACCOUNT = {Cause.CREDITS, Cause.ACCOUNT_NOT_ACTIVE, Cause.ACCOUNT_DAY_CAP}
_OF_ROUTE = {Cause.ROUTE_DAY_CAP, Cause.ROUTE_DISABLED, Cause.PROVIDER_MISCONFIGURED}


def scope_of(cause: Cause, account_id: str, route: str, campaign_id: str) -> str:
    """Return whose change can end the cause: the account's, the route's or the campaign's."""
    if cause in _OF_ACCOUNT:
        return account_scope(account_id)
    return route_scope(route) if cause in _OF_ROUTE else campaign_scope(campaign_id)


def account_scope(account_id: str) -> str:
    return f"ACCOUNT#{account_id}"


def route_scope(route: str) -> str:
    return f"ROUTE#{route}"


def campaign_scope(campaign_id: str) -> str:
    return f"CAMPAIGN#{campaign_id}"


def register_hold(
    table: Table,
    workflow: Workflow,
    now: datetime,
    *,
    token: str,
    scope: str,
    campaign_id: str,
    batch_id: str,
    hold: Hold,
) -> bool:
    """Write the hold, then look again: a signal that came between the refusal and this row must not be lost.

    Return whether the batch still waits.
    """
    pk, sk = keys.hold(scope, campaign_id, batch_id, token)
    # Timed out, nobody removes it; a signal that finds it late does no harm, and DynamoDB forgets it.
    ends = (hold.until or now + HOLD_RETENTION) + timedelta(days=1)
    evidence = {"cause": hold.cause.value, "since": iso(hold.since), "until": iso(hold.until) if hold.until else ""}
    row = {
        "pk": pk,
        "sk": sk,
        "token": token,
        "campaign_id": campaign_id,
        "scope": scope,
        **expiry(ends),
        **evidence,
    }
    table.put(Put(row))
    if _still_holds(table, scope, campaign_id, hold, now):
        return True
    _release(table, workflow, row)
    return False


def release_holds(table: Table, workflow: Workflow, scope: str) -> int:
    """Let every batch that waits in this scope ask for admission again. Return how many."""
    return _release_all(table, workflow, list(table.query(f"HOLD#{scope}")))


def release_campaign(table: Table, workflow: Workflow, campaign_id: str, account_id: str, routes: list[str]) -> int:
    """Let every waiting batch of one campaign ask again, whatever it waits for."""
    scopes = [campaign_scope(campaign_id), account_scope(account_id), *map(route_scope, routes)]
    return _release_all(
        table, workflow, [row for scope in scopes for row in table.query(f"HOLD#{scope}", f"{campaign_id}#")]
    )


def release_after_give_back(table: Table, workflow: Workflow, account_id: str, route: str | None = None) -> None:
    """Let batches that wait for credits, or for the route's day, ask again: some came back, and nobody else says so."""
    release_holds(table, workflow, account_scope(account_id))
    if route is not None:
        release_holds(table, workflow, route_scope(route))


def _release_all(table: Table, workflow: Workflow, waiting: list[Row]) -> int:
    """Release holds; return of how many batches. A batch has a row for each try, and waits with the last of them."""
    for row in waiting:
        _release(table, workflow, row)
    return len({row["sk"].rpartition("#")[0] for row in waiting})


def _release(table: Table, workflow: Workflow, row: Row) -> None:
    workflow.resume(row["token"], {"released": True})
    table.delete(Delete((row["pk"], row["sk"])))


def _still_holds(table: Table, scope: str, campaign_id: str, hold: Hold, now: datetime) -> bool:
    campaign = get_campaign(table, campaign_id)
    if campaign.status in OVER:
        return False
    match hold.cause:
        case Cause.PAUSED:
            return campaign.status is CampaignStatus.PAUSED
        case Cause.CREDITS:
            return get_account(table, campaign.account_id).available <= (hold.limit or 0)
        case Cause.ACCOUNT_NOT_ACTIVE:
            account = get_account(table, campaign.account_id)
            return account.operational_status != "active" or account.compliance_status != "approved"
        case Cause.ROUTE_DISABLED:
            return not get_route(table, scope.removeprefix("ROUTE#")).is_enabled
        case Cause.PROVIDER_MISCONFIGURED:
            return route_now(table, scope.removeprefix("ROUTE#"))[1].misconfigured_until > to_us(now)
        case Cause.ROUTE_DAY_CAP:
            route = get_route(table, scope.removeprefix("ROUTE#"))
            used = (table.get(keys.route_day(route.name, day_of(now, route.time_zone))) or {}).get("used", 0)
            return (
                route.parts_per_day is not None
                and used >= (hold.used or 0)
                and route.parts_per_day <= (hold.limit or 0)
            )
        case Cause.ACCOUNT_DAY_CAP:
            cap = get_account(table, campaign.account_id).parts_per_day
            return cap is not None and cap <= (hold.limit or 0)
    return hold.until is None or now < hold.until
