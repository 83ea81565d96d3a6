"""Events of a provider's topic: kept before they are applied, and each word of AWS's list has its meaning."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import boto3
import pytest

from paceline import keys
from paceline.adapters.end_user_messaging import EndUserMessaging
from paceline.adapters.end_user_messaging_codes import EVENTS
from paceline.claims import claim
from paceline.errors import RequestMalformed
from paceline.events import NOBODYS, take_event
from paceline.models import Route
from paceline.status import Cause, MessageStatus
from tests.builders.core import NOON, World, a_campaign, a_lead, a_message, phone_number

READER = EndUserMessaging(lambda: None, "", "PROMOTIONAL")
ID, OURS = "renewals.00001.1", "+12025550199"
S = MessageStatus


def an_event(**changes: Any) -> dict[str, Any]:
    return {
        "eventType": "TEXT_DELIVERED",
        "eventVersion": "1.0",
        "isFinal": True,
        "originationPhoneNumber": OURS,
        "destinationPhoneNumber": phone_number(1),
        "messageId": "m-1",
        "context": {"message_id": ID},
        "totalMessageParts": 1,
        "totalMessagePrice": 0.00581,
    } | changes


def words(text: str, sender: str = phone_number(1), to: str = OURS) -> dict[str, Any]:
    return {"originationNumber": sender, "destinationNumber": to, "messageBody": text, "inboundMessageId": "i-1"}


def take(world: World, event: object, published: datetime = NOON) -> None:
    text = event if isinstance(event, str) else json.dumps(event)
    take_event(world.table, world.workflow, READER, text, NOON, published)


def kept(world: World, message_id: str = ID) -> list[dict[str, str]]:
    return [row["fields"] for row in world.table.query(keys.inbox(message_id, "")[0])]


@pytest.fixture
def claimed(world: World) -> World:
    claim(world.table, a_campaign(), a_message(1), a_lead(1), NOON)
    return world


@pytest.mark.parametrize(
    ("event", "status", "cause"),
    [
        pytest.param({}, S.DELIVERED, "", id="delivered"),
        pytest.param({"eventType": "TEXT_QUEUED", "isFinal": False}, S.SENT, "", id="queued"),
        pytest.param({"eventType": "TEXT_SUCCESSFUL"}, S.SENT, "", id="the carrier took it, which is no handset"),
        pytest.param({"eventType": "TEXT_SPAM"}, S.UNDELIVERED, "carrier_filtered", id="taken for spam"),
        pytest.param({"eventType": "TEXT_TTL_EXPIRED"}, S.UNDELIVERED, "expired", id="expired"),
        pytest.param({"eventType": "TEXT_INVALID"}, S.FAILED, "invalid_number", id="no such number"),
        pytest.param({"eventType": "TEXT_UNKNOWN"}, S.SENT, "", id="they do not know"),
        pytest.param({"eventType": "TEXT_CARRIER_UNREACHABLE", "isFinal": False}, S.SENT, "", id="not for good yet"),
        pytest.param({"eventType": "TEXT_CARRIER_UNREACHABLE"}, S.UNDELIVERED, "carrier_unreachable", id="for good"),
    ],
)
def test_an_event_gives_its_message_the_status_and_the_cause(
    claimed: World, event: dict[str, Any], status: MessageStatus, cause: str
) -> None:
    take(claimed, an_event(**event))

    message = claimed.message()
    assert message is not None
    assert (message.status, message.cause, message.provider_message_id) == (status, cause, "m-1")


def test_every_type_of_botocores_own_list_has_a_meaning() -> None:
    """A type that AWS adds is seen here when botocore is."""
    client = boto3.Session("a", "b", region_name="us-east-1").client("pinpoint-sms-voice-v2")
    operation = client.meta.service_model.operation_model("CreateEventDestination")
    listed = operation.input_shape.members["MatchingEventTypes"].member.enum

    assert {one for one in listed if one.startswith("TEXT_")} - {"TEXT_ALL"} == EVENTS.keys()


def test_the_inbox_keeps_the_event_without_its_numbers(claimed: World) -> None:
    take(claimed, an_event())

    [fields] = kept(claimed)
    assert fields["eventType"] == "TEXT_DELIVERED"
    assert fields["totalMessagePrice"] == "0.00581"
    assert "555" not in json.dumps(fields)


def test_a_type_that_nobody_knows_is_kept_and_changes_nothing(claimed: World) -> None:
    before = claimed.message()

    take(claimed, an_event(eventType="TEXT_TELEPORTED"))

    assert claimed.message() == before
    assert len(kept(claimed)) == 1


@pytest.mark.parametrize(
    "context",
    [
        pytest.param({}, id="none"),
        pytest.param(None, id="null"),
        pytest.param({"message_id": "another system's"}, id="another system's"),
        pytest.param({"order": "17"}, id="other words"),
    ],
)
def test_an_event_of_a_message_that_is_not_ours_is_kept_and_changes_nothing(claimed: World, context: Any) -> None:
    before = claimed.message()

    take(claimed, an_event(context=context))

    assert claimed.message() == before
    assert len(kept(claimed, NOBODYS)) == 1


def test_an_event_of_a_message_that_we_do_not_have_is_kept(world: World) -> None:
    take(world, an_event(context={"message_id": "renewals.00001.99"}))

    assert world.message(99) is None
    assert len(kept(world)) == 1


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("{", id="no JSON"),
        pytest.param("[1]", id="a list"),
        pytest.param("{}", id="no event"),
        pytest.param('{"eventType": "TEXT_DELIVERED"}', id="of no message"),
        pytest.param('{"eventType": ["TEXT_DELIVERED"], "messageId": "m-1"}', id="a type that is no word"),
    ],
)
def test_what_is_no_event_is_an_error_that_ends_in_the_queue_of_lost_ones(world: World, text: str) -> None:
    with pytest.raises(RequestMalformed):
        take(world, text)


def may_be_sent_to(world: World, account_id: str) -> bool:
    campaign = a_campaign(campaign_id=f"c-{account_id}-{len(world.calls)}", account_id=account_id)
    return claim(world.table, campaign, a_message(1), a_lead(1), NOON) is not Cause.OPTED_OUT


@pytest.mark.parametrize(
    "route",
    [
        pytest.param({"sender": OURS}, id="the route's sender"),
        pytest.param({"sender": "pool-1", "inbound_numbers": (OURS,)}, id="a number of the route's pool"),
    ],
)
def test_a_stop_opts_the_person_out_of_each_account_whose_leads_answer_to_the_number(
    world: World, route: dict[str, Any]
) -> None:
    accounts = ("acme", "brokers")
    world.has(
        Route.model_validate({"name": "aws", "provider": "end_user_messaging", "inbound_accounts": accounts} | route)
    )

    take(world, words("Stop."))

    assert [may_be_sent_to(world, one) for one in ("acme", "brokers", "others")] == [False, False, True]


def test_a_stop_to_a_number_of_another_providers_route_is_nobodys(world: World) -> None:
    world.has(Route(name="twilios", sender=OURS, inbound_accounts=("acme",)))

    take(world, words("STOP"))

    assert may_be_sent_to(world, "acme")


def test_a_start_that_a_queue_repeats_ends_no_stop_that_came_after_it(world: World) -> None:
    world.has(Route(name="aws", provider="end_user_messaging", sender=OURS, inbound_accounts=("acme",)))
    start = words("START")
    for said in (start, words("STOP") | {"inboundMessageId": "i-2"}, start):
        take(world, said)

    assert claim(world.table, a_campaign(), a_message(1), a_lead(1), NOON) is Cause.OPTED_OUT


def test_a_start_that_a_queue_held_back_ends_no_stop_that_was_said_after_it(world: World) -> None:
    world.has(Route(name="aws", provider="end_user_messaging", sender=OURS, inbound_accounts=("acme",)))
    take(world, words("STOP") | {"inboundMessageId": "i-2"}, NOON)

    take(world, words("START"), NOON - timedelta(days=10))

    assert claim(world.table, a_campaign(), a_message(1), a_lead(1), NOON) is Cause.OPTED_OUT
    take(world, words("START") | {"inboundMessageId": "i-3"}, NOON + timedelta(seconds=1))
    assert claim(world.table, a_campaign(), a_message(1), a_lead(1), NOON) is not Cause.OPTED_OUT


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 100_000, id="nested without end"),
        pytest.param('{"eventType": ' * 50_000, id="objects in objects"),
        pytest.param("9" * 5000, id="a number without end"),
        pytest.param('{"eventType": NaN, "messageId": NaN}', id="no numbers"),
        pytest.param("\x00", id="no JSON"),
    ],
)
def test_what_no_provider_publishes_is_refused_by_name(world: World, text: str) -> None:
    with pytest.raises(RequestMalformed):
        take(world, text)
