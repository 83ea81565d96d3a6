"""What a provider's book proves: only a message that can be no other of ours."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from paceline import keys
from paceline.campaigns import get_campaign
from paceline.claims import claim, record_sent
from paceline.evidence import LATEST, look_up
from paceline.models import Campaign
from paceline.moments import iso
from paceline.ports import Doubt, OutgoingMessage, ProviderRecord
from paceline.status import MessageStatus
from paceline.table import Update
from tests.builders.core import NOON, World, a_campaign, a_lead, a_message, an_account
from tests.fakes.services import FakeProvider

MINE = a_campaign(campaign_id="mine")
OTHER = a_campaign(campaign_id="other")


class Asked(FakeProvider):
    """Keeps what it was asked for."""

    def look_up(self, message: OutgoingMessage, doubt: Doubt) -> ProviderRecord | None:
        self.doubt: Doubt | None = doubt
        return ProviderRecord("SM9", MessageStatus.SENT, "")


def claimed(world: World, campaign: Campaign, at: datetime, provider_message_id: str = "") -> None:
    message = a_message(1)
    claim(world.table, campaign, message, a_lead(1), at)
    if provider_message_id:
        record_sent(world.table, campaign.campaign_id, message, provider_message_id, at, at)


def claimed_as(world: World, campaign: Campaign, provider_message_id: str) -> None:
    """Let a claimed message be known to the provider by this id."""
    record_sent(world.table, campaign.campaign_id, a_message(1), provider_message_id, NOON, NOON)


def asked(world: World, *claims: datetime) -> Any:
    lead, provider = a_lead(1), Asked()
    outgoing = OutgoingMessage(
        keys.message_id("mine", "00001", 1), "+12025550100", lead.phone_number, lead.text, 86_400
    )
    found = look_up(world.table, provider, "acme", outgoing, claims or (NOON,))
    return getattr(provider, "doubt", None), found


def test_the_only_message_to_a_person_is_looked_for_around_its_claim(world: World) -> None:
    claimed(world, MINE, NOON)

    doubt, found = asked(world)

    assert (doubt.since, doubt.until) == (NOON - timedelta(minutes=1), NOON + LATEST)
    assert doubt.known == set()
    assert found is not None


def test_another_accounts_message_to_the_same_person_may_be_the_one_in_the_book(world: World) -> None:
    """They send on one route, from one number, and perhaps the same words."""
    world.has(an_account(account_id="birch"), a_campaign(campaign_id="theirs", account_id="birch"))
    claimed(world, MINE, NOON)
    theirs = get_campaign(world.table, "theirs")
    claimed(world, theirs, NOON + timedelta(seconds=2))

    in_doubt, nothing = asked(world)
    claimed_as(world, theirs, "SM7")
    known, found = asked(world)

    assert (in_doubt, nothing) == (None, None)
    assert (known.known, found is not None) == ({"SM7"}, True)


def test_what_another_message_to_the_same_person_is_known_to_be_is_no_evidence(world: World) -> None:
    claimed(world, OTHER, NOON - timedelta(seconds=30), "SM1")
    claimed(world, MINE, NOON)

    doubt, _ = asked(world)

    assert doubt.known == {"SM1"}


@pytest.mark.parametrize("seconds", [-300, -30, 0, 300])
def test_where_another_message_to_the_same_person_is_in_doubt_too_nothing_is_proved(world: World, seconds: int) -> None:
    claimed(world, MINE, NOON)
    claimed(world, OTHER, NOON + timedelta(seconds=seconds))

    doubt, found = asked(world)

    assert (doubt, found) == (None, None)


@pytest.mark.parametrize("minutes", [-30, 30])
def test_another_message_in_doubt_at_another_time_is_no_rival(world: World, minutes: int) -> None:
    claimed(world, MINE, NOON)
    claimed(world, OTHER, NOON + timedelta(minutes=minutes))

    _, found = asked(world)

    assert found is not None


def test_of_another_message_that_was_claimed_twice_the_first_text_may_be_what_the_book_shows(world: World) -> None:
    claimed(world, MINE, NOON)
    later = NOON + timedelta(minutes=40)
    claimed(world, OTHER, later, "SM1")
    key = keys.message("other", "00001", 1)
    world.table.update(Update(key, "SET #first_claimed_at = :first", {"first": iso(NOON)}))

    assert asked(world) == (None, None)


def test_a_rival_of_one_claim_is_none_of_the_others(world: World) -> None:
    later = NOON + timedelta(minutes=40)
    claimed(world, MINE, later)
    claimed(world, OTHER, NOON)

    doubt, found = asked(world, NOON, later)

    assert (doubt.until, found is not None) == (later + LATEST, True)
