"""Receipts: whatever their order and number, the same receipts end in the same state and the same money."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paceline import keys
from paceline.claims import claim, note_unknown, record_sent
from paceline.models import Message
from paceline.receipts import Receipt, apply_receipt, store_callback
from paceline.settlement import is_charged
from paceline.status import FINAL, CampaignStatus, MessageStatus
from tests.builders.core import NOON, World, a_campaign, a_lead, a_message

S = MessageStatus
ID = "renewals.00001.1"


_leads = count(1)


def outcome(world: World, steps: list[MessageStatus | str]) -> Message:
    """Claim a message and let the steps happen in that order; return what its row says then."""
    lead_no = next(_leads)
    message = a_message(lead_no)
    assert claim(world.table, a_campaign(), message, a_lead(lead_no), NOON) is None
    for minute, step in enumerate(steps):
        now = NOON + timedelta(minutes=minute)
        if step == "record":
            record_sent(world.table, "renewals", message, "SM1", NOON, NOON)
        elif step == "doubt":
            note_unknown(world.table, "renewals", message)
        else:
            apply_receipt(world.table, Receipt(f"renewals.00001.{lead_no}", "SM1", MessageStatus(step)), now)
    result = world.message(lead_no)
    assert result is not None
    return result


WORDS = [S.SENT, S.DELIVERED, S.UNDELIVERED, S.FAILED, S.UNCONFIRMED]


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(data=st.data(), receipts=st.lists(st.sampled_from(WORDS), max_size=6))
def test_any_order_of_the_same_receipts_gives_the_same_status_and_charge(
    world: World, data: st.DataObject, receipts: list[MessageStatus]
) -> None:
    steps = [*receipts, data.draw(st.sampled_from(["record", "doubt"])), "record"]

    one, other = (outcome(world, data.draw(st.permutations(steps))) for _ in range(2))

    assert one.status is other.status
    assert is_charged(one) is is_charged(other)
    assert one.provider_message_id == other.provider_message_id == "SM1"
    assert (one.final_at is None) is (one.status not in FINAL)


@pytest.mark.parametrize(
    ("receipts", "status"),
    [
        pytest.param([S.SENT, S.DELIVERED], S.DELIVERED, id="in order"),
        pytest.param([S.DELIVERED, S.SENT], S.DELIVERED, id="out of order"),
        pytest.param([S.UNDELIVERED, S.DELIVERED], S.DELIVERED, id="contradicting: delivered is proof"),
        pytest.param([S.DELIVERED, S.UNDELIVERED], S.DELIVERED, id="contradicting, the other way round"),
        pytest.param([S.UNCONFIRMED, S.DELIVERED], S.DELIVERED, id="after the deadline"),
        pytest.param([S.UNCONFIRMED, S.SENT], S.UNCONFIRMED, id="a mere `sent` after the deadline changes nothing"),
        pytest.param([S.FAILED, S.UNDELIVERED], S.UNDELIVERED, id="failed, then undelivered: it was taken"),
        pytest.param(["doubt", S.SENT], S.SENT, id="unknown, then a receipt with our id"),
    ],
)
def test_the_higher_word_wins(world: World, receipts: list[MessageStatus | str], status: MessageStatus) -> None:
    assert outcome(world, receipts).status is status


@pytest.mark.parametrize(
    ("status", "provider_id", "charged"),
    [
        pytest.param(S.DELIVERED, "SM1", True, id="delivered"),
        pytest.param(S.UNDELIVERED, "SM1", True, id="undelivered: the provider took it"),
        pytest.param(S.FAILED, "SM1", False, id="refused"),
        pytest.param(S.UNCONFIRMED, "SM1", True, id="unconfirmed, taken by the provider"),
        pytest.param(S.UNCONFIRMED, "", False, id="unconfirmed, and no sign that it was taken"),
        pytest.param(S.SKIPPED, "", False, id="skipped"),
    ],
)
def test_only_what_the_provider_took_is_charged(status: MessageStatus, provider_id: str, charged: bool) -> None:
    assert is_charged(a_message(status=status, provider_message_id=provider_id)) is charged


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

    assert not changed
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

    assert not apply_receipt(world.table, Receipt(ID, "SM1", S.DELIVERED), NOON)


def test_a_receipt_for_a_message_that_we_never_wrote_makes_no_row(world: World) -> None:
    assert not apply_receipt(world.table, Receipt("renewals.00001.99", "SM1", S.DELIVERED), NOON)

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
