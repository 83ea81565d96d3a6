"""What a campaign knows of people ends at one moment, no earlier than it needs it; an opt-out never ends."""

from __future__ import annotations

from datetime import timedelta

import pytest

from paceline import keys
from paceline.campaigns import get_campaign
from paceline.carriers import import_carriers
from paceline.claims import claim
from paceline.errors import ObjectNotFound, RequestInvalid
from paceline.explain import explain_lead
from paceline.models import Campaign, Route
from paceline.moments import iso
from paceline.opt_outs import opt_in, opt_out
from paceline.receipts import store_callback
from paceline.retention import INBOX
from paceline.starting import start_campaign
from paceline.status import CampaignStatus
from paceline.table import Delete
from tests.builders.core import NOON, World, a_campaign, a_lead, a_message, an_account, phone_number
from tests.builders.recounts import counted, ends, has_planned, sends, told

KEPT = NOON + timedelta(days=400)
CAMPAIGN = a_campaign(kept_until=KEPT)
PERSON = keys.recipient("acme", phone_number(1))


def expires_at(world: World, key: keys.Key) -> int | None:
    row = world.table.get(key)
    assert row is not None
    return row.get("expires_at")


def claims(world: World, campaign: Campaign = CAMPAIGN, **message: str) -> None:
    assert claim(world.table, campaign, a_message(**message), a_lead(), NOON) is None


def test_a_message_and_its_recipient_end_with_their_campaign(world: World) -> None:
    claims(world)

    at = int(KEPT.timestamp())
    assert expires_at(world, keys.message("renewals", "00001", 1)) == expires_at(world, PERSON) == at


def test_who_is_written_to_again_is_kept_until_the_later_campaign_ends(world: World) -> None:
    claims(world)
    later = KEPT + timedelta(days=1)
    claims(world, a_campaign(campaign_id="reminders", kept_until=later))

    assert expires_at(world, PERSON) == int(later.timestamp())


def test_an_opt_out_has_no_end_whenever_it_comes(world: World) -> None:
    claims(world)

    opt_out(world.table, "acme", phone_number(1), iso(NOON))

    assert expires_at(world, PERSON) is None
    assert expires_at(world, keys.opt_out("acme", phone_number(1))) is None


def test_that_start_came_after_a_stop_can_be_shown_for_ever(world: World) -> None:
    opt_out(world.table, "acme", phone_number(1), iso(NOON))
    opt_in(world.table, "acme", phone_number(1), iso(NOON))

    claims(world)
    claims(world, batch_id="00002")

    assert expires_at(world, PERSON) is None
    assert (world.table.get(PERSON) or {})["opted_in_at"] == iso(NOON)


def test_raw_callbacks_and_carriers_end_too(world: World) -> None:
    store_callback(world.table, "twilio", "renewals.00001.1", {"MessageStatus": "sent"}, NOON)
    import_carriers(world.table, "acme", [(1, phone_number(1), "Verizon")], NOON, 400)

    [raw] = world.table.query(keys.inbox("renewals.00001.1", "")[0])
    assert raw["expires_at"] == int((NOON + INBOX).timestamp())
    assert expires_at(world, keys.carrier("acme", phone_number(1))) == int(KEPT.timestamp())


def test_a_start_notes_when_its_leads_end_once(empty_world: World) -> None:
    world = empty_world
    world.has(an_account(), a_campaign(status=CampaignStatus.CREATED))

    for days_later in (0, 5):
        campaign = get_campaign(world.table, "renewals")
        start_campaign(world.table, world.workflow, campaign, NOON + timedelta(days=days_later), 400)

    assert get_campaign(world.table, "renewals").kept_until == KEPT


def test_a_campaign_that_would_outlive_its_leads_is_not_started(empty_world: World) -> None:
    """On the last day that is possible it is: 3 days for receipts and 30 for late words are left."""
    world = empty_world
    good = a_campaign(status=CampaignStatus.CREATED, send_by=KEPT - timedelta(days=33))
    late = good.model_copy(update={"campaign_id": "late", "send_by": KEPT - timedelta(days=32, hours=23)})
    world.has(an_account(), good, late)

    start_campaign(world.table, world.workflow, good, NOON, 400)
    with pytest.raises(RequestInvalid, match=r"kept for 400 days.*1 day earlier, by `send_by`"):
        start_campaign(world.table, world.workflow, late, NOON, 400)

    assert get_campaign(world.table, "late").status is CampaignStatus.CREATED


@pytest.fixture
def past(empty_world: World) -> World:
    """A campaign that is settled, a year ago: its messages and objects were deleted."""
    world = empty_world
    world.has(an_account(), Route(name="shared"), a_campaign(kept_until=KEPT))
    [batch] = has_planned(world, (1, 2, 1))
    sends(world, batch)
    ends(world, batch)
    world.clock.moment = KEPT
    for row in list(world.table.query(keys.batch_partition("renewals", "00001"), keys.MESSAGES)):
        world.table.delete(Delete((row["pk"], row["sk"])))
    world.store.objects.clear()
    return world


def test_an_audit_does_not_miss_messages_that_are_no_longer_kept(past: World) -> None:
    found = counted(past)

    assert told(found) == []
    [account] = found.accounts
    assert account.expected["consumed"] == 4
    [campaign] = account.campaigns
    assert (campaign.batches, campaign.consumed) == (1, 4)
    assert "kept until 2027-10-07" in campaign.notes[0].text


def test_an_audit_still_finds_credits_that_no_batch_took(past: World) -> None:
    past.table.delete(Delete(keys.lease("renewals", "00001", 1)))

    assert told(counted(past)) != []


def test_messages_that_are_missing_while_they_are_kept_are_a_fault(past: World) -> None:
    past.clock.moment = KEPT - timedelta(seconds=1)

    with pytest.raises(ObjectNotFound):
        counted(past)


def test_a_lead_that_is_no_longer_kept_is_told_so(past: World) -> None:
    with pytest.raises(ObjectNotFound, match="leads were kept until 2027-10-07"):
        explain_lead(past.table, past.store, "renewals", "1", {})
