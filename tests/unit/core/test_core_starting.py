"""A start and its dry run: what an account says beside the campaign counts in both, and in the row that sends read."""

from __future__ import annotations

import json
from datetime import time
from typing import Any

import pytest

from paceline.campaigns import get_campaign
from paceline.carriers import import_carriers
from paceline.dry_runs import dry_run
from paceline.errors import RequestInvalid
from paceline.models import Plan, Route, SendingWindow
from paceline.moments import iso
from paceline.opt_outs import import_opt_outs
from paceline.starting import plan_started_campaign, start_campaign
from paceline.status import CampaignStatus
from tests.builders.core import NOON, World, a_campaign, an_account

LAWFUL, EVENING = SendingWindow(), SendingWindow(opens=time(17), closes=time(22))


def given(world: World, content: str, account: dict[str, Any], **campaign: Any) -> World:
    world.has(an_account(**account), Route(name="shared"), Route(name="verizon", carriers=("Verizon",)))
    world.has(a_campaign(status=CampaignStatus.CREATED, **campaign))
    world.store.put("uploads/acme/renewals/leads.csv", content.encode())
    return world


def dry(world: World) -> Plan:
    return dry_run(world.table, world.store, get_campaign(world.table, "renewals"), "dry-runs/").plan


def started(world: World) -> list[dict[str, Any]]:
    """Start the campaign, plan it, and return its streams."""
    start_campaign(world.table, world.workflow, get_campaign(world.table, "renewals"), NOON, 400)
    planned = plan_started_campaign(world.table, world.store, "renewals", NOON)
    streams: list[dict[str, Any]] = json.loads(world.store.get(planned.streams_manifest_key))
    return streams


def test_an_accounts_window_narrows_the_campaigns_in_the_row_that_every_send_reads(empty_world: World) -> None:
    world = given(empty_world, "phone\n2025550101\n", {"sending_window": LAWFUL}, sending_window=EVENING)

    started(world)

    narrowed = SendingWindow(opens=time(17), closes=time(21))
    assert get_campaign(world.table, "renewals").sending_window == narrowed


def test_a_start_that_is_repeated_narrows_no_further(empty_world: World) -> None:
    world = given(empty_world, "phone\n2025550101\n", {"sending_window": LAWFUL}, sending_window=EVENING)

    first, again = started(world), started(world)

    assert first == again
    assert get_campaign(world.table, "renewals").sending_window == SendingWindow(opens=time(17), closes=time(21))


def test_windows_that_share_no_hour_refuse_the_start_and_change_nothing(empty_world: World) -> None:
    night = SendingWindow(opens=time(22), closes=time(2))
    world = given(empty_world, "phone\n2025550101\n", {"sending_window": LAWFUL}, sending_window=night)

    with pytest.raises(RequestInvalid, match="22:00 to 02:00 and 08:00 to 21:00"):
        started(world)

    assert get_campaign(world.table, "renewals").status is CampaignStatus.CREATED
    assert world.workflow.started == []


def test_an_account_without_a_window_leaves_the_campaigns(empty_world: World) -> None:
    world = given(empty_world, "phone\n2025550101\n", {}, sending_window=EVENING)

    started(world)

    assert get_campaign(world.table, "renewals").sending_window == EVENING


def test_the_dry_run_and_the_start_route_by_the_accounts_rules_and_its_imported_carriers(empty_world: World) -> None:
    content = "phone,carrier\n2025550101,Sprint\n2025550102,\n2025550103,\n"
    world = given(empty_world, content, {"routing": {"carriers": {"Sprint": "verizon"}}})
    import_carriers(world.table, "acme", [(2, "2025550102", "Verizon")], NOON, 400)

    told, done = dry(world), started(world)

    assert {stream.route: stream.leads for stream in told.streams} == {"verizon": 2, "shared": 1}
    assert {stream["route"]: stream["leads"] for stream in done} == {"verizon": 2, "shared": 1}


def test_imported_opt_outs_are_left_out_of_the_plan(empty_world: World) -> None:
    world = given(empty_world, "phone\n(202) 555-0101\n2025550102\n", {})
    import_opt_outs(world.table, "acme", [(2, "202-555-0101")], iso(NOON))

    assert dry(world).leads.opted_out == 1
    assert sum(stream["leads"] for stream in started(world)) == 1
