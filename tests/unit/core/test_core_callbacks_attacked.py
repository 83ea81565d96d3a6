"""What an attacker can do with the address of callbacks: forge, reuse a signature, repeat, and send what is no form."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import pytest

from paceline import keys
from paceline.adapters.twilio import signature
from paceline.callbacks import MOST_CHARACTERS, Answer, take_callback
from paceline.claims import claim
from paceline.status import Cause
from tests.builders.core import NOON, World, a_campaign, a_lead, a_message, phone_number
from tests.unit.core.test_core_callbacks import ID, RECEIPT, TOKEN, TWILIO, URL

STOP = {"MessageSid": "SM5", "From": phone_number(1), "To": "+12025550100", "Body": "STOP"}
START = STOP | {"MessageSid": "SM6", "Body": "START"}
ASKED = f"{URL}?message_id={ID}"


def post(world: World, url: str, body: str, given: str) -> Answer:
    query = dict(pair.partition("=")[::2] for pair in url.partition("?")[2].split("&") if pair)
    return take_callback(world.table, world.workflow, TWILIO, url, query, body, given, NOON).answer


def signed_post(world: World, url: str, fields: Mapping[str, str]) -> Answer:
    return post(world, url, urlencode(fields), signature(TOKEN, url, fields))


def write(world: World, fields: Mapping[str, str], account_id: str = "acme") -> Answer:
    return signed_post(world, f"{URL}?account_id={account_id}", fields)


def all_rows(world: World) -> Any:
    return world.table._client.scan(TableName=world.table._name)["Items"]


def may_be_sent_to(world: World) -> bool:
    campaign = a_campaign(campaign_id=f"c-{len(world.calls)}")
    return claim(world.table, campaign, a_message(1), a_lead(1), NOON) is not Cause.OPTED_OUT


@pytest.fixture
def claimed(world: World) -> World:
    claim(world.table, a_campaign(), a_message(1), a_lead(1), NOON)
    return world


GOOD = signature(TOKEN, ASKED, RECEIPT)
BODY = urlencode(RECEIPT)


@pytest.mark.parametrize(
    ("url", "body", "given"),
    [
        pytest.param(ASKED, BODY, "", id="no signature"),
        pytest.param(ASKED, BODY, GOOD[:-1], id="a signature cut short"),
        pytest.param(ASKED, BODY, GOOD.swapcase(), id="in another case"),
        pytest.param(ASKED, BODY, f" {GOOD}", id="with a blank"),
        pytest.param(ASKED, BODY, "\u00e9\u00ff", id="no ASCII"),
        pytest.param(ASKED, BODY, signature("", ASKED, RECEIPT), id="signed with nothing"),
        pytest.param(f"{URL}?message_id=renewals.00001.2", BODY, GOOD, id="for another message"),
        pytest.param(f"{URL}?account_id=acme", urlencode(STOP), GOOD, id="for another kind"),
        pytest.param(f"{ASKED}&message_id=renewals.00001.2", BODY, GOOD, id="a second id"),
        pytest.param(f"{URL}?a=b&message_id={ID}", BODY, GOOD, id="more in the query"),
        pytest.param(ASKED.replace("api", "API"), BODY, GOOD, id="the host in capitals"),
        pytest.param(ASKED.replace("example.com", "example.com:443"), BODY, GOOD, id="the host with its port"),
        pytest.param(ASKED.replace("/twilio", "/twilio/"), BODY, GOOD, id="another path"),
        pytest.param(ASKED, BODY + "&MessageStatus=delivered", GOOD, id="a field twice"),
        pytest.param(ASKED, BODY + "&ErrorCode2=1", GOOD, id="a field more"),
        pytest.param(ASKED, BODY.replace("undelivered", "delivered"), GOOD, id="another status"),
        pytest.param(ASKED, '{"MessageSid": "SM1", "MessageStatus": "failed"}', GOOD, id="JSON"),
        pytest.param(ASKED, "", GOOD, id="nothing"),
        pytest.param(ASKED, "\ufffd\x00", GOOD, id="bytes"),
    ],
)
def test_what_is_not_signed_as_it_came_changes_nothing(claimed: World, url: str, body: str, given: str) -> None:
    before = all_rows(claimed)

    assert post(claimed, url, body, given) is Answer.NOT_SIGNED
    assert all_rows(claimed) == before


def test_a_stop_that_nobody_signed_opts_nobody_out(world: World) -> None:
    url = f"{URL}?account_id=acme"

    answer = post(world, url, urlencode(STOP), signature(TOKEN, f"{URL}?account_id=brokers", STOP))

    assert answer is Answer.NOT_SIGNED
    assert may_be_sent_to(world)


def test_a_receipt_played_back_changes_nothing(claimed: World) -> None:
    signed_post(claimed, ASKED, RECEIPT)
    signed_post(claimed, ASKED, RECEIPT | {"MessageStatus": "delivered"})
    before = all_rows(claimed)

    assert signed_post(claimed, ASKED, RECEIPT) is Answer.TAKEN
    assert all_rows(claimed) == before


def test_a_start_played_back_ends_no_stop_that_came_after_it(world: World) -> None:
    for said in (STOP, START, STOP | {"MessageSid": "SM7"}):
        write(world, said)
    before = all_rows(world)

    assert write(world, STOP) is Answer.TAKEN
    assert write(world, START) is Answer.TAKEN
    assert all_rows(world) == before
    assert not may_be_sent_to(world)


def test_a_start_that_had_nothing_to_end_ends_nothing_later(world: World) -> None:
    write(world, START)
    write(world, STOP)

    write(world, START)

    assert not may_be_sent_to(world)


def test_a_word_to_one_account_is_none_to_another(world: World) -> None:
    write(world, STOP, "brokers")
    assert may_be_sent_to(world)

    write(world, STOP, "acme")
    assert not may_be_sent_to(world)


@pytest.mark.parametrize("account_id", ["a%23b", "", "acme#x", "..", "ACME", "a" * 3000, "acme\n", "ａcme"])
def test_no_account_that_cannot_be_becomes_part_of_a_key(world: World, account_id: str) -> None:
    before = all_rows(world)
    url = f"{URL}?account_id=x"
    given = signature(TOKEN, url, STOP)

    answer = take_callback(
        world.table, world.workflow, TWILIO, url, {"account_id": account_id}, urlencode(STOP), given, NOON
    ).answer

    assert answer is Answer.MALFORMED
    assert all_rows(world) == before


@pytest.mark.parametrize(
    "message_id",
    [
        "a#b.00001.1",
        "../../x.00001.1",
        "renewals.00001#LEASE.1",
        "renewals.00001.\u0661",
        "renewals.00001.-1",
        "renewals.00001. 1",
        "renewals.00001.1_0",
        "renewals.00001." + "9" * 5000,
        "a" * 3000 + ".00001.1",
        "renewals.00001.1\n",
        "renewals.00001",
        "renewals.00001.1.1",
    ],
)
def test_no_id_that_we_never_made_becomes_part_of_a_key(message_id: str) -> None:
    with pytest.raises(ValueError, match="no id of a message"):
        keys.parse_message_id(message_id)


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param(STOP | {"From": "9" * 3000}, id="a sender without end"),
        pytest.param(STOP | {"From": ""}, id="no sender"),
        pytest.param(STOP | {"Body": "STOP " * 20_000}, id="a text without end"),
        pytest.param(RECEIPT | {"MessageSid": "S" * MOST_CHARACTERS}, id="a provider's id without end"),
    ],
)
def test_what_no_provider_sends_is_malformed_and_writes_nothing(world: World, fields: dict[str, str]) -> None:
    before = all_rows(world)

    assert write(world, fields) is Answer.MALFORMED
    assert all_rows(world) == before


def test_a_million_fields_are_refused_before_they_are_taken_apart(world: World) -> None:
    body = "&".join(f"a{number}=" for number in range(500_000))
    began = time.process_time()

    assert post(world, ASKED, body, GOOD) is Answer.MALFORMED
    assert time.process_time() - began < 0.1
