"""Closing a round: exactly what its lease did not use is given back, once, to where it was taken from."""

from __future__ import annotations

from contextlib import suppress
from datetime import date, datetime, timedelta
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paceline import keys
from paceline.admission import NOT_CLOSED
from paceline.batches import batch_summaries, summarize
from paceline.closing import close_round
from paceline.errors import ProviderThrottled, RateLimited, TransactionConflict
from paceline.looks import OpenBatch
from paceline.models import Batch, Charging, Hold, Route
from paceline.moments import iso
from paceline.opt_outs import opt_out
from paceline.receipts import Receipt, apply_receipt
from paceline.settlement import settle
from paceline.status import CampaignStatus, Cause, MessageStatus
from paceline.table import Update
from sandbox.dynamodb import Latency
from tests.builders.core import NOON, World, a_campaign, a_world, an_account, leads_of, phone_number
from tests.fakes.tables import Killed, WatchedTable, killed_after_write, killed_before_write, meddled

TODAY = date(2026, 9, 2)
ROUTE_DAY, ACCOUNT_DAY = keys.route_day("shared", TODAY), keys.account_day("acme", TODAY)


def half_sent(world: World, leads: int = 10) -> Batch:
    """Admit a batch and send half of its leads."""
    batch = world.has_batch(leads_of(leads))
    admission = world.admit(batch)
    for item in admission.items[: leads // 2]:
        world.send(batch, item.lead_no, slot=world.clock.now())
    return batch


def balance(world: World) -> tuple[int, int, int]:
    account = world.account()
    return account.available, account.reserved, world.used(ROUTE_DAY)


def test_what_was_not_sent_is_given_back_to_the_account_and_the_day(world: World) -> None:
    batch = half_sent(world)
    assert balance(world) == (990, 10, 10)

    closed = world.close(batch)

    assert balance(world) == (995, 5, 5)
    assert (closed.left, closed.next_round) == (5, 2)
    assert world.credits_are_conserved()


def test_a_round_that_used_everything_gives_nothing_back(world: World) -> None:
    batch = world.has_batch(leads_of(3))
    world.send_all(batch, world.admit(batch))

    closed = world.close(batch)

    assert balance(world) == (997, 3, 3)
    assert closed.left == 0


def test_a_round_that_the_providers_429_ended_says_so(world: World) -> None:
    batch = world.has_batch(leads_of(2))
    admission = world.admit(batch)
    world.provider.throttles = [5.0]
    with suppress(ProviderThrottled):
        world.send(batch, 1, slot=datetime.fromisoformat(admission.items[0].slot))

    world.close(batch)

    lease = world.table.get(keys.lease("renewals", batch.batch_id, 1)) or {}
    assert lease["excused"] == "provider_throttled"


def test_closing_twice_gives_back_once(world: World) -> None:
    batch = half_sent(world)

    first, second = world.close(batch), world.close(batch)

    assert first == second
    assert balance(world) == (995, 5, 5)


def test_two_closings_at_once_give_back_once() -> None:
    with a_world(Latency(prepare=lambda: 0.010, commit=lambda: 0.010)) as world:
        world.has(an_account(), Route(name="shared"), a_campaign())
        batch = half_sent(world)

        answers = world.together(lambda: world.close(batch), lambda: world.close(batch), apart_seconds=0.005)
        world.close(batch)  # the workflow's retry of the one that met a conflict

        assert any(isinstance(answer, TransactionConflict) for answer in answers)
        assert balance(world) == (995, 5, 5)


def test_of_two_closings_the_second_finds_it_closed(world: World) -> None:
    batch = half_sent(world)

    table = meddled(world.table, "transact", lambda: world.close(batch))
    close_round(table, world.workflow, batch, 1, NOON)

    assert balance(world) == (995, 5, 5)


@pytest.mark.parametrize("killed", [killed_before_write, killed_after_write])
@pytest.mark.parametrize("write", [1, 2])
def test_a_closing_killed_at_any_write_ends_the_same(world: World, killed: object, write: int) -> None:
    batch = half_sent(world)
    with suppress(Killed):
        close_round(killed(world.table, write), world.workflow, batch, 1, NOON)  # type: ignore[operator]

    closed = world.close(batch)

    assert balance(world) == (995, 5, 5)
    assert closed.left == 5


def test_a_closing_killed_before_its_signal_signals_when_it_is_repeated(world: World) -> None:
    """Else a batch that waits for credits would wait on, with credits there."""
    batch = half_sent(world)
    world.has_waiting("00002", Cause.CREDITS)
    with suppress(Killed):
        close_round(killed_after_write(world.table, 2), world.workflow, batch, 1, NOON)
    assert (balance(world), world.workflow.resumed) == ((995, 5, 5), [])

    world.close(batch)

    assert world.workflow.resumed == ["token-00002"]


def test_a_skipped_lead_uses_none_of_the_lease(world: World) -> None:
    batch = world.has_batch(leads_of(4))
    admission = world.admit(batch)
    opt_out(world.table, "acme", phone_number(2), iso(NOON))
    world.send_all(batch, admission)

    closed = world.close(batch)

    assert balance(world) == (997, 3, 3)
    assert closed.left == 0


@pytest.mark.parametrize("misbehaviour", ["is_silent", "refuses"])
def test_a_message_in_doubt_or_refused_keeps_its_credits_until_it_is_settled(world: World, misbehaviour: str) -> None:
    setattr(world.provider, misbehaviour, "not_a_mobile")
    batch = world.has_batch(leads_of(4))
    world.send_all(batch, world.admit(batch))

    world.close(batch)

    assert balance(world) == (996, 4, 4)


def test_a_partial_grant_counts_the_leads_it_did_not_cover_as_left(empty_world: World) -> None:
    world = empty_world
    world.has(an_account(available=13), Route(name="shared"), a_campaign())
    batch = world.has_batch(leads_of(40))
    world.send_all(batch, world.admit(batch))

    closed = world.close(batch)

    assert (closed.left, closed.next_round) == (27, 2)
    assert balance(world) == (0, 13, 13)


def test_the_accounts_day_gets_back_what_it_gave(empty_world: World) -> None:
    world = empty_world
    world.has(an_account(parts_per_day=100), Route(name="shared"), a_campaign())
    batch = half_sent(world)

    world.close(batch)

    assert world.used(ACCOUNT_DAY) == 5


def test_an_account_without_a_day_cap_has_no_day_row_to_give_back_to(world: World) -> None:
    batch = half_sent(world)
    world.table.update(Update(keys.account("acme"), "SET #parts_per_day = :n", {"n": 100}))  # set in mid-round

    world.close(batch)

    assert world.table.get(ACCOUNT_DAY) is None


def test_it_is_given_back_to_the_day_that_gave_it(world: World) -> None:
    batch = half_sent(world)
    world.clock.moment = datetime.fromisoformat("2026-09-03T12:00:00Z")

    world.close(batch)

    assert world.used(ROUTE_DAY) == 5
    assert world.used(keys.route_day("shared", date(2026, 9, 3))) == 0


def test_a_batch_without_a_lease_closes_with_nothing_to_give_back(world: World) -> None:
    batch = world.has_batch(leads_of(3))

    closed = world.close(batch)

    assert (closed.left, closed.next_round) == (3, 2)
    assert balance(world) == (1000, 0, 0)


def test_the_summary_counts_over_all_rounds(world: World) -> None:
    batch = half_sent(world)
    world.close(batch)
    world.send_all(batch, world.admit(batch, 2))

    world.close(batch, 2)

    summary = world.table.get(keys.batch("renewals", "00001"))
    assert summary is not None
    chosen = {name: summary[name] for name in ("reserved", "released", "left", "round", "messages", "status")}
    assert chosen == {
        "reserved": 15,  # 10, and the 5 that came back
        "released": 5,
        "left": 0,
        "round": 2,
        "messages": {"sent": 10},
        "status": "sent",
    }


@settings(max_examples=40)
@given(
    parts=st.lists(st.integers(1, 3), min_size=1, max_size=10),
    fates=st.lists(st.sampled_from(["sent", "silent", "throttled", "refused", "stopped", "missed"]), min_size=40),
    credits=st.integers(3, 20),
)
def test_whatever_becomes_of_its_messages_a_batch_holds_exactly_their_credits(
    parts: list[int], fates: list[str], credits: int
) -> None:
    with a_world() as world:
        world.has(an_account(available=credits), Route(name="shared"), a_campaign())
        batch, round_no, fate = world.has_batch(leads_of(parts)), 1, iter(fates)

        for _ in range(3):
            admission = world.admit(batch, round_no)
            for item in admission.items:
                meet(world, batch, admission.round, item.lead_no, next(fate, "sent"))
            round_no = world.close(batch, round_no).next_round

            messages = [m for n in range(1, len(parts) + 1) if (m := world.message(n))]
            held = sum(m.parts for m in messages if m.status is not MessageStatus.SKIPPED)
            assert world.account().reserved == world.used(ROUTE_DAY) == held
            assert world.credits_are_conserved()


def meet(world: World, batch: Batch, round_no: int, lead_no: int, fate: str) -> None:
    """Send a message to its fate."""
    world.provider.throttles = [1.0] if fate == "throttled" else []
    world.provider.is_silent = fate == "silent"
    world.provider.refuses = "not_a_mobile" if fate == "refused" else ""
    if fate == "stopped":
        opt_out(world.table, "acme", phone_number(lead_no), iso(NOON))
    if fate != "missed":
        with suppress(ProviderThrottled, RateLimited):  # the second: in the pause that another's 429 asked for
            world.send(batch, lead_no, round_no)


# -- a sender whose caller let it go -------------------------------------------------------------------------------


def test_a_round_that_is_closed_sends_nothing_any_more(world: World) -> None:
    batch = world.has_batch(leads_of(1))
    admission = world.admit(batch)
    world.close(batch)

    with pytest.raises(RateLimited):
        world.send_all(batch, admission)

    assert world.provider.sends == 0
    assert world.message() is None
    assert (world.account().available, world.account().reserved) == (1000, 0)


@pytest.mark.parametrize("moment", range(1, 6))
def test_a_round_that_is_closed_while_a_sender_lives_on_counts_every_credit_once(world: World, moment: int) -> None:
    batch = world.has_batch(leads_of(2))
    admission = world.admit(batch)
    world.send(batch, 2, slot=datetime.fromisoformat(admission.items[1].slot))
    calls = count(1)

    def closes(method: str, first: object) -> None:
        if next(calls) == moment:
            world.close(batch)

    with suppress(RateLimited):
        slot = datetime.fromisoformat(admission.items[0].slot)
        world.sender(WatchedTable(world.table, after=closes)).send(batch, 1, 1, slot, slot)
    second = world.admit_in_time(batch, 2)
    world.send_all(batch, second)
    world.close(batch, 2)
    everything_is_settled(world, batch)

    account = world.account()
    assert world.provider.texts_to(phone_number(1)) == 1
    assert (account.available, account.reserved, account.consumed) == (998, 0, 2)


def everything_is_settled(world: World, batch: Batch) -> None:
    for lead_no in (1, 2):
        message = world.message(lead_no)
        assert message is not None
        sid = message.provider_message_id
        apply_receipt(world.table, Receipt(f"renewals.00001.{lead_no}", sid, MessageStatus.DELIVERED), NOON)
    world.reconciler().reconcile(OpenBatch(batch=batch), NOON + timedelta(days=3), Charging())
    settle(world.table, "acme", batch_summaries(world.table, "renewals"), NOON)


def test_an_admission_whose_caller_let_it_go_leaves_no_hold_behind(world: World) -> None:
    """One came to its end while the round was sent, and one after it was closed."""
    batch = world.has_batch(leads_of(1))
    hold = Hold(cause=Cause.PACE, since=NOON).model_dump(mode="json")
    of_batch = world.table, "renewals", batch.batch_id, NOON
    world.send_all(batch, world.admit(batch))
    summarize(*of_batch, condition=NOT_CLOSED, limit=1, status="waiting", hold=hold)

    world.close(batch)
    summarize(*of_batch, condition=NOT_CLOSED, limit=1, status="waiting", hold=hold)

    summary = world.table.get(keys.batch("renewals", batch.batch_id)) or {}
    assert (summary["status"], summary["hold"]) == ("sent", None)


def test_a_closing_whose_caller_let_it_go_does_not_undo_what_the_next_one_counted(world: World) -> None:
    """It read the batch's leases before the next round took its own."""
    batch = world.has_batch(leads_of(4))
    first = world.admit(batch)
    world.send(batch, 1, slot=datetime.fromisoformat(first.items[0].slot))
    before: list[int] = []

    def go_on() -> None:
        before.append(1)
        world.close(batch)
        world.send_all(batch, world.admit_in_time(batch, 2))
        world.close(batch, 2)

    slow = meddled(world.table, "transact", go_on)
    close_round(slow, world.workflow, batch, 1, world.clock.now())

    [summary] = batch_summaries(world.table, "renewals")
    assert before
    assert (summary["reserved"], summary["released"], summary["left"]) == (7, 3, 0)


def test_an_admission_let_go_leaves_no_hold_where_there_was_nothing_to_send(world: World) -> None:
    batch = world.has_batch(leads_of(1))
    world.becomes(CampaignStatus.CANCELLED)
    world.admit(batch)

    hold = Hold(cause=Cause.ACCOUNT_DAY_CAP, since=NOON).model_dump(mode="json")
    summarize(world.table, "renewals", batch.batch_id, NOON, condition=NOT_CLOSED, limit=1, status="holding", hold=hold)

    [summary] = batch_summaries(world.table, "renewals")
    assert (summary["status"], summary["hold"]) == ("sent", None)
