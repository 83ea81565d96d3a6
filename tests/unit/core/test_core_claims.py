"""The claim: where two sends of one message meet, and where a STOP and a send meet."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from paceline import keys
from paceline.claims import MAX_TRIES, claim, give_up_claim, note_unknown, record_sent
from paceline.errors import TransactionConflict
from paceline.models import Campaign, Message
from paceline.moments import iso
from paceline.opt_outs import opt_out
from paceline.receipts import Receipt, apply_receipt
from paceline.status import Cause, MessageStatus
from paceline.table import Table, Update
from sandbox.dynamodb import Latency
from tests.builders.core import NOON, World, a_campaign, a_lead, a_message, a_world, phone_number
from tests.fakes.tables import meddled

DAY = timedelta(hours=24)


def claimed(
    world: World,
    campaign: Campaign | None = None,
    *,
    at: datetime = NOON,
    batch_id: str = "00001",
    table: Table | None = None,
) -> Message | Cause | None:
    """Claim lead 1's message (of another batch, so another message to the same person, where asked)."""
    message = a_message(1, batch_id=batch_id)
    return claim(table or world.table, campaign or a_campaign(), message, a_lead(1), at)


def test_a_claim_writes_the_message_before_anything_is_sent(world: World) -> None:
    assert claimed(world) is None

    message = world.message(1)
    assert message is not None
    assert (message.status, message.claimed_at) == (MessageStatus.CLAIMED, NOON)


def test_a_messages_row_holds_neither_number_nor_text(world: World) -> None:
    claimed(world)

    row = str(world.table.get(keys.message("renewals", "00001", 1)))
    assert phone_number(1).lstrip("+") not in row
    assert a_lead(1).text not in row


def test_a_second_claim_of_a_message_learns_of_the_first(world: World) -> None:
    claimed(world)

    second = claimed(world, at=NOON + timedelta(seconds=1))

    assert isinstance(second, Message)
    assert second.claimed_at == NOON


def test_of_two_claims_at_once_one_wins_and_the_other_is_a_conflict_or_learns_of_it() -> None:
    with a_world(Latency(prepare=lambda: 0.010, commit=lambda: 0.010)) as world:
        answers = world.together(lambda: claimed(world), lambda: claimed(world), apart_seconds=0.005)

        assert answers[0] is None
        assert isinstance(answers[1], TransactionConflict)
        assert isinstance(claimed(world), Message)  # the workflow's retry


def test_a_person_who_opted_out_is_not_claimed(world: World) -> None:
    opt_out(world.table, "acme", phone_number(1), iso(NOON))

    assert claimed(world) is Cause.OPTED_OUT
    assert world.message(1) is None


def test_a_person_who_opted_out_of_another_account_is(world: World) -> None:
    opt_out(world.table, "other", phone_number(1), iso(NOON))

    assert claimed(world) is None


def test_a_person_who_was_texted_before_and_then_said_stop_is_not_claimed(world: World) -> None:
    claimed(world)
    opt_out(world.table, "acme", phone_number(1), iso(NOON))

    assert claimed(world, batch_id="00002") is Cause.OPTED_OUT


def test_a_stop_between_plan_and_claim_wins(world: World) -> None:
    table = meddled(world.table, "transact", lambda: opt_out(world.table, "acme", phone_number(1), iso(NOON)))

    assert claimed(world, table=table) is Cause.OPTED_OUT
    assert world.message(1) is None


# -- the frequency cap ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("after", "answer"),
    [
        pytest.param(timedelta(seconds=1), Cause.FREQUENCY_CAP, id="a second later"),
        pytest.param(DAY - timedelta(microseconds=1), Cause.FREQUENCY_CAP, id="just within 24 hours"),
        pytest.param(DAY, None, id="24 hours later"),
    ],
)
def test_the_frequency_cap_counts_any_rolling_24_hours_exactly(
    world: World, after: timedelta, answer: Cause | None
) -> None:
    twice = a_campaign(max_messages_per_recipient_24h=2)
    assert claimed(world, twice) is None
    assert claimed(world, twice, at=NOON + timedelta(microseconds=1), batch_id="00002") is None

    assert claimed(world, twice, at=NOON + after, batch_id="00003") is answer
    assert (world.message(1, "00003") is None) is (answer is not None)


def test_the_frequency_cap_sees_other_campaigns_of_the_account_without_a_cap(world: World) -> None:
    claimed(world, a_campaign(campaign_id="other-campaign"))

    assert claimed(world, a_campaign(max_messages_per_recipient_24h=1)) is Cause.FREQUENCY_CAP


def test_a_message_does_not_count_against_itself(world: World) -> None:
    once = a_campaign(max_messages_per_recipient_24h=1)
    claimed(world, once)
    give_up_claim(world.table, a_campaign(), a_message(1), a_lead(1))

    assert claimed(world, once, at=NOON + timedelta(minutes=1)) is None


def test_a_message_that_never_left_does_not_count_against_another(world: World) -> None:
    claimed(world)
    give_up_claim(world.table, a_campaign(), a_message(1), a_lead(1))

    assert claimed(world, a_campaign(max_messages_per_recipient_24h=1), batch_id="00002") is None


def test_a_send_to_the_same_person_in_between_is_counted(world: World) -> None:
    once = a_campaign(max_messages_per_recipient_24h=1)

    table = meddled(world.table, "transact", lambda: claimed(world, batch_id="00002"))

    assert claimed(world, once, table=table) is Cause.FREQUENCY_CAP
    assert world.message(1) is None


def test_two_sends_to_one_person_are_both_remembered(world: World) -> None:
    table = meddled(world.table, "transact", lambda: claimed(world, batch_id="00002"))

    assert claimed(world, table=table) is None

    row = world.table.get(keys.recipient("acme", phone_number(1)))
    assert row is not None
    assert set(row["recent"]) == {"renewals.00001.1", "renewals.00002.1"}


def test_sends_of_more_than_a_day_ago_are_forgotten(world: World) -> None:
    claimed(world)
    claimed(world, at=NOON + DAY, batch_id="00002")

    row = world.table.get(keys.recipient("acme", phone_number(1)))
    assert row is not None
    assert set(row["recent"]) == {"renewals.00002.1"}


def test_a_recipients_row_that_changes_under_every_try_is_a_conflict_and_no_claim(world: World) -> None:
    key, count = keys.recipient("acme", phone_number(1)), 0

    def meddle() -> None:
        nonlocal count
        count += 1
        world.table.update(Update(key, "SET #recent = :recent", {"recent": {"other": count}}))

    with pytest.raises(TransactionConflict):
        claimed(world, table=meddled(world.table, "transact", meddle, times=MAX_TRIES))
    assert world.message(1) is None


# -- after the claim -----------------------------------------------------------------------------------------------


def test_a_claim_given_up_can_be_claimed_again(world: World) -> None:
    claimed(world)

    give_up_claim(world.table, a_campaign(), a_message(1), a_lead(1))

    assert world.message(1) is None
    assert claimed(world) is None


def test_a_claim_for_which_a_receipt_came_is_not_given_up(world: World) -> None:
    claimed(world)
    apply_receipt(world.table, Receipt("renewals.00001.1", "SM1", MessageStatus.SENT), NOON)

    give_up_claim(world.table, a_campaign(), a_message(1), a_lead(1))

    message = world.message(1)
    assert message is not None
    assert message.status is MessageStatus.SENT


def test_an_unknown_message_is_not_given_up(world: World) -> None:
    claimed(world)
    assert note_unknown(world.table, "renewals", a_message(1)) is MessageStatus.UNKNOWN

    give_up_claim(world.table, a_campaign(), a_message(1), a_lead(1))

    assert isinstance(claimed(world), Message)


def test_a_message_that_moved_on_does_not_become_unknown(world: World) -> None:
    claimed(world)
    record_sent(world.table, "renewals", a_message(1), "SM1", NOON, NOON)

    assert note_unknown(world.table, "renewals", a_message(1)) is MessageStatus.SENT

    message = world.message(1)
    assert message is not None
    assert message.status is MessageStatus.SENT
