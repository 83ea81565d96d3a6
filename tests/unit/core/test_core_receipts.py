"""Receipts: whatever their order and number, the same receipts end in the same state and the same money."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import partial
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paceline import keys
from paceline.claims import claim, note_unknown, record_sent
from paceline.models import Charging, Message
from paceline.receipts import NO_EVIDENCE, NO_FINAL_RECEIPT, Effect, Receipt, apply_receipt, store_callback
from paceline.receiving import take_receipt
from paceline.settlement import is_charged
from paceline.status import FINAL, CampaignStatus, MessageStatus
from sandbox.dynamodb import Latency
from tests.builders.core import NOON, World, a_campaign, a_lead, a_message, a_world, an_account

S = MessageStatus
ID = "renewals.00001.1"


_leads = count(1)


Step = MessageStatus | str | tuple[MessageStatus, str]


def outcome(world: World, steps: Iterable[Step]) -> Message:
    """Claim a message and let the steps happen in that order; return what its row says then.

    A step: a receipt's status, with or without its cause; "record", "doubt"; "deadline".
    """
    lead_no = next(_leads)
    message = a_message(lead_no)
    assert claim(world.table, a_campaign(), message, a_lead(lead_no), NOON) is None
    for minute, step in enumerate(steps):
        _happen(world, message, step, NOON + timedelta(minutes=minute))
    result = world.message(lead_no)
    assert result is not None
    return result


def _happen(world: World, message: Message, step: Step, now: datetime) -> None:
    message_id = f"renewals.00001.{message.lead_no}"
    match step:
        case "record":
            record_sent(world.table, "renewals", message, "SM1", NOON, NOON)
        case "doubt":
            note_unknown(world.table, "renewals", message)
        case "deadline":
            found = world.message(message.lead_no)
            assert found is not None
            if found.status not in FINAL:
                cause = NO_FINAL_RECEIPT if found.provider_message_id else NO_EVIDENCE
                last = Receipt(message_id, found.provider_message_id, S.UNCONFIRMED, cause)
                apply_receipt(world.table, last, now)
        case (status, cause):
            apply_receipt(world.table, Receipt(message_id, "SM1", MessageStatus(status), cause), now)
        case status:
            apply_receipt(world.table, Receipt(message_id, "SM1", MessageStatus(status)), now)


CAUSES = ["", "unknown_error", "carrier_filtered", "unreachable", "provider_30999"]
RECEIPTS = st.one_of(
    st.sampled_from([S.SENT, S.DELIVERED]),
    st.tuples(st.sampled_from([S.UNDELIVERED, S.FAILED]), st.sampled_from(CAUSES)),
)


@settings(max_examples=200, suppress_health_check=list(HealthCheck))
@given(data=st.data(), receipts=st.lists(RECEIPTS, max_size=6), charging=st.builds(Charging))
def test_any_order_of_the_same_receipts_gives_the_same_row_and_the_same_money(
    world: World, data: st.DataObject, receipts: list[Step], charging: Charging
) -> None:
    ending = data.draw(st.sampled_from(["record", "doubt"]), label="what became of its sender")
    one, other = (outcome(world, _in_some_order(data, [*receipts, ending])) for _ in range(2))

    assert (one.status, one.cause, one.provider_message_id) == (other.status, other.cause, other.provider_message_id)
    assert is_charged(one, charging) is is_charged(other, charging)
    assert one.status in FINAL
    assert one.final_at is not None


def _in_some_order(data: st.DataObject, steps: list[Step]) -> list[Step]:
    """Return the steps in any order, the deadline anywhere behind the end of the sender, which lives for seconds."""
    order = list(data.draw(st.permutations(steps)))
    ended = min(order.index(step) for step in ("record", "doubt") if step in order)
    order.insert(data.draw(st.integers(ended + 1, len(order))), "deadline")
    return order


@pytest.mark.parametrize(
    ("receipts", "status"),
    [
        pytest.param([S.SENT, S.DELIVERED], S.DELIVERED, id="in order"),
        pytest.param([S.DELIVERED, S.SENT], S.DELIVERED, id="out of order"),
        pytest.param([S.UNDELIVERED, S.DELIVERED], S.DELIVERED, id="contradicting: delivered is proof"),
        pytest.param([S.DELIVERED, S.UNDELIVERED], S.DELIVERED, id="contradicting, the other way round"),
        pytest.param([S.UNCONFIRMED, S.DELIVERED], S.DELIVERED, id="after the deadline"),
        pytest.param(["deadline", S.SENT], S.UNCONFIRMED, id="a mere `sent` after the deadline ends nothing"),
        pytest.param([S.FAILED, S.UNDELIVERED], S.UNDELIVERED, id="failed, then undelivered: it was taken"),
        pytest.param(["doubt", S.SENT], S.SENT, id="unknown, then a receipt with our id"),
    ],
)
def test_the_higher_word_wins(world: World, receipts: list[MessageStatus | str], status: MessageStatus) -> None:
    assert outcome(world, receipts).status is status


def test_a_late_sent_is_evidence_that_it_was_taken(world: World) -> None:
    late = outcome(world, ["doubt", "deadline", S.SENT])

    assert (late.status, late.cause, late.provider_message_id) == (S.UNCONFIRMED, NO_FINAL_RECEIPT, "SM1")


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)], ids=["one order", "the other"])
@pytest.mark.parametrize(
    ("causes", "kept"),
    [
        pytest.param(["unreachable", "carrier_filtered"], "unreachable", id="the last of the alphabet"),
        pytest.param(["unknown_error", "landline"], "landline", id="the one that says more"),
        pytest.param(["", "unknown_error"], "unknown_error", id="any word before none"),
    ],
)
def test_of_two_causes_one_stays_whatever_their_order(world: World, causes: list[str], kept: str, order: slice) -> None:
    assert outcome(world, [(S.UNDELIVERED, cause) for cause in causes][order]).cause == kept


BY_SUBMITTED, UNFILTERED = Charging(), Charging(filtered=False)
BY_DELIVERED = Charging(charged="delivered")


@pytest.mark.parametrize(
    ("status", "cause", "provider_id", "charged"),
    [
        pytest.param(S.DELIVERED, "", "SM1", [True, True, True], id="delivered"),
        pytest.param(S.UNDELIVERED, "unreachable", "SM1", [True, True, False], id="undelivered: the provider took it"),
        pytest.param(S.UNDELIVERED, "carrier_filtered", "SM1", [True, False, False], id="filtered"),
        pytest.param(S.FAILED, "landline", "SM1", [False] * 3, id="refused"),
        pytest.param(S.UNCONFIRMED, "", "SM1", [True, True, False], id="unconfirmed, taken by the provider"),
        pytest.param(S.UNCONFIRMED, "", "", [False] * 3, id="unconfirmed, and no sign that it was taken"),
        pytest.param(S.SKIPPED, "", "", [False] * 3, id="skipped"),
    ],
)
def test_the_accounts_policy_says_what_is_charged(
    status: MessageStatus, cause: str, provider_id: str, charged: list[bool]
) -> None:
    message = a_message(status=status, cause=cause, provider_message_id=provider_id)

    assert [is_charged(message, policy) for policy in (BY_SUBMITTED, UNFILTERED, BY_DELIVERED)] == charged


def test_a_receipt_writes_its_own_messages_row_and_nothing_else(world: World) -> None:
    claim(world.table, a_campaign(), a_message(1), a_lead(1), NOON)
    world.calls.clear()

    apply_receipt(world.table, Receipt(ID, "SM1", S.DELIVERED), NOON)

    touched = [(access.action, access.pk, access.sk) for call in world.calls for access in call.keys]
    assert touched == [("Update", *keys.message("renewals", "00001", 1))]


def test_a_receipt_of_the_same_word_again_changes_nothing(world: World) -> None:
    claim(world.table, a_campaign(), a_message(1), a_lead(1), NOON)
    apply_receipt(world.table, Receipt(ID, "SM1", S.DELIVERED), NOON)
    before = world.message()

    changed = apply_receipt(world.table, Receipt(ID, "SM1", S.DELIVERED), NOON + timedelta(hours=1))

    assert changed is Effect.NONE
    assert world.message() == before


def test_a_better_word_takes_its_cause_along(world: World) -> None:
    claim(world.table, a_campaign(), a_message(1), a_lead(1), NOON)
    apply_receipt(world.table, Receipt(ID, "SM1", S.UNDELIVERED, "carrier_filtered"), NOON)

    apply_receipt(world.table, Receipt(ID, "SM1", S.DELIVERED), NOON)

    message = world.message()
    assert message is not None
    assert (message.status, message.cause) == (S.DELIVERED, "")


def test_a_skipped_message_stays_skipped(world: World) -> None:
    batch = world.has_batch([a_lead(1)])
    world.becomes(CampaignStatus.CANCELLED)
    world.admit(batch)

    assert apply_receipt(world.table, Receipt(ID, "SM1", S.DELIVERED), NOON) is Effect.NONE


def test_a_receipt_for_a_message_that_we_never_wrote_makes_no_row(world: World) -> None:
    assert apply_receipt(world.table, Receipt("renewals.00001.99", "SM1", S.DELIVERED), NOON) is Effect.NONE

    assert world.message(99) is None


@pytest.mark.parametrize("message_id", ["", "renewals", "renewals.00001", "a.b.c", "a.b.1.2"])
def test_an_id_that_is_not_ours_is_an_error(world: World, message_id: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        apply_receipt(world.table, Receipt(message_id, "SM1", S.DELIVERED), NOON)


def test_a_raw_callback_is_kept_once_however_often_it_comes(world: World) -> None:
    for hour in range(3):
        fields = {"MessageSid": "SM1", "MessageStatus": "delivered"}
        store_callback(world.table, "twilio", ID, fields, NOON + timedelta(hours=hour))
    store_callback(world.table, "twilio", ID, {"MessageSid": "SM1", "MessageStatus": "sent"}, NOON)

    kept = [row["fields"]["MessageStatus"] for row in world.table.query(keys.inbox(ID, "")[0])]
    assert Counter(kept) == {"delivered": 1, "sent": 1}


def test_receipts_of_one_message_at_one_moment_all_count() -> None:
    five, ten = (lambda: 0.005), (lambda: 0.010)
    with a_world(Latency(read=five, write=five, prepare=ten, commit=ten)) as world:
        world.has(an_account(), a_campaign())
        claim(world.table, a_campaign(), a_message(1), a_lead(1), NOON)
        causes = ("blocked", "unreachable")  # each beats the one before
        words = [*((S.UNDELIVERED, cause) for cause in causes), (S.DELIVERED, "")]

        def receive(status: MessageStatus, cause: str) -> None:
            take_receipt(world.table, world.workflow, Receipt(ID, "SM1", status, cause), NOON)

        answers = world.together(*[partial(receive, *word) for word in words], apart_seconds=0.001)

        assert answers == [None] * len(words)
        message = world.message(1)
        assert message is not None
        assert message.status is S.DELIVERED
