"""Sending one message: at most once ever, whatever dies in between; what became of it is known, or `unknown`."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, timedelta

import pytest

from paceline import keys
from paceline.campaigns import PAUSE_BOUND_SECONDS
from paceline.errors import (
    ProviderMisconfigured,
    ProviderThrottled,
    RateLimited,
    RequestInvalid,
    TransactionConflict,
)
from paceline.models import Batch, Message, Route, SendingWindow
from paceline.moments import iso, to_us
from paceline.opt_outs import opt_out
from paceline.pacing import LATENESS_SECONDS
from paceline.ports import OutgoingMessage
from paceline.receipts import Receipt, apply_receipt
from paceline.routes import MISCONFIGURED_FOR, change_route
from paceline.status import CampaignStatus, Cause, MessageStatus
from tests.builders.core import (
    NOON,
    SIGNED,
    World,
    a_campaign,
    a_lead,
    an_account,
    leads_of,
    phone_number,
    put_route,
)
from tests.fakes.tables import Killed, WatchedTable, killed_after_write, killed_before_write

TODAY = date(2026, 9, 2)


@pytest.fixture
def batch(world: World) -> Batch:
    return world.has_batch(leads_of(2))


def sent(world: World, lead_no: int = 1) -> Message:
    message = world.message(lead_no)
    assert message is not None
    return message


def test_a_message_goes_out_with_its_id_its_sender_and_a_day_of_validity(world: World, batch: Batch) -> None:
    answer = world.send(batch)

    assert answer.status is MessageStatus.SENT
    [outgoing] = world.provider.accepted.values()
    assert outgoing == OutgoingMessage(
        "renewals.00001.1", "+12025550100", phone_number(1), a_lead(1).text, validity_seconds=24 * 3600
    )


def test_what_was_sent_is_recorded_with_the_providers_id(world: World, batch: Batch) -> None:
    slot = NOON - timedelta(seconds=1)

    world.send(batch, slot=slot)

    message = sent(world)
    assert (message.status, message.provider_message_id) == (MessageStatus.SENT, "SM0001")
    assert (message.slot, message.claimed_at, message.sent_at) == (slot, NOON, NOON)


def test_a_message_is_sent_once_however_often_its_step_runs(world: World, batch: Batch) -> None:
    answers = [world.send(batch) for _ in range(3)]

    assert {answer.status for answer in answers} == {MessageStatus.SENT}
    assert world.provider.sends == 1


def test_one_lead_is_sent_once_over_all_rounds(world: World, batch: Batch) -> None:
    world.send(batch, round_no=1)
    world.send(batch, round_no=2)

    assert world.provider.texts_to(phone_number(1)) == 1


# -- may it still go? ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("late_seconds", "goes"),
    [
        pytest.param(0.0, True, id="on time"),
        pytest.param(LATENESS_SECONDS, True, id="as late as it may be"),
        pytest.param(LATENESS_SECONDS + 0.000001, False, id="later"),
        pytest.param(3600.0, False, id="an hour later"),
    ],
)
def test_a_missed_slot_goes_back_to_admission(world: World, batch: Batch, late_seconds: float, goes: bool) -> None:
    slot = world.clock.now() - timedelta(seconds=late_seconds)

    if goes:
        world.send(batch, slot=slot)
    else:
        with pytest.raises(RateLimited) as raised:
            world.send(batch, slot=slot)
        assert raised.value.evidence["cause"] == "slot_missed"
        assert "TransactWriteItems" not in [call.operation for call in world.calls]  # it was not even claimed

    assert world.provider.sends == goes
    assert (world.message() is not None) is goes


def test_a_slot_missed_while_the_providers_secret_was_read_gives_the_claim_back(world: World, batch: Batch) -> None:
    world.provider.while_getting_ready = lambda: world.clock.passes(seconds=LATENESS_SECONDS + 0.1)

    with pytest.raises(RateLimited):
        world.send(batch)

    assert world.provider.sends == 0
    assert world.message() is None


def test_a_slot_missed_while_it_was_claimed_gives_the_claim_back(world: World, batch: Batch) -> None:
    def slow(method: str, _: object) -> None:
        if method == "transact":
            world.clock.passes(seconds=LATENESS_SECONDS + 1)

    with pytest.raises(RateLimited):
        world.sender(WatchedTable(world.table, after=slow)).send(batch, 1, 1, NOON, NOON)

    assert world.provider.sends == 0
    assert world.message() is None


@pytest.mark.parametrize("status", [CampaignStatus.PAUSED, CampaignStatus.CANCELLED, CampaignStatus.FAILED])
def test_nothing_is_sent_when_the_campaign_does_not_run(world: World, batch: Batch, status: CampaignStatus) -> None:
    world.becomes(status)

    with pytest.raises(RateLimited):
        world.send(batch)

    assert world.provider.sends == 0
    assert world.message() is None


def test_nothing_is_sent_when_the_window_has_closed(empty_world: World) -> None:
    world = empty_world
    window = SendingWindow.model_validate({"opens": "08:00", "closes": "12:00"})
    world.has(an_account(), Route(name="shared"), a_campaign(sending_window=window))
    batch = world.has_batch(leads_of(1))

    with pytest.raises(RateLimited) as raised:
        world.send(batch)

    assert raised.value.evidence["cause"] == "sending_window"
    assert world.provider.sends == 0


def test_a_person_who_said_stop_after_the_plan_is_skipped(world: World, batch: Batch) -> None:
    opt_out(world.table, "acme", phone_number(1), iso(NOON))

    answer = world.send(batch)

    assert answer.status is MessageStatus.SKIPPED
    assert world.provider.sends == 0
    assert (sent(world).status, sent(world).cause) == (MessageStatus.SKIPPED, "opted_out")


def test_a_person_over_the_frequency_cap_is_skipped(empty_world: World) -> None:
    world = empty_world
    world.has(an_account(), Route(name="shared"), a_campaign(max_messages_per_recipient_24h=1))
    world.send(world.has_batch(leads_of(1)))

    answer = world.send(world.has_batch(leads_of(1), batch_id="00002"))

    assert answer.status is MessageStatus.SKIPPED
    message = world.message(1, "00002")
    assert message is not None
    assert message.cause == "frequency_cap"
    assert world.provider.sends == 1


# -- what the provider answers -------------------------------------------------------------------------------------


def test_a_429_gives_the_claim_back_and_slows_the_route(world: World, batch: Batch) -> None:
    world.provider.throttles = [60.0]

    with pytest.raises(ProviderThrottled):
        world.send(batch)

    assert world.message() is None
    assert world.pace()["throttled_until"] == to_us(NOON + timedelta(seconds=60))
    world.clock.moment = NOON + timedelta(seconds=60)
    assert world.send(batch, round_no=2).status is MessageStatus.SENT


def test_a_message_with_a_slot_in_the_pause_that_a_provider_asked_for_goes_back(world: World, batch: Batch) -> None:
    world.provider.throttles = [60.0]
    with pytest.raises(ProviderThrottled):
        world.send(batch)
    world.clock.moment = NOON + timedelta(seconds=59)

    with pytest.raises(RateLimited) as refused:
        world.send(batch, round_no=2)

    assert refused.value.evidence["cause"] == Cause.PROVIDER_THROTTLED
    assert world.message() is None


def test_a_message_goes_by_its_routes_own_provider(world: World, batch: Batch) -> None:
    put_route(world.table, Route(name="verizon", provider="end_user_messaging", sender="pool-1"))

    world.send(batch, 1)
    world.send(batch.model_copy(update={"route": "verizon"}), 2)

    assert [sent.sender for sent in world.provider.accepted.values()] == ["+12025550100"]
    assert [sent.sender for sent in world.other_provider.accepted.values()] == ["pool-1"]


def test_a_refusal_of_the_whole_route_gives_the_claim_back_and_holds_the_route(world: World, batch: Batch) -> None:
    world.provider.trouble = "not_authenticated"

    with pytest.raises(ProviderMisconfigured):
        world.send(batch, 1)
    with pytest.raises(RateLimited) as refused:
        world.send(batch, 2)
    admission = world.admit(batch)

    assert (world.message(1), world.message(2), world.provider.sends) == (None, None, 1)
    assert refused.value.evidence["cause"] == Cause.PROVIDER_MISCONFIGURED
    assert admission.hold is not None
    assert (admission.hold.cause, admission.hold.until) == (Cause.PROVIDER_MISCONFIGURED, NOON + MISCONFIGURED_FOR)


def test_a_route_that_was_refused_is_tried_again_after_a_while(world: World, batch: Batch) -> None:
    world.provider.trouble = "not_authenticated"
    with pytest.raises(ProviderMisconfigured):
        world.send(batch)
    world.provider.trouble = ""
    world.clock.moment = NOON + MISCONFIGURED_FOR

    assert world.send(batch, round_no=2).status is MessageStatus.SENT


def test_any_change_by_an_operator_lets_a_refused_route_be_tried_at_once(world: World, batch: Batch) -> None:
    world.provider.trouble = "invalid_sender"
    with pytest.raises(ProviderMisconfigured):
        world.send(batch)
    world.provider.trouble = ""

    change_route(world.table, "shared", {"sender": "+12025550101"}, SIGNED)

    assert world.send(batch, round_no=2).status is MessageStatus.SENT


def test_a_routes_provider_cannot_change(world: World) -> None:
    with pytest.raises(RequestInvalid, match="Create another route"):
        change_route(world.table, "shared", {"provider": "end_user_messaging"}, SIGNED)
    with pytest.raises(RequestInvalid, match="Create another route"):
        put_route(world.table, Route(name="shared", provider="end_user_messaging"))


def test_a_slot_given_before_the_cap_was_lowered_goes_back(world: World, batch: Batch) -> None:
    lowered_at = NOON + timedelta(seconds=1)
    change_route(world.table, "shared", {"parts_per_minute": 60}, replace(SIGNED, at=lowered_at))

    with pytest.raises(RateLimited) as refused:
        world.send(batch, given_at=NOON)
    given_later = world.send(batch, round_no=2, given_at=lowered_at)

    assert refused.value.evidence["cause"] == Cause.PACE
    assert given_later.status is MessageStatus.SENT


def test_a_sender_that_looked_at_the_campaign_too_long_ago_gives_its_claim_up(world: World, batch: Batch) -> None:
    """The campaign may have been paused since: what the API says of a pause holds for a slow sender too."""

    def slow(method: str, _: object) -> None:
        if method == "transact":
            world.clock.passes(seconds=PAUSE_BOUND_SECONDS + 0.001)

    late_slot = NOON + timedelta(seconds=PAUSE_BOUND_SECONDS)  # the slot itself is not missed
    with pytest.raises(RateLimited):
        world.sender(WatchedTable(world.table, after=slow)).send(batch, 1, 1, late_slot, NOON)

    assert world.provider.sends == 0
    assert world.message() is None


def test_a_provider_that_does_not_answer_makes_it_unknown_and_it_is_never_sent_again(
    world: World, batch: Batch
) -> None:
    world.provider.is_silent = True

    first = world.send(batch)
    world.provider.is_silent = False
    again = [world.send(batch), world.send(batch, round_no=2)]

    assert first.status is MessageStatus.UNKNOWN
    assert {answer.status for answer in again} == {MessageStatus.UNKNOWN}
    assert world.provider.texts_to(phone_number(1)) == 1


def test_a_provider_that_refuses_makes_it_failed_with_the_cause(world: World, batch: Batch) -> None:
    world.provider.refuses = "not_a_mobile"

    answer = world.send(batch)

    assert answer.status is MessageStatus.FAILED
    assert (sent(world).status, sent(world).cause) == (MessageStatus.FAILED, "not_a_mobile")
    assert sent(world).final_at == NOON


def test_a_receipt_that_is_faster_than_our_record_keeps_its_word(world: World, batch: Batch) -> None:
    def deliver(message: OutgoingMessage, sid: str) -> None:
        receipt = Receipt(message.message_id, sid, MessageStatus.DELIVERED)
        assert apply_receipt(world.table, receipt, world.clock.now())

    world.provider.before_answer = deliver
    world.send(batch)

    assert sent(world).status is MessageStatus.DELIVERED
    assert (sent(world).provider_message_id, sent(world).sent_at, sent(world).answered_at) == ("SM0001", NOON, NOON)


# -- killed anywhere -----------------------------------------------------------------------------------------------


def test_a_sender_killed_between_claim_and_record_leaves_a_message_that_is_never_sent_again(
    world: World, batch: Batch
) -> None:
    def die(message: OutgoingMessage, sid: str) -> None:
        raise Killed

    world.provider.before_answer = die
    with pytest.raises(Killed):
        world.send(batch)
    world.provider.before_answer = None

    again = world.send(batch)

    assert again.status is MessageStatus.UNKNOWN
    assert world.provider.texts_to(phone_number(1)) == 1


@pytest.mark.parametrize("killed", [killed_before_write, killed_after_write])
@pytest.mark.parametrize("write", [1, 2, 3])
def test_a_sender_killed_at_any_write_never_sends_twice(world: World, batch: Batch, killed: object, write: int) -> None:
    with suppress(Killed):
        world.sender(killed(world.table, write)).send(batch, 1, 1, NOON, NOON)  # type: ignore[operator]

    for round_no in (1, 1, 2):
        world.send(batch, round_no=round_no)

    assert world.provider.texts_to(phone_number(1)) <= 1
    assert sent(world).status in (MessageStatus.SENT, MessageStatus.UNKNOWN)


def test_a_conflict_when_recording_is_unknown_and_not_a_second_text(world: World, batch: Batch) -> None:
    updates = 0

    def conflict(method: str, _: object) -> None:
        nonlocal updates
        updates += method == "update"
        if method == "update" and updates == 1:
            raise TransactionConflict("a transaction holds the row")

    answer = world.sender(WatchedTable(world.table, before=conflict)).send(batch, 1, 1, NOON, NOON)

    assert answer.status is MessageStatus.UNKNOWN
    assert world.send(batch).status is MessageStatus.UNKNOWN
    assert world.provider.sends == 1


def test_a_send_writes_no_row_that_another_lead_shares(world: World, batch: Batch) -> None:
    world.calls.clear()

    world.send(batch)

    written = {
        (str(access.pk), str(access.sk))
        for call in world.calls
        for access in call.keys
        if access.action in ("Put", "Update", "Delete")
    }
    assert written == {keys.message("renewals", "00001", 1), keys.recipient("acme", phone_number(1))}
    assert not any(map(keys.is_shared_row, written))


def test_a_lead_without_a_message_after_a_429_is_counted_as_left(world: World) -> None:
    batch = world.has_batch(leads_of(2))
    admission = world.admit(batch)
    world.provider.throttles = [1.0]
    with pytest.raises(ProviderThrottled):
        world.send(batch, 1, slot=datetime.fromisoformat(admission.items[0].slot))
    world.clock.moment += timedelta(seconds=1)
    world.send(batch, 2, slot=world.clock.now())

    closed = world.close(batch)

    assert closed.left == 1
    assert world.account().reserved == 1
    assert world.used(keys.route_day("shared", TODAY)) == 1
