"""The lease of a batch's round: credits and day use taken at once, or a refusal that names its cause with evidence.

One transaction writes the shared rows once a batch, whatever its size. Source: design, section 4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime

from paceline import keys
from paceline.errors import TransactionConflict
from paceline.models import Account, Campaign, Hold, Lead, Route
from paceline.moments import iso
from paceline.status import Cause
from paceline.table import Action, Put, Reason, Row, Table, TransactionRefused, Update
from paceline.windows import day_of, end_of_day

# Each refused try says how much is left, and the next asks for that much; only another batch's lease in between
# makes a further try needed.
MAX_TRIES = 5


@dataclass(frozen=True, slots=True)
class Refusal:
    """Nothing of this batch may go now: why, and until when (None: until a signal)."""

    hold: Hold


@dataclass(frozen=True, slots=True)
class _Ask:
    """One try: these leads, in this round, on this day."""

    campaign: Campaign
    route: Route
    account: Account
    batch_id: str
    round_no: int
    leads: tuple[Lead, ...]
    now: datetime

    @property
    def parts(self) -> int:
        return sum(lead.parts for lead in self.leads)


def take_lease(
    table: Table,
    campaign: Campaign,
    route: Route,
    account: Account,
    batch_id: str,
    round_no: int,
    leads: list[Lead],
    now: datetime,
) -> Row | Refusal:
    """Lease credits and day use for as many of the leads, in order, as there is room for.

    The same round again returns the lease that it has. Raises: TransactionConflict, TableThrottled.
    """
    ask = _Ask(campaign, route, account, batch_id, round_no, tuple(leads), now)
    for _ in range(MAX_TRIES):
        try:
            return _try(table, ask)
        except TransactionRefused as refused:
            answer = _read_refusal(ask, refused.reasons)
        if not isinstance(answer, _Ask):
            return answer
        ask = answer
    raise TransactionConflict(
        "what is left changed under every try", campaign_id=campaign.campaign_id, batch_id=batch_id
    )


def _actions(ask: _Ask) -> list[tuple[Cause | None, Action]]:
    """Return the transaction's actions, each beside the cause that its failed condition means (None: the lease)."""
    campaign, route = ask.campaign, ask.route
    actions: list[tuple[Cause | None, Action]] = [
        (None, Put(_lease_row(ask), condition="attribute_not_exists(#pk)")),
        (
            Cause.CREDITS,
            Update(
                keys.account(campaign.account_id),
                "ADD #available :minus, #reserved :n",
                {"n": ask.parts, "minus": -ask.parts, "approved": "approved", "active": "active"},
                condition="#available >= :n AND #compliance_status = :approved AND #operational_status = :active",
            ),
        ),
        (Cause.ROUTE_DAY_CAP, _use_of_day(keys.route_day(route.name, _day(ask)), ask.parts, route.parts_per_day)),
    ]
    if ask.account.parts_per_day is not None:
        key = keys.account_day(campaign.account_id, _day(ask))
        actions.append((Cause.ACCOUNT_DAY_CAP, _use_of_day(key, ask.parts, ask.account.parts_per_day)))
    return actions


def _day(ask: _Ask) -> date:
    return day_of(ask.now, ask.route.time_zone)


def _use_of_day(key: keys.Key, parts: int, cap: int | None) -> Update:
    if cap is None:
        return Update(key, "ADD #used :n", {"n": parts})
    if parts > cap:  # a condition that can never hold, and that returns the row
        return Update(key, "ADD #used :n", {"n": parts, "zero": 0}, condition="#used < :zero")
    condition = "attribute_not_exists(#used) OR #used <= :room"
    return Update(key, "ADD #used :n", {"n": parts, "room": cap - parts}, condition=condition)


def _lease_row(ask: _Ask) -> Row:
    pk, sk = keys.lease(ask.campaign.campaign_id, ask.batch_id, ask.round_no)
    sizes = [lead.parts for lead in ask.leads]
    return {
        "pk": pk,
        "sk": sk,
        "round": ask.round_no,
        "parts": ask.parts,
        "lead_nos": [lead.lead_no for lead in ask.leads],
        **({"sizes": sizes} if max(sizes) > 1 else {}),
        "day": _day(ask).isoformat(),
        "valid_until": iso(end_of_day(ask.now, ask.route.time_zone)),
        "counts_account_day": ask.account.parts_per_day is not None,
        "leased_at": iso(ask.now),
    }


def _try(table: Table, ask: _Ask) -> Row:
    table.transact([action for _, action in _actions(ask)])
    return _lease_row(ask)


def _read_refusal(ask: _Ask, reasons: tuple[Reason, ...]) -> _Ask | Row | Refusal:
    """Return the lease that exists, a smaller ask, or the refusal: whichever the reasons, by position, prove."""
    smallest: tuple[int, Refusal] | None = None
    for (cause, _), reason in zip(_actions(ask), reasons, strict=True):
        if reason.code != "ConditionalCheckFailed":
            continue
        if cause is None:
            return reason.old or {}
        room, refusal = _room(ask, cause, reason.old or {})
        fits = _leads_that_fit(ask.leads, room)
        if smallest is None or fits < smallest[0]:
            smallest = (fits, refusal)
    if smallest is None:  # not reached: a refused transaction names a failed condition
        return ask
    fits, refusal = smallest
    return replace(ask, leads=ask.leads[:fits]) if fits else refusal


def _room(ask: _Ask, cause: Cause, old: Row) -> tuple[int, Refusal]:
    """Return how many parts there is room for, and the refusal where none of the leads fits."""
    if cause is Cause.CREDITS:
        if old.get("compliance_status") != "approved" or old.get("operational_status") != "active":
            return 0, Refusal(Hold(cause=Cause.ACCOUNT_NOT_ACTIVE, since=ask.now))
        available = old.get("available", 0)
        return available, Refusal(Hold(cause=cause, since=ask.now, used=ask.parts, limit=available))
    cap = (ask.route if cause is Cause.ROUTE_DAY_CAP else ask.account).parts_per_day or 0
    used = old.get("used", 0)
    until = end_of_day(ask.now, ask.route.time_zone)
    return cap - used, Refusal(Hold(cause=cause, since=ask.now, until=until, used=used, limit=cap))


def _leads_that_fit(leads: tuple[Lead, ...], room: int) -> int:
    """Return how many of the leads, in order, fit into `room` parts."""
    for count, lead in enumerate(leads):
        room -= lead.parts
        if room < 0:
            return count
    return len(leads)
