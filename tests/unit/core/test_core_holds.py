"""Holds: each ends at the end of its cause or by a signal, and no signal is lost between a refusal and its row."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta

import pytest

from paceline import keys
from paceline.holds import (
    account_scope,
    campaign_scope,
    register_hold,
    release_campaign,
    release_holds,
    route_scope,
    scope_of,
)
from paceline.models import Hold, Route, SendingWindow
from paceline.status import CampaignStatus, Cause
from paceline.table import Update
from tests.builders.core import NOON, World, a_campaign, an_account, buy_credits, leads_of, put_route

TODAY = date(2026, 9, 2)
MIDNIGHT = datetime.fromisoformat("2026-09-03T04:00:00Z")
SCOPE = account_scope("acme")


def register(world: World, hold: Hold, token: str = "token-1", batch_id: str = "00001") -> bool:  # noqa: S107 (no secret)
    """Register a hold as the function does. Return whether the batch still waits."""
    return register_hold(
        world.table,
        world.workflow,
        world.clock.now(),
        token=token,
        scope=scope_of(hold.cause, "acme", "shared", "renewals"),
        campaign_id="renewals",
        batch_id=batch_id,
        hold=hold,
    )


def waiting(world: World, scope: str = SCOPE) -> list[str]:
    return [row["token"] for row in world.table.query(f"HOLD#{scope}")]


def hold(cause: Cause, **evidence: object) -> Hold:
    return Hold.model_validate({"cause": cause, "since": NOON, **evidence})


def suspend(world: World, status: str = "suspended") -> None:
    world.table.update(Update(keys.account("acme"), "SET #operational_status = :s", {"s": status}))


def use_day(world: World, parts: int) -> None:
    world.table.update(Update(keys.route_day("shared", TODAY), "ADD #used :n", {"n": parts}))


def set_account_cap(world: World, cap: int) -> None:
    world.table.update(Update(keys.account("acme"), "SET #parts_per_day = :n", {"n": cap}))


# A cause, what makes it bind, and what ends it. The signal comes between the refusal and the hold's row.
CASES = [
    pytest.param(
        hold(Cause.PAUSED),
        lambda world: world.becomes(CampaignStatus.PAUSED),
        lambda world: world.becomes(CampaignStatus.RUNNING),
        id="paused, then resumed",
    ),
    pytest.param(
        hold(Cause.CREDITS, used=40, limit=1000),
        lambda world: None,
        lambda world: buy_credits(world.table, "acme", 1),
        id="credits, then bought",
    ),
    pytest.param(
        hold(Cause.ACCOUNT_NOT_ACTIVE),
        suspend,
        lambda world: suspend(world, "active"),
        id="suspended, then active",
    ),
    pytest.param(
        hold(Cause.ROUTE_DISABLED),
        lambda world: put_route(world.table, Route(name="shared", is_enabled=False)),
        lambda world: put_route(world.table, Route(name="shared")),
        id="route disabled, then enabled",
    ),
    pytest.param(
        hold(Cause.ROUTE_DAY_CAP, used=100, limit=100, until=MIDNIGHT),
        lambda world: (put_route(world.table, Route(name="shared", parts_per_day=100)), use_day(world, 100)),
        lambda world: put_route(world.table, Route(name="shared", parts_per_day=200)),
        id="route's day cap, then raised",
    ),
    pytest.param(
        hold(Cause.ROUTE_DAY_CAP, used=100, limit=100, until=MIDNIGHT),
        lambda world: (put_route(world.table, Route(name="shared", parts_per_day=100)), use_day(world, 100)),
        lambda world: put_route(world.table, Route(name="shared")),
        id="route's day cap, then none",
    ),
    pytest.param(
        hold(Cause.ROUTE_DAY_CAP, used=100, limit=100, until=MIDNIGHT),
        lambda world: (put_route(world.table, Route(name="shared", parts_per_day=100)), use_day(world, 100)),
        lambda world: use_day(world, -5),
        id="route's day cap, then use given back",
    ),
    pytest.param(
        hold(Cause.ACCOUNT_DAY_CAP, used=50, limit=50, until=MIDNIGHT),
        lambda world: set_account_cap(world, 50),
        lambda world: set_account_cap(world, 60),
        id="account's day cap, then raised",
    ),
    pytest.param(
        hold(Cause.SENDING_WINDOW, until=NOON + timedelta(minutes=1)),
        lambda world: None,
        lambda world: world.clock.passes(minutes=1),
        id="window, then open",
    ),
    pytest.param(
        hold(Cause.PAUSED),
        lambda world: world.becomes(CampaignStatus.PAUSED),
        lambda world: world.becomes(CampaignStatus.CANCELLED),
        id="paused, then cancelled",
    ),
    pytest.param(
        hold(Cause.CREDITS, used=40, limit=1000),
        lambda world: None,
        lambda world: world.becomes(CampaignStatus.CANCELLED),
        id="credits, then cancelled",
    ),
]


@pytest.mark.parametrize(("held", "begin", "end"), CASES)
def test_a_cause_that_still_binds_is_waited_for(
    world: World, held: Hold, begin: Callable[[World], object], end: Callable[[World], object]
) -> None:
    begin(world)

    assert register(world, held)

    assert world.workflow.resumed == []
    assert waiting(world, scope_of(held.cause, "acme", "shared", "renewals")) == ["token-1"]


@pytest.mark.parametrize(("held", "begin", "end"), CASES)
def test_a_signal_between_the_refusal_and_the_holds_row_is_not_lost(
    world: World, held: Hold, begin: Callable[[World], object], end: Callable[[World], object]
) -> None:
    begin(world)
    end(world)

    assert not register(world, held)

    assert world.workflow.resumed == ["token-1"]
    assert waiting(world, scope_of(held.cause, "acme", "shared", "renewals")) == []


def test_the_row_is_written_before_it_looks_again(world: World) -> None:
    """A signal that comes after the look finds the row; one before it is seen by the look."""
    world.becomes(CampaignStatus.PAUSED)
    world.calls.clear()

    register(world, hold(Cause.PAUSED))

    assert next(call.operation for call in world.calls) == "PutItem"


# -- signals -------------------------------------------------------------------------------------------------------


def test_a_signal_releases_every_batch_of_its_scope_and_no_other(world: World) -> None:
    world.becomes(CampaignStatus.PAUSED)
    register(world, hold(Cause.CREDITS, used=1, limit=1000), "credits-1", "00001")
    register(world, hold(Cause.CREDITS, used=1, limit=1000), "credits-2", "00002")
    register(world, hold(Cause.PAUSED), "paused", "00003")

    released = release_holds(world.table, world.workflow, SCOPE)

    assert released == 2
    assert world.workflow.resumed == ["credits-1", "credits-2"]
    assert waiting(world) == []
    assert waiting(world, campaign_scope("renewals")) == ["paused"]


def test_a_second_signal_releases_nobody_again(world: World) -> None:
    register(world, hold(Cause.CREDITS, used=1, limit=1000))

    release_holds(world.table, world.workflow, SCOPE)

    assert release_holds(world.table, world.workflow, SCOPE) == 0
    assert world.workflow.resumed == ["token-1"]


def test_a_signal_for_a_campaign_releases_its_batches_whatever_they_wait_for(world: World) -> None:
    world.has(a_campaign(campaign_id="another"))
    world.becomes(CampaignStatus.PAUSED)
    put_route(world.table, Route(name="shared", is_enabled=False))
    register(world, hold(Cause.CREDITS, used=1, limit=1000), "credits", "00001")
    register(world, hold(Cause.PAUSED), "paused", "00002")
    register(world, hold(Cause.ROUTE_DISABLED), "route", "00003")
    other = hold(Cause.CREDITS, used=1, limit=1000)
    register_hold(
        world.table,
        world.workflow,
        NOON,
        token="other",  # noqa: S106 (a task token of the test)
        scope=SCOPE,
        campaign_id="another",
        batch_id="00001",
        hold=other,
    )

    released = release_campaign(world.table, world.workflow, "renewals", "acme", ["shared"])

    assert released == 3
    assert set(world.workflow.resumed) == {"credits", "paused", "route"}
    assert waiting(world) == ["other"]


def test_a_release_tolerates_a_task_that_is_over(world: World) -> None:
    register(world, hold(Cause.CREDITS, used=1, limit=1000))
    world.workflow.over.add("token-1")  # its timeout was first

    assert release_holds(world.table, world.workflow, SCOPE) == 1

    assert waiting(world) == []


def test_a_batch_that_waits_again_at_once_keeps_its_new_hold(world: World) -> None:
    """A release wakes the batch before it removes the row; the batch may be refused and hold again in between."""
    held = hold(Cause.CREDITS, used=40, limit=1000)
    register(world, held)
    world.workflow.on_resume = lambda token: register(world, held, "token-2") if token == "token-1" else None  # noqa: S105 (no secret)

    release_holds(world.table, world.workflow, SCOPE)

    assert waiting(world) == ["token-2"]
    release_holds(world.table, world.workflow, SCOPE)
    assert world.workflow.resumed == ["token-1", "token-2"]


def test_a_hold_registered_again_by_a_retry_is_one_hold(world: World) -> None:
    for _ in range(2):
        register(world, hold(Cause.CREDITS, used=1, limit=1000))

    assert release_holds(world.table, world.workflow, SCOPE) == 1


@pytest.mark.parametrize(
    ("cause", "scope"),
    [
        *[(cause, account_scope("acme")) for cause in ("credits", "account_not_active", "account_day_cap")],
        *[(cause, route_scope("shared")) for cause in ("route_day_cap", "route_disabled")],
        *[(cause, campaign_scope("renewals")) for cause in ("paused", "sending_window")],
    ],
)
def test_a_hold_is_written_where_the_change_that_ends_it_looks(cause: str, scope: str) -> None:
    assert scope_of(Cause(cause), "acme", "shared", "renewals") == scope


def test_every_hold_that_admission_gives_is_still_binding_when_it_is_registered(empty_world: World) -> None:
    """What refuses and what looks again must agree, or a batch would spin between them."""
    world = empty_world
    window = SendingWindow.model_validate({"opens": "08:00", "closes": "12:00"})
    world.has(an_account(available=0), Route(name="shared"), a_campaign())
    world.has(a_campaign(campaign_id="closed-window", sending_window=window))

    for number, campaign_id in enumerate(("renewals", "closed-window")):
        batch = world.has_batch(leads_of(5), batch_id=f"{number:05}", campaign_id=campaign_id)
        admission = world.admit(batch)
        assert admission.hold is not None
        assert register_hold(
            world.table,
            world.workflow,
            world.clock.now(),
            token=campaign_id,
            scope=scope_of(admission.hold.cause, "acme", "shared", campaign_id),
            campaign_id=campaign_id,
            batch_id=batch.batch_id,
            hold=admission.hold,
        )


def test_a_try_whose_caller_let_it_go_does_not_write_over_the_try_that_waits(world: World) -> None:
    world.becomes(CampaignStatus.PAUSED)
    for token in ("token-2", "token-1"):  # the first try's comes last, and is dead
        register(world, hold(Cause.PAUSED), token)

    scope = scope_of(Cause.PAUSED, "acme", "shared", "renewals")
    released = release_holds(world.table, world.workflow, scope)

    assert released == 1
    assert set(world.workflow.resumed) == {"token-1", "token-2"}
    assert waiting(world, scope) == []
