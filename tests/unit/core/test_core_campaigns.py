"""Campaigns: started once, planned once, and moved only where their status allows it."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from paceline import keys
from paceline.batches import read_leads
from paceline.campaigns import (
    create_campaign,
    get_campaign,
    get_own_campaign,
    get_plan,
    keep_plan,
    pause_campaign,
    resume_campaign,
    set_status,
)
from paceline.dry_runs import dry_run
from paceline.errors import CampaignNotFound, RequestInvalid
from paceline.models import Batch, LeadCounts, Pause, Plan, Route
from paceline.moments import iso
from paceline.opt_outs import opt_out
from paceline.revising import begin_report
from paceline.starting import DEFAULT_SENDING_DAYS, plan_started_campaign, start_campaign
from paceline.status import CampaignStatus
from tests.builders.core import NOON, World, a_campaign, an_account
from tests.fakes.stores import MemoryStore
from tests.fakes.tables import Killed, meddled

C = CampaignStatus
CREATED = a_campaign(status=C.CREATED)
LEADS = b"phone\n+12025550101\n+12025550102\n"


@pytest.fixture
def created(empty_world: World) -> World:
    empty_world.has(an_account(), Route(name="shared"), CREATED)
    empty_world.store.put(CREATED.leads_key, LEADS)
    return empty_world


def start(world: World) -> None:
    start_campaign(world.table, world.workflow, get_campaign(world.table, "renewals"), world.clock.now(), 400)


def test_a_campaign_starts_one_workflow_however_often_it_is_started(created: World) -> None:
    start(created)
    created.clock.passes(minutes=5)
    start(created)

    campaign = get_campaign(created.table, "renewals")
    assert created.workflow.started == ["renewals"]
    assert campaign.status is C.RUNNING
    assert campaign.execution_arn is not None
    assert (campaign.start_at, campaign.send_by) == (NOON, NOON + timedelta(days=DEFAULT_SENDING_DAYS))


def test_a_start_killed_before_its_workflow_ran_can_be_repeated(created: World) -> None:
    def die(campaign_id: str) -> str:
        raise Killed

    real, created.workflow.start = created.workflow.start, die  # type: ignore[method-assign]
    with pytest.raises(Killed):
        start(created)
    created.workflow.start = real  # type: ignore[method-assign]

    start(created)

    assert created.workflow.started == ["renewals"]
    assert get_campaign(created.table, "renewals").execution_arn


def test_a_planned_start_and_end_are_kept(empty_world: World) -> None:
    world = empty_world
    later, end = NOON + timedelta(hours=1), NOON + timedelta(hours=2)
    world.has(an_account(), a_campaign(status=C.CREATED, start_at=later, send_by=end))

    start(world)

    campaign = get_campaign(world.table, "renewals")
    assert (campaign.start_at, campaign.send_by) == (later, end)


@pytest.mark.parametrize("meanwhile", [C.PAUSED, C.CANCELLED])
def test_a_start_that_was_killed_can_be_repeated_whatever_came_meanwhile(
    created: World, meanwhile: CampaignStatus
) -> None:
    """Its workflow ends a cancelled one with a report that says so."""
    created.becomes(C.RUNNING)  # and no workflow
    created.becomes(meanwhile)

    start(created)

    assert created.workflow.started == ["renewals"]
    assert get_campaign(created.table, "renewals").status is meanwhile


def test_a_campaign_that_was_started_and_cancelled_is_not_started_again(created: World) -> None:
    start(created)
    created.becomes(C.CANCELLED)

    with pytest.raises(RequestInvalid):
        start(created)


@pytest.mark.parametrize("status", [C.FINISHED, C.FAILED])
def test_a_campaign_that_is_past_its_start_is_not_started_again(created: World, status: CampaignStatus) -> None:
    created.becomes(status)

    with pytest.raises(RequestInvalid):
        start(created)
    assert created.workflow.started == []


def test_planning_again_gives_the_first_plan_whatever_changed_meanwhile(created: World) -> None:
    first = plan_started_campaign(created.table, created.store, "renewals", NOON)
    created.store.put(CREATED.leads_key, LEADS + b"+12025550103\n")

    again = plan_started_campaign(created.table, created.store, "renewals", NOON)

    assert again == first
    assert again.accepted == 2


def test_a_planner_whose_answer_was_lost_writes_nothing_into_the_plan_that_was_kept(created: World) -> None:
    """It read who opted out before the other did, and writes its batches after it."""

    class SlowStore(MemoryStore):
        def put(self, *arguments: Any) -> None:
            if get_plan(created.table, "renewals") is None:  # it has read the opt-outs, and written nothing yet
                opt_out(created.table, "acme", "+12025550101", iso(NOON), "api")
                plan_started_campaign(created.table, created.store, "renewals", NOON + timedelta(seconds=9))
            super().put(*arguments)

    slow = SlowStore()
    slow.objects = created.store.objects

    answer = plan_started_campaign(created.table, slow, "renewals", NOON)

    plan = get_plan(created.table, "renewals")
    assert plan is not None
    assert (answer.accepted, plan.leads.accepted) == (1, 1)
    [batch] = [Batch.model_validate(one) for one in json.loads(created.store.get(plan.batches_manifest_key))]
    assert [lead.phone_number for lead in read_leads(created.store, batch)] == ["+12025550102"]


def test_of_two_plans_the_first_is_kept(created: World) -> None:
    first, second = (
        Plan(leads=LeadCounts.model_validate({"in": count, "accepted": count}), parts=count) for count in (1, 2)
    )

    assert keep_plan(created.table, "renewals", first) == first
    assert keep_plan(created.table, "renewals", second) == first
    assert get_plan(created.table, "renewals") == first


def test_a_dry_run_keeps_nothing_but_who_is_excluded_and_that_in_its_own_place(created: World) -> None:
    before = list(created.store.puts)

    plan = dry_run(created.table, created.store, CREATED, "dry-runs/one/").plan

    assert plan.leads.accepted == 2
    assert created.store.puts == [*before, "dry-runs/one/rejects.csv"]
    assert get_plan(created.table, "renewals") is None


@pytest.mark.parametrize("end", [C.CANCELLED, C.FINISHED, C.FAILED])
def test_a_campaign_that_is_over_stays_over(created: World, end: CampaignStatus) -> None:
    created.becomes(end)

    with pytest.raises(RequestInvalid) as raised:
        set_status(created.table, "renewals", C.RUNNING, {C.PAUSED})
    assert raised.value.evidence == {"campaign_status": end.value}


def test_the_same_change_again_changes_nothing(created: World) -> None:
    created.becomes(C.PAUSED)

    assert set_status(created.table, "renewals", C.PAUSED, {C.RUNNING}).status is C.PAUSED


def test_each_pause_keeps_who_paused_and_who_resumed_and_when(world: World) -> None:
    later = [NOON + timedelta(minutes=minute) for minute in range(4)]
    pause_campaign(world.table, "renewals", "ana", later[0])
    resume_campaign(world.table, "renewals", "ben", later[1])
    pause_campaign(world.table, "renewals", "ben", later[2])

    paused = get_campaign(world.table, "renewals")

    assert paused.status is C.PAUSED
    assert paused.pauses == (
        Pause(paused_at=later[0], paused_by="ana", resumed_at=later[1], resumed_by="ben"),
        Pause(paused_at=later[2], paused_by="ben"),
    )


def test_pausing_twice_is_one_pause_and_resuming_twice_one_resume(world: World) -> None:
    pause_campaign(world.table, "renewals", "ana", NOON)
    pause_campaign(world.table, "renewals", "ben", NOON + timedelta(minutes=1))
    resume_campaign(world.table, "renewals", "ana", NOON + timedelta(minutes=2))
    again = resume_campaign(world.table, "renewals", "ben", NOON + timedelta(minutes=3))

    [pause] = again.pauses
    assert (pause.paused_by, pause.paused_at) == ("ana", NOON)
    assert (pause.resumed_by, pause.resumed_at) == ("ana", NOON + timedelta(minutes=2))


def test_of_two_resumes_at_once_one_is_noted(world: World) -> None:
    pause_campaign(world.table, "renewals", "ana", NOON)
    table = meddled(world.table, "update", lambda: resume_campaign(world.table, "renewals", "ben", NOON))

    resumed = resume_campaign(table, "renewals", "ana", NOON + timedelta(seconds=1))

    assert resumed.status is C.RUNNING
    assert [pause.resumed_by for pause in resumed.pauses] == ["ben"]


@pytest.mark.parametrize("end", [C.CREATED, C.CANCELLED, C.FINISHED])
def test_what_does_not_run_is_not_paused(created: World, end: CampaignStatus) -> None:
    created.becomes(end)

    with pytest.raises(RequestInvalid):
        pause_campaign(created.table, "renewals", "ana", NOON)
    assert get_campaign(created.table, "renewals").pauses == ()


def test_a_campaign_id_is_taken_once(created: World) -> None:
    with pytest.raises(RequestInvalid):
        create_campaign(created.table, CREATED)


def test_a_campaign_of_another_account_is_not_found(created: World) -> None:
    with pytest.raises(CampaignNotFound):
        get_own_campaign(created.table, "another", "renewals")


def test_a_campaign_that_does_not_exist_is_not_found(created: World) -> None:
    with pytest.raises(CampaignNotFound):
        set_status(created.table, "nobody", C.PAUSED, {C.RUNNING})


def test_a_report_that_begins_for_no_campaign_makes_none(world: World) -> None:
    begin_report(world.table, "no-such-campaign", 1)

    assert world.table.get(keys.campaign("no-such-campaign")) is None
