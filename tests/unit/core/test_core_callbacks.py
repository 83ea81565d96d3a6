"""Callbacks: signed, kept raw, applied; what people wrote and who they are stays out of the inbox."""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import urlencode

import pytest

from paceline import keys
from paceline.adapters.twilio import Twilio, signature
from paceline.callbacks import Answer, Reply, take_callback
from paceline.claims import claim
from paceline.status import Cause, MessageStatus
from tests.builders.core import NOON, World, a_campaign, a_lead, a_message, an_account, phone_number

TOKEN = "secret-of-the-test"  # noqa: S105 (signs what this test itself checks)
URL = "https://api.example.com/v1/callbacks/twilio"
TWILIO = Twilio(lambda: json.dumps({"account_sid": "AC1", "auth_token": TOKEN}), URL)
ID = "renewals.00001.1"
RECEIPT = {
    "MessageSid": "SM1",
    "MessageStatus": "undelivered",
    "ErrorCode": "30007",
    "To": phone_number(1),
    "From": "+12025550100",
}


def call(world: World, query: Mapping[str, str], fields: Mapping[str, str], *, signed_with: str = TOKEN) -> Answer:
    return replied(world, query, fields, signed_with=signed_with).answer


def replied(world: World, query: Mapping[str, str], fields: Mapping[str, str], *, signed_with: str = TOKEN) -> Reply:
    url = f"{URL}?{urlencode(query)}" if query else URL
    given = signature(signed_with, url, fields)
    return take_callback(world.table, world.workflow, TWILIO, url, query, urlencode(fields), given, NOON)


@pytest.fixture
def claimed(world: World) -> World:
    claim(world.table, a_campaign(), a_message(1), a_lead(1), NOON)
    return world


def test_a_receipt_gives_its_message_the_outcome_and_the_cause(claimed: World) -> None:
    answer = call(claimed, {"message_id": ID}, RECEIPT)

    message = claimed.message()
    assert answer is Answer.TAKEN
    assert message is not None
    assert (message.status, message.cause) == (MessageStatus.UNDELIVERED, "carrier_filtered")
    assert message.provider_message_id == "SM1"


def test_the_inbox_keeps_no_number(claimed: World) -> None:
    call(claimed, {"message_id": ID}, RECEIPT)

    [kept] = claimed.table.query(keys.inbox(ID, "")[0])
    assert kept["fields"] == {"MessageSid": "SM1", "MessageStatus": "undelivered", "ErrorCode": "30007"}


def test_the_inbox_keeps_no_number_under_another_name(claimed: World) -> None:
    more = {"ChannelToAddress": f"sms:{phone_number(1)}", "Caller": "(202) 555-0101", "Short": "12345"}

    call(claimed, {"message_id": ID}, RECEIPT | more)

    [kept] = claimed.table.query(keys.inbox(ID, "")[0])
    assert kept["fields"].keys() == {"MessageSid", "MessageStatus", "ErrorCode", "Short"}


def test_what_the_provider_did_not_sign_changes_nothing(claimed: World) -> None:
    before = claimed.message()

    answer = call(claimed, {"message_id": ID}, RECEIPT, signed_with="another")

    assert answer is Answer.NOT_SIGNED
    assert claimed.message() == before
    assert not list(claimed.table.query(keys.inbox(ID, "")[0]))


def test_a_receipt_signed_for_another_message_is_refused(claimed: World) -> None:
    url = f"{URL}?message_id=renewals.00001.2"
    given = signature(TOKEN, url, RECEIPT)

    answer, _ = take_callback(
        claimed.table,
        claimed.workflow,
        TWILIO,
        f"{URL}?message_id={ID}",
        {"message_id": ID},
        urlencode(RECEIPT),
        given,
        NOON,
    )

    assert answer is Answer.NOT_SIGNED


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        pytest.param({}, RECEIPT, id="neither a receipt nor an inbound message"),
        pytest.param({"message_id": "nonsense"}, RECEIPT, id="an id that is not ours"),
        pytest.param({"message_id": ""}, RECEIPT, id="an empty id"),
        pytest.param({"message_id": ID}, {"MessageSid": "SM1"}, id="no status"),
        pytest.param({"message_id": ID}, {"MessageStatus": "sent"}, id="no provider id"),
        pytest.param({"account_id": "acme"}, {"From": phone_number(1)}, id="an inbound message without a text"),
        pytest.param({"account_id": "acme"}, {"Body": "STOP"}, id="an inbound message from nobody"),
    ],
)
def test_what_is_no_callback_is_malformed(claimed: World, query: Mapping[str, str], fields: Mapping[str, str]) -> None:
    assert call(claimed, query, fields) is Answer.MALFORMED


def test_a_receipt_for_a_message_that_we_do_not_have_is_taken_so_that_it_does_not_come_again(world: World) -> None:
    assert call(world, {"message_id": "renewals.00001.99"}, RECEIPT) is Answer.TAKEN
    assert world.message(99) is None


def test_a_word_that_nobody_knows_is_kept_and_changes_nothing(claimed: World) -> None:
    before = claimed.message()

    answer = call(claimed, {"message_id": ID}, RECEIPT | {"MessageStatus": "teleported"})

    assert answer is Answer.TAKEN
    assert claimed.message() == before
    assert len(list(claimed.table.query(keys.inbox(ID, "")[0]))) == 1


def writes(world: World, text: str, sender: str = phone_number(1), account_id: str = "acme") -> Reply:
    return replied(world, {"account_id": account_id}, {"From": sender, "Body": text})


def may_be_sent_to(world: World, lead_no: int = 1) -> bool:
    campaign = a_campaign(campaign_id=f"c-{lead_no}-{len(world.calls)}")
    return claim(world.table, campaign, a_message(lead_no), a_lead(lead_no), NOON) is not Cause.OPTED_OUT


@pytest.mark.parametrize(
    ("text", "stops"),
    [
        pytest.param("ＳＴＯＰ!", True, id="in full width"),
        pytest.param("please stop texting me", True, id="a polite sentence"),
        pytest.param("Please do not stop", False, id="a sentence that only has the word"),
        pytest.param("", False, id="nothing"),
    ],
)
def test_a_stop_word_opts_the_person_out_of_the_account(world: World, text: str, stops: bool) -> None:
    answer = writes(world, text).answer

    assert answer is Answer.TAKEN
    assert may_be_sent_to(world) is not stops


def test_a_stop_counts_whatever_spelling_the_senders_number_has(world: World) -> None:
    writes(world, "STOP", sender="(202) 555-0101")

    assert not may_be_sent_to(world, 1)


def test_start_ends_an_opt_out_and_another_stop_begins_one(world: World) -> None:
    may_be_sent_to_after = {}
    for text in ("STOP", "Start", "stop."):
        writes(world, text)
        may_be_sent_to_after[text] = may_be_sent_to(world)

    assert may_be_sent_to_after == {"STOP": False, "Start": True, "stop.": False}


def test_help_is_answered_with_the_accounts_text_and_changes_nothing(world: World) -> None:
    world.has(an_account(account_id="brokers", help_text="B & Co: quotes. Call 202-555-0100. Reply STOP to end."))

    reply = writes(world, "Help?", account_id="brokers")

    assert reply == (Answer.TAKEN, "B & Co: quotes. Call 202-555-0100. Reply STOP to end.")
    assert may_be_sent_to(world)
    content_type, body = TWILIO.reply(reply.text)
    assert content_type.startswith("text/xml")
    assert "<Message>B &amp; Co: quotes." in body


@pytest.mark.parametrize("account_id", ["acme", "nobody"])
def test_help_to_an_account_without_a_text_is_left_to_the_provider(world: World, account_id: str) -> None:
    assert writes(world, "HELP", account_id=account_id) == (Answer.TAKEN, "")
