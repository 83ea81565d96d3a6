"""What is left, what binds and when it ends, read from the rows that the workflow writes anyway."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from paceline import keys
from paceline.batches import summarize
from paceline.bottleneck import show_route
from paceline.campaigns import get_campaign, keep_plan, pause_campaign
from paceline.models import JsonObject, LeadCounts, Plan, Route, Stream
from paceline.moments import iso, to_us
from paceline.outlook import Outlook
from paceline.planned import describe_plan
from paceline.progress import show_campaign
from paceline.slots import slow_down
from paceline.status import CampaignStatus
from paceline.table import Put, Update
from tests.builders.core import ALWAYS, NOON, World, a_campaign, an_account, leads_of, put_route

PARTS = 40  # of a batch


def outlook(world: World) -> Outlook:
    return Outlook(world.table, world.store, world.clock.now())


def plan(world: World, batches: int, campaign_id: str = "renewals", route: str = "shared") -> Plan:
    """Keep a plan of so many batches of forty leads on one route."""
    zones = ("America/New_York",)
    made = [
        world.has_batch(leads_of(PARTS), f"{number:05}", campaign_id=campaign_id, route=route)
        for number in range(1, batches + 1)
    ]
    key = f"campaigns/{campaign_id}/batches.json"
    world.store.put(key, b"[" + b",".join(batch.model_dump_json().encode() for batch in made) + b"]")
    parts = PARTS * batches
    stream = Stream(
        campaign_id=campaign_id,
        stream=f"{route}-01",
        route=route,
        zones=zones,
        batches=batches,
        leads=parts,
        parts=parts,
        manifest_bucket="leads",
        manifest_key="streams/1.json",
        concurrency=4,
    )
    counts = LeadCounts(total=parts, accepted=parts)
    return keep_plan(
        world.table,
        campaign_id,
        Plan(leads=counts, parts=parts, batches=batches, streams=(stream,), batches_manifest_key=key),
    )


def note(world: World, batch_id: str, campaign_id: str = "renewals", **values: Any) -> None:
    """Write a batch's summary as admission does."""
    defaults = {"route": "shared", "leads": PARTS, "status": "waiting", "hold": None}
    summarize(world.table, campaign_id, batch_id, world.clock.now(), **(defaults | values))


def a_hold(cause: str, minutes_ago: float = 10, **more: Any) -> JsonObject:
    since = iso(NOON - timedelta(minutes=minutes_ago))
    return {"cause": cause, "since": since, "until": None, "used": None, "limit": None, **more}


def shown(world: World, campaign_id: str = "renewals") -> JsonObject:
    return show_campaign(outlook(world), get_campaign(world.table, campaign_id))


def sends_already(world: World, route: str = "shared", seconds_ago: int = 0) -> None:
    last = to_us(NOON) - seconds_ago * 1_000_000
    rounds = json.dumps([["autumn#00001#1", last - 10_000_000, last, PARTS]])
    world.table.update(Update(keys.route_pace(route), "SET #rounds = :rounds", {"rounds": rounds}))


def seconds_left(world: World) -> float:
    """Return how long the campaign's forecast says, on a route that has been sending, at the full 4 parts a second."""
    sends_already(world)
    told = shown(world)["finish_at"]
    return round((to_us(datetime.fromisoformat(told)) - to_us(NOON)) / 1e6 * 0.98 * 4)


@pytest.mark.parametrize(
    ("seconds_ago", "seconds"),
    [
        pytest.param(0, 40 / 4 / 0.98, id="it sends"),
        pytest.param(61, 40 / 4 * 0.95, id="it sent more than a minute ago"),
    ],
)
def test_a_route_that_rested_gives_its_first_minute_faster(world: World, seconds_ago: int, seconds: float) -> None:
    plan(world, batches=1)
    sends_already(world, seconds_ago=seconds_ago)

    finish_at = datetime.fromisoformat(shown(world)["finish_at"])

    assert (finish_at - NOON).total_seconds() == pytest.approx(seconds, abs=0.001)


def test_a_routes_cap_on_concurrency_is_in_the_forecast(world: World) -> None:
    put_route(world.table, Route(name="shared", concurrency=1))
    plan(world, batches=2)

    finish_at = datetime.fromisoformat(shown(world)["finish_at"])

    assert (finish_at - NOON).total_seconds() == pytest.approx(80 * 0.45 + 2 * 0.75, abs=0.01)


# -- what is left ---------------------------------------------------------------------------------------------------


def test_batches_that_have_not_begun_are_left_whole_and_those_that_are_done_not_at_all(world: World) -> None:
    plan(world, batches=5)
    note(world, "00001", status="sent")
    note(world, "00002", status="settled")

    assert seconds_left(world) == 3 * PARTS


def test_of_a_batch_under_way_those_are_left_whose_slots_are_to_come(world: World) -> None:
    plan(world, batches=2)
    note(world, "00001", status="sending")
    pk, sk = keys.lease("renewals", "00001", 1)
    slots = [to_us(NOON) + 250_000 * step for step in range(-10, 30)]  # eleven have come, the last of them just now
    world.table.put(Put({"pk": pk, "sk": sk, "round": 1, "slots": slots}))

    assert seconds_left(world) == 29 + PARTS


def test_what_came_back_from_a_closed_round_is_left(world: World) -> None:
    plan(world, batches=2)
    note(world, "00001", left=7, round=1)

    assert seconds_left(world) == 7 + PARTS


def test_credits_that_are_leased_are_not_missing(empty_world: World) -> None:
    world = empty_world
    world.has(an_account(available=0), Route(name="shared"), a_campaign())
    plan(world, batches=1)
    note(world, "00001", hold=a_hold("pace"), has_lease=True)

    assert seconds_left(world) == PARTS


# -- what binds a campaign ------------------------------------------------------------------------------------------


def test_missing_credits_bind_and_nobody_can_tell_the_end(empty_world: World) -> None:
    world = empty_world
    world.has(an_account(available=0), Route(name="shared"), a_campaign())
    plan(world, batches=2)
    for batch_id, minutes in (("00001", 10), ("00002", 5)):
        note(world, batch_id, hold=a_hold("credits", minutes, used=40, limit=0))

    campaign = shown(world)

    assert campaign["binding"] == a_hold("credits", 10, used=40, limit=0) | {"route": "shared"}
    assert campaign["finish_at"] is None
    assert campaign["finish_reason"]["cause"] == "credits"
    assert campaign["finish_reason"]["detail"].startswith("80 credits are missing")
    assert campaign["lost_to"] == {"credits": 600.0}


def test_a_hold_that_goes_on_costs_up_to_now(world: World) -> None:
    plan(world, batches=1)
    ended = {"cause": "pace", "since": iso(NOON - timedelta(minutes=30)), "until": iso(NOON - timedelta(minutes=20))}
    note(world, "00001", hold=a_hold("pace", 5), held=[ended])

    assert shown(world)["lost_to"] == {"pace": 900.0}


def test_a_batch_that_sends_is_bound_by_the_pace_though_another_is_held(world: World) -> None:
    plan(world, batches=2)
    note(world, "00001", status="sending")
    note(world, "00002", hold=a_hold("credits"))

    binding = shown(world)["binding"]

    assert (binding["cause"], binding["route"], binding["limit"]) == ("pace", "shared", 240)
    assert binding["until"] == shown(world)["finish_at"]


def test_a_used_up_day_binds_until_midnight(world: World) -> None:
    put_route(world.table, Route(name="shared", parts_per_day=50))
    plan(world, batches=1)
    midnight = "2026-09-03T04:00:00Z"
    note(world, "00001", hold=a_hold("route_day_cap", until=midnight, used=50, limit=50))

    assert shown(world)["binding"] == {
        "cause": "route_day_cap",
        "since": iso(NOON - timedelta(minutes=10)),
        "until": midnight,
        "route": "shared",
        "used": 50,
        "limit": 50,
    }


def test_a_pause_binds_since_it_was_accepted(world: World) -> None:
    plan(world, batches=1)
    pause_campaign(world.table, "renewals", "ana", NOON - timedelta(minutes=3))

    campaign = shown(world)

    assert (campaign["binding"]["cause"], campaign["binding"]["since"]) == ("paused", iso(NOON - timedelta(minutes=3)))
    assert (campaign["finish_at"], campaign["finish_reason"]["cause"]) == (None, "paused")


def test_a_start_in_the_future_is_what_is_waited_for(empty_world: World) -> None:
    world, later = empty_world, NOON + timedelta(hours=2)
    world.has(an_account(), Route(name="shared"), a_campaign(start_at=later))
    plan(world, batches=1)

    campaign = shown(world)

    assert (campaign["binding"]["cause"], campaign["binding"]["until"]) == ("start_at", iso(later))
    assert datetime.fromisoformat(campaign["finish_at"]) > later


@pytest.mark.parametrize("status", [CampaignStatus.FINISHED, CampaignStatus.CANCELLED])
def test_a_campaign_that_is_over_is_bound_by_nothing(world: World, status: CampaignStatus) -> None:
    plan(world, batches=1)
    world.becomes(status)

    campaign = shown(world)

    assert (campaign["binding"], campaign["finish_at"]) == (None, None)
    assert campaign["finish_reason"] == {"cause": status.value}


def test_a_campaign_without_a_plan_yet_says_so(world: World) -> None:
    assert shown(world)["finish_reason"] == {"cause": "not_planned"}


# -- who else is on the route ---------------------------------------------------------------------------------------


def two_on_the_route(world: World) -> None:
    """Let the campaign of another account send on the route, too."""
    world.has(an_account(account_id="other"), a_campaign(campaign_id="autumn", account_id="other"))
    plan(world, batches=2)
    plan(world, batches=2, campaign_id="autumn")
    pk, sk = keys.route_pace("shared")
    turns = {"turn#renewals": to_us(NOON), "turn#autumn": to_us(NOON)}
    world.table.put(Put({"pk": pk, "sk": sk, "next_free": to_us(NOON + timedelta(seconds=5)), **turns}))


def test_a_campaign_beside_takes_its_share(world: World) -> None:
    two_on_the_route(world)

    assert seconds_left(world) == 4 * PARTS


def test_a_paused_campaign_beside_takes_none(world: World) -> None:
    two_on_the_route(world)
    pause_campaign(world.table, "autumn", "ana", NOON)

    assert seconds_left(world) == 2 * PARTS


def test_a_plan_names_the_own_campaigns_ahead_and_counts_those_of_others(world: World) -> None:
    two_on_the_route(world)
    mine = a_campaign(campaign_id="winter", status=CampaignStatus.CREATED)
    made = plan(world, batches=1, campaign_id="winter")

    as_customer = describe_plan(outlook(world), mine, made, sees_all=False)
    as_operator = describe_plan(outlook(world), mine, made, sees_all=True)

    assert [one["campaign_id"] for one in as_customer["campaigns_ahead"]] == [None, "renewals"]
    assert [one["campaign_id"] for one in as_operator["campaigns_ahead"]] == ["autumn", "renewals"]
    assert [one["parts_left"] for one in as_customer["campaigns_ahead"]] == [80, 80]


def test_a_plan_that_cannot_be_kept_says_so(world: World) -> None:
    put_route(world.table, Route(name="shared", parts_per_day=50))
    campaign = a_campaign(status=CampaignStatus.CREATED, send_by=NOON + timedelta(hours=2), sending_window=ALWAYS)

    answer = describe_plan(outlook(world), campaign, plan(world, batches=3), sees_all=False)

    assert answer["finish_at"] is None
    assert answer["finish_reason"]["parts"] == 70
    assert answer["warnings"][-1].startswith("The campaign cannot finish before send_by: 70 parts")
    assert [span["cause"] for span in answer["binding_caps"]] == ["pace", "route_day_cap"]
    assert {cap["cap"]: cap["limit"] for cap in answer["caps"]} == {"parts_per_minute": 240, "parts_per_day": 50}


# -- what binds a route ---------------------------------------------------------------------------------------------


def hold_row(world: World, cause: str, campaign_id: str = "renewals", until: str = "") -> None:
    pk, sk = keys.hold("ROUTE#shared", campaign_id, "00001", "token")
    evidence = {"cause": cause, "since": iso(NOON - timedelta(minutes=10)), "until": until}
    world.table.put(Put({"pk": pk, "sk": sk, "token": "t", "campaign_id": campaign_id, **evidence}))


def bound(world: World, account_id: str | None = None) -> JsonObject:
    return show_route(outlook(world), "shared", account_id)


def test_a_free_route_is_bound_by_nothing(world: World) -> None:
    route = bound(world)

    assert (route["binding"], route["campaigns"], route["lost_to"]) == (None, [], {})


def test_a_disabled_route_says_since_when_and_whom_it_holds(world: World) -> None:
    put_route(world.table, Route(name="shared", is_enabled=False))
    hold_row(world, "route_disabled")

    route = bound(world)

    assert (route["binding"]["cause"], route["binding"]["since"]) == ("route_disabled", iso(NOON))
    assert route["campaigns"] == ["renewals"]


def test_a_route_whose_day_is_used_up_says_until_when(world: World) -> None:
    put_route(world.table, Route(name="shared", parts_per_day=50))
    pk, sk = keys.route_day("shared", NOON.date())
    world.table.put(Put({"pk": pk, "sk": sk, "used": 50}))
    hold_row(world, "route_day_cap", until="2026-09-03T04:00:00Z")

    assert bound(world)["binding"] == {
        "cause": "route_day_cap",
        "since": iso(NOON - timedelta(minutes=10)),
        "until": "2026-09-03T04:00:00.000000Z",
        "used": 50,
        "limit": 50,
    }


def test_a_hold_that_ended_by_time_holds_nobody_any_more(world: World) -> None:
    hold_row(world, "route_day_cap", until=iso(NOON - timedelta(minutes=1)))

    assert bound(world)["campaigns"] == []


def test_a_providers_pause_binds_the_route(world: World) -> None:
    until = slow_down(world.table, "shared", NOON, 60)

    binding = bound(world)["binding"]

    assert (binding["cause"], binding["until"]) == ("provider_throttled", iso(until))


def test_a_busy_route_is_bound_by_its_pace_and_names_nobody_elses_campaign(world: World) -> None:
    two_on_the_route(world)
    note(world, "00001", hold=a_hold("pace", 2))
    note(world, "00001", "autumn", hold=a_hold("pace", 4))

    own, every = bound(world, "acme"), bound(world)

    assert (own["binding"]["cause"], own["binding"]["limit"]) == ("pace", 240)
    assert (own["campaigns"], own["other_campaigns"], own["lost_to"]) == (["renewals"], 1, {"pace": 120.0})
    assert (every["campaigns"], every["other_campaigns"]) == (["autumn", "renewals"], 0)
    assert every["lost_to"] == {"pace": 240.0}
    assert "autumn" not in str(own)
