"""A message in doubt that its account wants sent once more: twice at most, and whatever becomes of that, no lie."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import count

import pytest

from paceline import keys
from paceline.admission import Decision
from paceline.campaigns import get_campaign
from paceline.claims import claim, give_up_claim, note_unknown, record_failed, record_sent
from paceline.errors import ProviderThrottled, RateLimited
from paceline.evidence import CLOCK_SLACK, LATEST
from paceline.models import Batch, Message, Route
from paceline.moments import iso
from paceline.opt_outs import opt_out
from paceline.pacing import LATENESS_SECONDS
from paceline.ports import Doubt, OutgoingMessage, ProviderRecord
from paceline.receipts import Receipt, apply_receipt
from paceline.resends import leave_for_resend
from paceline.status import CampaignStatus, Cause, MessageStatus, Resend
from paceline.table import Row
from tests.builders.core import NOON, World, a_campaign, a_lead, a_message, an_account, leads_of, phone_number
from tests.builders.recounts import counted, ends, has_planned, told
from tests.fakes.services import FakeProvider
from tests.fakes.tables import Killed, WatchedTable, killed_after_write

PARTS = 2
DAYS = keys.route_day("shared", NOON.date()), keys.account_day("acme", NOON.date())


@pytest.fixture
def batch(empty_world: World) -> Batch:
    """A batch of one lead of two parts; the account wants what is in doubt sent once more."""
    empty_world.has(an_account(parts_per_day=50), Route(name="shared"))
    empty_world.has(a_campaign(in_doubt="resend_once", max_messages_per_recipient_24h=1))
    [planned] = has_planned(empty_world, (PARTS,))
    return planned


def tries(world: World, batch: Batch, round_no: int) -> MessageStatus | str:
    """Let a round be admitted, its message sent, and the round be closed."""
    admission = world.admit_in_time(batch, round_no)
    if admission.decision is not Decision.SEND:
        return admission.decision
    slot = datetime.fromisoformat(admission.items[0].slot)
    world.clock.moment = slot
    try:
        return world.sender().send(batch, round_no, 1, slot, slot).status
    except (RateLimited, ProviderThrottled) as back_to_admission:
        return str(back_to_admission.evidence.get("cause", Cause.PROVIDER_THROTTLED))
    finally:
        world.close(batch, round_no)


def is_in_doubt(world: World, batch: Batch) -> None:
    """Let the first try reach the provider, and its answer be lost."""
    world.provider.is_silent = True
    assert tries(world, batch, 1) == Cause.SLOT_MISSED
    world.provider.is_silent = False


def row(world: World) -> Message:
    message = world.message()
    assert message is not None
    return message


def lease(world: World, round_no: int) -> Row:
    return world.table.get(keys.lease("renewals", "00001", round_no)) or {}


def is_sent(world: World, batch: Batch) -> None:
    assert tries(world, batch, 2) == MessageStatus.SENT


def is_in_doubt_again(world: World, batch: Batch) -> None:
    world.provider.is_silent = True
    assert tries(world, batch, 2) == MessageStatus.UNKNOWN


def is_refused(world: World, batch: Batch) -> None:
    world.provider.refuses = "opted_out_at_the_provider"
    assert tries(world, batch, 2) == MessageStatus.UNKNOWN


def opts_out(world: World, batch: Batch) -> None:
    opt_out(world.table, "acme", phone_number(1), iso(NOON))
    assert tries(world, batch, 2) == MessageStatus.UNKNOWN


def meets_the_frequency_cap(world: World, batch: Batch) -> None:
    claim(world.table, a_campaign(campaign_id="other"), a_message(), a_lead(1), world.clock.now())
    assert tries(world, batch, 2) == MessageStatus.UNKNOWN


def is_cancelled(world: World, batch: Batch) -> None:
    world.becomes(CampaignStatus.CANCELLED)
    assert tries(world, batch, 2) == Decision.DONE


def is_throttled_and_cancelled(world: World, batch: Batch) -> None:
    world.provider.throttles = [1.0]
    assert tries(world, batch, 2) == Cause.PROVIDER_THROTTLED
    world.becomes(CampaignStatus.CANCELLED)
    assert tries(world, batch, 3) == Decision.DONE


def misses_its_slot(world: World, batch: Batch) -> None:
    """Let the second try's claim take too long."""
    slot = datetime.fromisoformat(world.admit_in_time(batch, 2).items[0].slot)
    world.clock.moment = slot

    def takes_long(method: str, _: object) -> None:
        if method == "transact":
            world.clock.moment = slot + timedelta(seconds=LATENESS_SECONDS + 1)

    with pytest.raises(RateLimited):
        world.sender(WatchedTable(world.table, after=takes_long)).send(batch, 2, 1, slot, slot)
    world.close(batch, 2)


def misses_its_slot_and_is_sent(world: World, batch: Batch) -> None:
    misses_its_slot(world, batch)
    assert tries(world, batch, 3) == MessageStatus.SENT


Ending = Callable[[World, Batch], None]
NO_SECOND_TEXT = (opts_out, meets_the_frequency_cap, is_cancelled, is_throttled_and_cancelled)
ENDINGS = (*NO_SECOND_TEXT, is_refused, is_sent, is_in_doubt_again, misses_its_slot_and_is_sent)


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: ending.__name__)
def test_whatever_becomes_of_the_second_try_the_firsts_receipt_counts_and_it_is_charged_once(
    empty_world: World, batch: Batch, ending: Ending
) -> None:
    world = empty_world
    is_in_doubt(world, batch)
    before = told(counted(world))
    ending(world, batch)
    meanwhile = told(counted(world))

    world.close(batch, 9)  # counts anew
    ends(world, batch, MessageStatus.DELIVERED)

    account = world.account()
    assert row(world).status is MessageStatus.DELIVERED
    assert (account.available, account.reserved, account.consumed) == (1000 - PARTS, 0, PARTS)
    assert (before, meanwhile, told(counted(world))) == ([], [], [])


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: ending.__name__)
def test_whatever_becomes_of_the_second_try_there_is_no_third_text(
    empty_world: World, batch: Batch, ending: Ending
) -> None:
    world = empty_world
    is_in_doubt(world, batch)
    ending(world, batch)
    texts = world.provider.texts_to(phone_number(1))

    world.becomes(CampaignStatus.RUNNING)
    again = world.admit_in_time(batch, 4)

    assert texts == (1 if ending in (*NO_SECOND_TEXT, is_refused) else 2)
    assert again.decision is Decision.DONE
    assert world.close(batch, 9).left == 0


@pytest.mark.parametrize("ending", NO_SECOND_TEXT, ids=lambda ending: ending.__name__)
def test_a_day_keeps_what_may_have_left_and_gets_back_what_did_not(
    empty_world: World, batch: Batch, ending: Ending
) -> None:
    world = empty_world
    is_in_doubt(world, batch)
    assert (world.account().available, world.account().reserved) == (1000 - PARTS, PARTS)

    ending(world, batch)

    assert [world.used(day) for day in DAYS] == [PARTS, PARTS]
    assert (world.account().available, world.account().reserved) == (1000 - PARTS, PARTS)


def test_two_texts_use_two_minutes_and_twice_the_day(empty_world: World) -> None:
    world = empty_world
    world.has(an_account(parts_per_day=2), Route(name="shared", parts_per_minute=1, parts_per_day=2))
    world.has(a_campaign(in_doubt="resend_once"))
    batch = world.has_batch(leads_of(1))
    is_in_doubt(world, batch)
    first = world.clock.now()
    assert [world.used(day) for day in DAYS] == [1, 1]

    is_sent(world, batch)

    assert world.clock.now() - first >= timedelta(minutes=1)
    assert [world.used(day) for day in DAYS] == [2, 2]
    assert (world.account().available, world.account().reserved) == (998, 2)


def test_a_second_try_that_is_refused_leaves_the_first_to_the_providers_book(empty_world: World, batch: Batch) -> None:
    world = empty_world
    is_in_doubt(world, batch)
    opts_out(world, batch)
    world.provider.statuses["SM0001"] = (MessageStatus.UNDELIVERED, "handset_unreachable")

    ends(world, batch, MessageStatus.SENT)

    assert (row(world).status, row(world).provider_message_id) == (MessageStatus.UNDELIVERED, "SM0001")


def test_a_receipt_is_no_reason_to_send_it_again(empty_world: World, batch: Batch) -> None:
    world = empty_world

    def deliver(message: OutgoingMessage, sid: str) -> None:
        apply_receipt(world.table, Receipt(message.message_id, sid, MessageStatus.DELIVERED), world.clock.now())

    world.provider.is_silent, world.provider.before_answer = True, deliver
    world.send(batch)

    assert world.send(batch, round_no=2).status is MessageStatus.DELIVERED
    assert world.provider.texts_to(phone_number(1)) == 1


@pytest.mark.parametrize("moment", ["before the next round", "in the next round"])
def test_a_late_receipt_ends_the_wish_to_send_it_again(empty_world: World, batch: Batch, moment: str) -> None:
    world = empty_world
    is_in_doubt(world, batch)
    admission = world.admit_in_time(batch, 2) if moment == "in the next round" else None
    apply_receipt(world.table, Receipt("renewals.00001.1", "SM0001", MessageStatus.SENT), world.clock.now())

    if admission is None:
        assert tries(world, batch, 2) == Decision.DONE
    else:
        world.send_all(batch, admission)

    assert world.provider.sends == 1
    assert world.close(batch, 2).left == 0


def test_a_receipt_that_comes_while_it_is_claimed_once_more_is_in_time(empty_world: World, batch: Batch) -> None:
    world, tried = empty_world, count(1)
    is_in_doubt(world, batch)
    slot = datetime.fromisoformat(world.admit_in_time(batch, 2).items[0].slot)

    def comes(method: str, _: object) -> None:
        if method == "transact" and next(tried) == 2:  # the first of them learns that it is due
            apply_receipt(world.table, Receipt("renewals.00001.1", "SM0001", MessageStatus.DELIVERED), slot)

    answer = world.sender(WatchedTable(world.table, before=comes)).send(batch, 2, 1, slot, slot)

    assert (answer.status, world.provider.sends) == (MessageStatus.DELIVERED, 1)


def test_evidence_is_looked_for_around_both_claims_and_not_in_between(empty_world: World, batch: Batch) -> None:
    world, asked = empty_world, list[Doubt]()

    class Asked(FakeProvider):
        def look_up(self, message: OutgoingMessage, doubt: Doubt) -> ProviderRecord | None:
            asked.append(doubt)
            return None

    world.provider = Asked()
    is_in_doubt(world, batch)
    first = row(world).claimed_at
    assert first is not None
    world.clock.passes(minutes=40)
    misses_its_slot(world, batch)
    opt_out(world.table, "acme", phone_number(1), iso(NOON))
    assert tries(world, batch, 3) == MessageStatus.UNKNOWN

    ends(world, batch, MessageStatus.SENT)

    second = row(world).claimed_at
    assert second is not None
    assert second - first >= timedelta(minutes=40)
    assert [(one.since, one.until) for one in asked] == [
        (moment - CLOCK_SLACK, moment + LATEST) for moment in (first, second)
    ]


def test_the_first_claim_stays_known_over_all_further_tries(empty_world: World, batch: Batch) -> None:
    world = empty_world
    is_in_doubt(world, batch)
    first = row(world).claimed_at

    misses_its_slot_and_is_sent(world, batch)

    assert row(world).first_claimed_at == first


def test_the_same_round_does_not_send_it_again_where_its_answer_was_lost(empty_world: World, batch: Batch) -> None:
    world, slot = empty_world, NOON
    world.admit(batch)
    world.provider.is_silent = True
    with suppress(Killed):  # the claim takes two writes, and then it becomes due
        world.sender(killed_after_write(world.table, 2)).send(batch, 1, 1, slot, slot)
    assert row(world).is_due

    again = world.send(batch, slot=slot)

    assert (again.status, world.provider.sends) == (MessageStatus.UNKNOWN, 1)
    assert world.close(batch).left == 1
    assert told(counted(world)) == []


# -- a sender of the first try that lives on ------------------------------------------------------------------------


def is_claimed_once_more(world: World, batch: Batch) -> Message:
    """Return the first try's message, as its sender knows it; the second is claimed by now."""
    is_in_doubt(world, batch)
    orphan = a_message(parts=PARTS)
    campaign = get_campaign(world.table, "renewals")
    assert claim(world.table, campaign, a_message(round=2, parts=PARTS), a_lead(1), world.clock.now()) is None
    return orphan


def test_an_orphan_takes_back_no_claim_of_a_later_round(empty_world: World, batch: Batch) -> None:
    world = empty_world
    orphan = is_claimed_once_more(world, batch)
    campaign = get_campaign(world.table, "renewals")
    later = row(world)

    give_up_claim(world.table, campaign, orphan, a_lead(1))
    note_unknown(world.table, "renewals", orphan)
    record_failed(world.table, "renewals", orphan, "not_a_mobile", NOON)

    assert not leave_for_resend(world.table, campaign, orphan)
    assert row(world) == later
    assert (later.status, later.round, later.resend) == (MessageStatus.CLAIMED, 2, Resend.DONE)


@pytest.mark.parametrize("is_claimed", [False, True])
def test_an_orphans_answer_is_evidence_of_the_first_try(empty_world: World, batch: Batch, is_claimed: bool) -> None:
    world = empty_world
    if is_claimed:
        orphan = is_claimed_once_more(world, batch)
    else:
        is_in_doubt(world, batch)
        orphan = a_message(parts=PARTS)

    record_sent(world.table, "renewals", orphan, "SM0001", NOON, NOON)

    assert (row(world).status, row(world).provider_message_id) == (MessageStatus.SENT, "SM0001")
    assert row(world).answered_at == (None if is_claimed else NOON)  # of a later claim, it would say when that left
    assert row(world).is_due is False


# -- does its sender work? ------------------------------------------------------------------------------------------


def test_a_round_with_a_message_in_doubt_or_refused_is_no_sign_that_senders_fail(empty_world: World) -> None:
    world = empty_world
    world.has(an_account(), Route(name="shared"), a_campaign(in_doubt="resend_once"))
    batch = world.has_batch(leads_of(2))  # the second lead's message is not sent in either round
    is_in_doubt(world, batch)
    opts_out(world, batch)

    assert [lease(world, 1)["unused"], lease(world, 2)["unused"]] == [1, 2]
    assert ["failed" in lease(world, 1), "failed" in lease(world, 2)] == [False, False]


def test_a_round_in_which_the_second_try_was_given_up_says_why(empty_world: World, batch: Batch) -> None:
    world = empty_world
    is_in_doubt(world, batch)
    world.provider.throttles = [1.0]

    tries(world, batch, 2)

    assert lease(world, 2)["excused"] == "provider_throttled"
    assert (row(world).is_due, world.close(batch, 2).left) == (True, 1)
