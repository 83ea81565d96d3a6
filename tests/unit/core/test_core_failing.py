"""A sender that always fails: what counts as a failure, how long a batch waits, when it gives up."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta

import pytest

from paceline import keys
from paceline.admission import Admission, Decision
from paceline.batches import Ledger
from paceline.campaigns import pause_campaign, resume_campaign
from paceline.errors import ProviderThrottled
from paceline.failing import LONGEST_WAIT, MOST_FAILURES, asks_again_at, failures, probe, verdict
from paceline.models import Batch, SendingWindow
from paceline.moments import iso, to_us
from paceline.routes import Signals
from paceline.table import Row
from tests.builders.core import NOON, World, a_campaign, leads_of


@pytest.fixture
def batch(world: World) -> Batch:
    return world.has_batch(leads_of(5))


def lease(*words: str) -> Row:
    """A closed round's lease: what its closing noted."""
    return {"closed_at": iso(NOON), **{word: True for word in words}}


def a_round_in_which_every_sender_fails(world: World, batch: Batch, round_no: int = 1) -> Admission:
    """Admit, let no message leave, close. Return the admission."""
    admission = world.admit_in_time(batch, round_no)
    if admission.decision is Decision.SEND:
        world.close(batch, round_no)
    return admission


@pytest.mark.parametrize(
    ("leases", "expected"),
    [
        pytest.param([], 0, id="no round yet"),
        pytest.param([lease("failed"), lease("failed")], 2, id="both failed"),
        pytest.param([lease("failed"), lease()], 0, id="the last one sent something"),
        pytest.param([lease(), lease("failed")], 1, id="the one before sent something"),
        pytest.param([lease("failed"), lease("excused")], 1, id="an excused one counts for nothing"),
        pytest.param([lease("failed"), {}], 1, id="one that is open says nothing yet"),
    ],
)
def test_failures_are_counted_from_the_last_round_that_sent_something(leases: list[Row], expected: int) -> None:
    assert failures(dict(enumerate(leases, start=1)))[0] == expected


def test_the_waits_grow_to_the_longest_and_come_to_about_two_hours() -> None:
    waits = [asks_again_at(count, NOON) - NOON for count in range(1, MOST_FAILURES)]

    assert waits[:3] == [timedelta(seconds=5), timedelta(seconds=10), timedelta(seconds=20)]
    assert waits == sorted(waits)
    assert waits[-1] == LONGEST_WAIT
    assert timedelta(hours=1.5) < sum(waits, timedelta()) < timedelta(hours=3)


def test_after_a_failure_one_lead_is_tried_and_another_each_time() -> None:
    leads = leads_of(3)

    assert probe(leads, 0) == leads
    assert [probe(leads, count)[0].lead_no for count in (1, 2, 3)] == [2, 3, 1]


def test_a_batch_whose_sender_always_fails_ends_after_some_rounds_with_every_lead_skipped(
    world: World, batch: Batch
) -> None:
    rounds = 0
    while a_round_in_which_every_sender_fails(world, batch, rounds + 1).decision is Decision.SEND:
        rounds += 1

    messages = [world.message(lead_no) for lead_no in range(1, 6)]
    assert rounds == MOST_FAILURES
    assert {message.cause for message in messages if message} == {"sender_failed"}
    assert None not in messages
    assert timedelta(hours=1) < world.clock.moment - NOON < timedelta(hours=4)
    assert world.credits_are_conserved()


def test_while_it_waits_the_batch_says_that_its_sender_failed_and_until_when(world: World, batch: Batch) -> None:
    a_round_in_which_every_sender_fails(world, batch)

    admission = world.admit(batch, 2)

    summary = world.table.get(keys.batch("renewals", batch.batch_id)) or {}
    assert admission.decision is Decision.WAIT
    assert summary["hold"]["cause"] == "sender_failed"
    assert datetime.fromisoformat(summary["hold"]["until"]) == datetime.fromisoformat(admission.wait_until or "")


def test_once_the_sender_works_again_the_whole_rest_goes(world: World, batch: Batch) -> None:
    a_round_in_which_every_sender_fails(world, batch)
    tried = world.admit_in_time(batch, 2)
    world.send_all(batch, tried)
    world.close(batch, 2)

    rest = world.admit_in_time(batch, 3)

    assert len(tried.items) == 1
    assert len(rest.items) == 4


def closed_lease(world: World, batch: Batch) -> Row:
    world.close(batch)
    return world.table.get(keys.lease("renewals", batch.batch_id, 1)) or {}


def test_a_round_that_a_429_ended_is_no_failure(world: World, batch: Batch) -> None:
    admission = world.admit(batch)
    world.provider.throttles = [5.0]
    with suppress(ProviderThrottled):
        world.send(batch, 1, slot=datetime.fromisoformat(admission.items[0].slot))

    closed = closed_lease(world, batch)

    assert closed["excused"] == "provider_throttled"
    assert "failed" not in closed


def test_a_round_that_a_pause_ended_is_no_failure_even_when_it_is_resumed_by_then(world: World, batch: Batch) -> None:
    world.admit(batch)
    pause_campaign(world.table, "renewals", "k1", NOON + timedelta(seconds=1))
    resume_campaign(world.table, "renewals", "k1", NOON + timedelta(seconds=2))

    assert closed_lease(world, batch)["excused"] == "paused"


def test_a_round_whose_window_closed_is_no_failure(batch: Batch) -> None:
    campaign = a_campaign(sending_window=SendingWindow())
    late, evening = NOON + timedelta(hours=8, minutes=59), NOON + timedelta(hours=9, minutes=1)
    given = {"round": 1, "given_at": iso(late)}

    judged = verdict(given, Ledger({}, {}), campaign, batch, Signals(0, 0, 0), evening)

    assert judged == {"excused": "sending_window"}


def test_a_round_whose_cap_was_lowered_meanwhile_is_no_failure(batch: Batch) -> None:
    lowered = Signals(0, to_us(NOON) + 1, 0)

    judged = verdict({"round": 1, "given_at": iso(NOON)}, Ledger({}, {}), a_campaign(), batch, lowered, NOON)

    assert judged == {"excused": "pace"}


def test_a_round_in_which_nothing_went_for_no_other_reason_failed(world: World, batch: Batch) -> None:
    world.admit(batch)

    assert closed_lease(world, batch)["failed"] is True
