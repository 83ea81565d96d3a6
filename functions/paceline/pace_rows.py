"""The pace row: what it looks like, and the one write that gives slots."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from paceline import keys
from paceline.moments import MICROSECONDS
from paceline.pacing import FULL, SEND_US, Pace, Round
from paceline.table import Row, Table, Update

# One attribute a campaign, so that campaigns take turns without knowing of each other.
TURN, WEIGHT, SERVED = "turn#", "weight#", "served#"

# A campaign that has not asked for so long has ended; its attributes go with the next slots.
FORGOTTEN_US = 600 * MICROSECONDS
MOST_FORGOTTEN_AT_ONCE = 20

# A share is written as thousandths: a table's numbers are whole here.
THOUSAND = 1000


def to_pace(row: Row | None) -> Pace:
    """Return the row as the rules see it; a route without one never gave a slot."""
    row = row or {}
    return Pace(
        next_free=row.get("next_free", 0),
        revision=row.get("revision", 0),
        rounds=tuple(Round(*fields) for fields in json.loads(row.get("rounds", "[]"))),
        throttled_until=row.get("throttled_until", 0),
        speed=row.get("speed", THOUSAND * FULL) / THOUSAND,
        send_us=row.get("send_us", SEND_US),
        turns=_by_campaign(row, TURN),
        weights=_by_campaign(row, WEIGHT),
        served=_by_campaign(row, SERVED),
    )


def _by_campaign(row: Row, prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix): value for name, value in row.items() if name.startswith(prefix)}


@dataclass(frozen=True, slots=True)
class Grant:
    """What a write of slots makes of the pace row. Microseconds.

    served: the route's time that the campaign is given, by its weight. drift: how much longer than at an even pace the
    slots take; the campaign's turns come later by that. send_us: as learned from the rounds before.
    """

    campaign_id: str
    rounds: list[Round]
    next_free: int
    served: int
    drift: int
    send_us: int


def give(table: Table, route: str, pace: Pace, grant: Grant, now: int) -> None:
    """Write the slots that a round takes, if nobody took any since `pace` was read. Raises: ConditionFailed."""
    values: dict[str, Any] = {
        "free": grant.next_free,
        "rounds": _to_text(grant.rounds),
        "new": pace.revision + 1,
        "served": grant.served,
        "drift": grant.drift,
        "send": grant.send_us,
        "zero": 0,
    }
    condition = "attribute_not_exists(#revision)"
    if pace.revision:
        condition, values["was"] = "#revision = :was", pace.revision
    names = {"served": SERVED + grant.campaign_id, "turn": TURN + grant.campaign_id}
    counts = "#served = if_not_exists(#served, :zero) + :served, #turn = if_not_exists(#turn, :zero) + :drift"
    expression = f"SET #next_free = :free, #rounds = :rounds, #revision = :new, #send_us = :send, {counts}"
    if gone := _forgotten(pace, grant.campaign_id, now):
        names |= gone
        expression += " REMOVE " + ", ".join(f"#{name}" for name in gone)
    table.update(Update(keys.route_pace(route), expression, values, condition, names))


def _forgotten(pace: Pace, asking: str, now: int) -> dict[str, str]:
    """Return placeholders for the attributes of campaigns that have ended."""
    since = now - FORGOTTEN_US
    ended = [campaign_id for campaign_id, turn in pace.turns.items() if turn < since and campaign_id != asking]
    return {
        f"gone{index}{prefix[0]}": prefix + campaign_id
        for index, campaign_id in enumerate(ended[:MOST_FORGOTTEN_AT_ONCE])
        for prefix in (TURN, WEIGHT, SERVED)
    }


def _to_text(rounds: list[Round]) -> str:
    """One string: as a list of lists the row of a fast route would take milliseconds to read and write."""
    return json.dumps([[r.ref, r.first, r.last, r.parts, r.width] for r in rounds], separators=(",", ":"))
