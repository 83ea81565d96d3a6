"""Reconciliation: what is in doubt is settled by evidence, and at the deadline everything has an outcome."""

from __future__ import annotations

import itertools
import json
from contextlib import suppress
from datetime import datetime, timedelta

import pytest

from paceline import keys
from paceline.campaigns import keep_plan
from paceline.looks import LOOKS, LOOKS_AFTER_DEADLINE, OpenBatch, OpenCounter, OpenMessages, deadline
from paceline.models import Batch, Charging, LeadCounts, Message, Plan, Route
from paceline.opt_outs import opt_out
from paceline.receipts import Receipt, apply_receipt, store_callback
from paceline.reconciliation import ABANDONED_AFTER, Reconciled
from paceline.status import CampaignStatus, Cause, MessageStatus
from tests.builders.core import NOON, World, a_campaign, an_account, leads_of, phone_number
from tests.fakes.tables import Killed, killed_after_write, killed_before_write

S = MessageStatus
DEADLINE = timedelta(hours=72)


def sent_batch(world: World, leads: int = 3, *, is_silent: bool = False, **changes: object) -> Batch:
    """A batch whose messages were all offered, and whose round is closed."""
    batch = world.has_batch(leads_of(leads), **changes)
    world.provider.is_silent = is_silent
    world.send_all(batch, world.admit(batch))
    world.provider.is_silent = False
    world.close(batch)
    return batch


def look(world: World, batch: Batch, after: timedelta) -> Reconciled:
    """Look at the batch, as the workflow does: later looks at what an earlier one left open."""
    world.clock.moment = NOON + after
    found = summary(world, batch.batch_id)
    one = OpenBatch.model_validate({"batch": batch, **{k: found[k] for k in ("open_leads", "counted") if k in found}})
    return world.reconciler().reconcile(one, NOON + DEADLINE, Charging())


def count(world: World, look_no: int) -> OpenMessages:
    return OpenCounter(world.table, world.store, world.workflow, world.clock.now()).count("renewals", look_no, NOON)


def message(world: World, lead_no: int = 1) -> Message:
    found = world.message(lead_no)
    assert found is not None
    return found


def summary(world: World, batch_id: str = "00001") -> dict[str, object]:
    return world.table.get(keys.batch("renewals", batch_id)) or {}


def everything_arrives(world: World) -> None:
    for sid in world.provider.statuses:
        world.provider.statuses[sid] = (S.DELIVERED, "")


# -- evidence ------------------------------------------------------------------------------------------------------


def test_an_unknown_message_that_the_provider_has_takes_its_word(world: World) -> None:
    batch = sent_batch(world, 1, is_silent=True)
    everything_arrives(world)

    answer = look(world, batch, timedelta(minutes=2))

    assert answer.open == 0
    assert (message(world).status, message(world).provider_message_id) == (S.DELIVERED, "SM0001")


def test_an_unknown_message_that_the_provider_accepted_is_sent(world: World) -> None:
    batch = sent_batch(world, 1, is_silent=True)

    answer = look(world, batch, timedelta(minutes=2))

    assert answer.open == 1
    assert message(world).status is S.SENT


def test_an_unknown_message_that_the_provider_has_not_stays_unknown_until_the_deadline(world: World) -> None:
    world.provider.is_down = True
    batch = sent_batch(world, 1)

    before = look(world, batch, timedelta(hours=71))
    at = look(world, batch, DEADLINE)

    assert (before.open, at.open) == (1, 0)
    assert (message(world).status, message(world).cause) == (S.UNCONFIRMED, "no_evidence_of_acceptance")
    assert summary(world)["consumed"] == 0


def test_a_message_without_a_final_receipt_is_asked_about_at_the_deadline_only(world: World) -> None:
    batch = sent_batch(world, 1)

    look(world, batch, timedelta(hours=71))
    assert world.provider.asked == []
    everything_arrives(world)
    look(world, batch, DEADLINE)

    assert world.provider.asked == ["SM0001"]
    assert message(world).status is S.DELIVERED


def test_a_message_that_nobody_confirms_is_unconfirmed_and_charged(world: World) -> None:
    batch = sent_batch(world, 1)

    answer = look(world, batch, DEADLINE)

    assert answer.open == 0
    assert (message(world).status, message(world).cause) == (S.UNCONFIRMED, "no_final_receipt")
    assert summary(world)["consumed"] == 1


def test_an_unknown_message_that_was_accepted_is_unconfirmed_and_charged_at_the_deadline(world: World) -> None:
    batch = sent_batch(world, 1, is_silent=True)

    look(world, batch, DEADLINE)

    assert (message(world).status, message(world).cause) == (S.UNCONFIRMED, "no_final_receipt")
    assert summary(world)["consumed"] == 1


def abandoned_claim(world: World) -> Batch:
    """A batch whose sender was killed once the provider had the message."""
    batch = world.has_batch(leads_of(1))
    world.admit(batch)

    def die(*_: object) -> None:
        raise Killed

    world.provider.before_answer = die
    with pytest.raises(Killed):
        world.send(batch)
    world.provider.before_answer = None
    world.close(batch)
    return batch


@pytest.mark.parametrize("is_silent", [False, True], ids=["accepted", "in doubt"])
def test_a_provider_that_does_not_answer_at_the_deadline_is_asked_again_soon_after(
    world: World, is_silent: bool
) -> None:
    batch = sent_batch(world, 1, is_silent=is_silent)
    everything_arrives(world)
    world.provider.is_mute = True

    at = look(world, batch, DEADLINE)
    world.provider.is_mute = False
    after = look(world, batch, DEADLINE + timedelta(minutes=5))

    assert (at.open, after.open) == (1, 0)
    assert message(world).status is S.DELIVERED


def test_a_provider_that_stays_mute_is_done_without_before_the_looks_end(world: World) -> None:
    batch = sent_batch(world, 1)
    world.provider.is_mute = True

    looks = [
        look(world, batch, DEADLINE + timedelta(minutes=5 * number)).open for number in range(LOOKS_AFTER_DEADLINE)
    ]

    assert looks == [1, 1, 0]
    assert (message(world).status, message(world).cause) == (S.UNCONFIRMED, "no_final_receipt")


def test_a_claim_whose_sender_may_still_live_is_left_alone(world: World) -> None:
    batch = abandoned_claim(world)

    look(world, batch, ABANDONED_AFTER - timedelta(seconds=1))

    assert world.provider.asked == []
    assert message(world).status is S.CLAIMED


def test_an_abandoned_claim_is_looked_up(world: World) -> None:
    batch = abandoned_claim(world)
    everything_arrives(world)

    look(world, batch, ABANDONED_AFTER)

    assert world.provider.asked[0] == "renewals.00001.1"
    assert message(world).status is S.DELIVERED


def test_a_final_message_is_not_asked_about(world: World) -> None:
    world.provider.refuses = "not_a_mobile"
    batch = sent_batch(world, 1)

    look(world, batch, DEADLINE)

    assert world.provider.asked == []


def test_a_receipt_that_came_during_the_look_wins(world: World) -> None:
    batch = sent_batch(world, 1)
    everything_arrives(world)
    look(world, batch, DEADLINE - timedelta(seconds=1))
    before = message(world)

    look(world, batch, DEADLINE)
    look(world, batch, DEADLINE + timedelta(hours=1))

    assert before.status is S.SENT
    assert message(world).status is S.DELIVERED


# -- leads without a message ---------------------------------------------------------------------------------------


def test_leads_without_a_message_at_the_deadline_are_skipped_and_their_lease_given_back(world: World) -> None:
    batch = world.has_batch(leads_of(3))
    world.admit(batch)
    world.send(batch, 1)  # and then the batch's workflow failed

    before = look(world, batch, DEADLINE - timedelta(seconds=1))
    assert message(world).status is S.SENT
    assert world.message(2) is None
    look(world, batch, DEADLINE)

    assert before.open == 1
    assert [message(world, n).status for n in (2, 3)] == [S.SKIPPED] * 2
    assert message(world, 2).cause == "sender_failed"
    assert world.account().reserved == 1
    assert summary(world)["status"] == "final"


def test_a_batch_that_never_began_is_skipped_as_a_whole(world: World) -> None:
    batch = world.has_batch(leads_of(3))

    look(world, batch, DEADLINE)

    assert {message(world, n).status for n in (1, 2, 3)} == {S.SKIPPED}
    assert (summary(world)["status"], summary(world)["held_parts"]) == ("final", 0)


def test_a_batch_with_leads_without_a_message_is_not_final_before_the_deadline(world: World) -> None:
    batch = world.has_batch(leads_of(3))
    world.admit(batch)
    world.send(batch, 1)
    everything_arrives(world)
    world.table.query(keys.batch_partition("renewals", "00001"))

    look(world, batch, timedelta(hours=1))

    assert summary(world)["status"] != "final"


def test_a_look_killed_at_any_write_ends_the_same(world: World) -> None:
    batch = sent_batch(world, 3, is_silent=True)
    everything_arrives(world)
    world.clock.moment = NOON + DEADLINE
    for write in range(1, 6):
        try:
            reconciler = type(world.reconciler())(
                killed_before_write(world.table, write), world.store, world.workflow, world.providers, world.clock.now()
            )
            reconciler.reconcile(OpenBatch(batch=batch), NOON + DEADLINE, Charging())
        except Killed:
            continue

    answer = look(world, batch, DEADLINE)

    assert answer.open == 0
    assert (summary(world)["held_parts"], summary(world)["consumed"]) == (3, 3)


def test_a_receipt_that_was_stored_and_never_applied_is_applied_at_the_deadline(world: World) -> None:
    batch = sent_batch(world, 2)
    stored = Receipt("renewals.00001.1", "SM0001", S.UNDELIVERED, "carrier_filtered")
    store_callback(world.table, "twilio", stored.message_id, {"MessageStatus": "undelivered"}, NOON, stored)

    look(world, batch, DEADLINE)

    assert (message(world).status, message(world).cause) == (S.UNDELIVERED, "carrier_filtered")
    assert message(world, 2).status is S.UNCONFIRMED


# -- counting and looking again ------------------------------------------------------------------------------------


def messages_read(world: World) -> int:
    """Return how many messages were read since the last call."""
    read = sum(call.items_read for call in world.calls if any("BATCH#" in str(access.pk) for access in call.keys))
    world.calls.clear()
    return read


def test_a_later_look_reads_only_what_was_open(world: World) -> None:
    batch = sent_batch(world, 5)
    for lead_no in (1, 2, 3):
        apply_receipt(world.table, Receipt(f"renewals.00001.{lead_no}", f"SM000{lead_no}", S.DELIVERED), NOON)

    world.calls.clear()
    answers = [(look(world, batch, timedelta(minutes=n)).open, messages_read(world)) for n in (1, 5)]

    assert answers == [(2, 5), (2, 2)]
    assert summary(world)["open_leads"] == [4, 5]


def test_a_look_that_runs_again_counts_nothing_twice(world: World) -> None:
    batch = sent_batch(world, 3)
    apply_receipt(world.table, Receipt("renewals.00001.1", "SM0001", S.DELIVERED), NOON)
    look(world, batch, timedelta(minutes=1))
    [one] = [OpenBatch.model_validate({"batch": batch, "open_leads": [2, 3], "counted": summary(world)["counted"]})]
    apply_receipt(world.table, Receipt("renewals.00001.2", "SM0002", S.DELIVERED), NOON)

    for _ in range(2):
        world.reconciler().reconcile(one, NOON + DEADLINE, Charging())
    look(world, batch, DEADLINE)

    assert summary(world)["messages"] == {"delivered": 2, "unconfirmed": 1}
    assert (summary(world)["held_parts"], summary(world)["consumed"]) == (3, 3)


def test_what_only_the_provider_knew_is_listed_by_lead(world: World) -> None:
    batch = sent_batch(world, 3)
    apply_receipt(world.table, Receipt("renewals.00001.1", "SM0001", S.DELIVERED), NOON)
    world.provider.statuses["SM0002"] = (S.UNDELIVERED, "landline")

    look(world, batch, DEADLINE)
    look(world, batch, DEADLINE)

    assert summary(world)["differences"] == [
        {"lead_no": 2, "ours": "sent", "provider": "undelivered", "cause": "landline", "provider_message_id": "SM0002"}
    ]


def planned(world: World, *batches: Batch) -> None:
    key = "campaigns/renewals/batches.json"
    world.store.put(key, json.dumps([batch.model_dump(mode="json") for batch in batches]).encode())
    count = sum(batch.leads for batch in batches)
    leads = LeadCounts.model_validate({"in": count, "accepted": count})
    keep_plan(world.table, "renewals", Plan(leads=leads, batches_manifest_key=key))


def open_ids(world: World, manifest_key: str) -> list[str]:
    return [one["batch"]["batch_id"] for one in json.loads(world.store.get(manifest_key))]


def test_final_batches_are_settled_and_the_others_listed(world: World) -> None:
    first, second = sent_batch(world), sent_batch(world, batch_id="00002")
    planned(world, first, second)
    everything_arrives(world)
    for lead_no in (1, 2, 3):
        world.provider.statuses[f"SM000{lead_no}"] = (S.DELIVERED, "")
    count(world, 0)
    look(world, first, DEADLINE)

    answer = count(world, 1)

    assert not answer.is_over
    assert answer.open_batches == 1
    assert open_ids(world, answer.manifest_key) == ["00002"]
    assert (world.account().reserved, world.account().consumed) == (3, 3)


def test_a_settling_killed_before_its_signal_signals_when_it_is_repeated(world: World) -> None:
    """Else a batch that waits for credits would wait on, with credits there."""
    world.provider.is_down = True
    batch = sent_batch(world)
    planned(world, batch)
    count(world, 0)
    look(world, batch, DEADLINE)  # nothing was taken, so all of it comes back
    world.has_waiting("00002", Cause.CREDITS)
    dying = killed_after_write(world.table, 1)
    with suppress(Killed):
        OpenCounter(dying, world.store, world.workflow, world.clock.now()).count("renewals", 1, NOON)
    assert (world.account().available, world.workflow.resumed) == (1000, [])

    count(world, 1)

    assert world.workflow.resumed == ["token-00002"]


def test_a_round_whose_close_never_ended_is_closed_before_its_batch_is_settled(world: World) -> None:
    batch = world.has_batch(leads_of(3))
    opt_out(world.table, "acme", phone_number(3), NOON.isoformat())
    world.send_all(batch, world.admit(batch))
    assert world.account().reserved == 3
    planned(world, batch)
    count(world, 0)
    look(world, batch, DEADLINE)

    answer = count(world, 1)

    assert answer.is_over
    assert (world.account().reserved, world.account().consumed) == (0, 2)
    assert world.credits_are_conserved()


def test_it_is_over_when_everything_is_settled(world: World) -> None:
    batch = sent_batch(world)
    planned(world, batch)
    count(world, 0)
    look(world, batch, DEADLINE)

    answer = count(world, 1)

    assert answer.is_over
    assert answer.open_batches == 0
    assert world.account().reserved == 0
    assert world.credits_are_conserved()


def test_a_campaign_without_a_plan_has_nothing_open(world: World) -> None:
    assert count(world, 0).is_over


@pytest.mark.parametrize("hours", [1, 72, 168])
def test_looks_come_at_growing_intervals_and_one_exactly_at_the_deadline(empty_world: World, hours: int) -> None:
    world = empty_world
    campaign = a_campaign(receipt_deadline_hours=hours)
    world.has(an_account(), Route(name="shared"), campaign)
    planned(world, world.has_batch(leads_of(1)))
    looks: list[datetime] = []
    now = NOON

    for look_no in range(len(LOOKS) + LOOKS_AFTER_DEADLINE + 1):
        answer = OpenCounter(world.table, world.store, world.workflow, now).count("renewals", look_no, NOON)
        assert answer.look == look_no + 1
        if answer.is_over:
            break
        now = datetime.fromisoformat(answer.next_look_at)
        looks.append(now)

    assert answer.is_over  # a report must come, even where the looks fail
    assert NOON + timedelta(hours=hours) == deadline(campaign, NOON)
    assert deadline(campaign, NOON) in looks
    assert looks == sorted(set(looks))
    until = [look for look in looks if look <= deadline(campaign, NOON)]
    assert until[0] - NOON == timedelta(seconds=30)
    assert all(later > earlier for earlier, later in itertools.pairwise(until))
    assert len([look for look in looks if look > deadline(campaign, NOON)]) >= LOOKS_AFTER_DEADLINE


def test_a_cancelled_campaign_is_reconciled_like_any_other(world: World) -> None:
    batch = sent_batch(world, 1)
    world.becomes(CampaignStatus.CANCELLED)

    assert look(world, batch, DEADLINE).open == 0
