"""Whole campaigns: the real template, definitions and handlers, from the API to the report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import boto3
import pytest
from moto.events.models import events_backends

from paceline.contracts import check
from paceline.models import Account
from sandbox.carrier import DELIVERED, FILTERED, NO_FINAL_RECEIPT, Profile
from sandbox.deployment import ACCOUNT, REGION
from tests.builders.campaigns import Office, an_office, is_balanced


def test_a_campaign_ends_with_a_report_whose_sums_close() -> None:
    with an_office(profile=Profile(exact=((DELIVERED, 30), (FILTERED, 8), (NO_FINAL_RECEIPT, 7)))) as office:
        execution = office.start(45)

        report = office.report()

        assert execution.status == "SUCCEEDED"
        assert is_balanced(office, report)
        assert report["leads"] == {"in": 45, "rejected": 0, "duplicates": 0, "opted_out": 0, "accepted": 45}
        assert report["outcomes"] == {
            "delivered": 30,
            "undelivered": 8,
            "failed": 0,
            "skipped": 0,
            "unconfirmed": 7,
        }
        assert office.most_texts_to_one_person() == 1
        assert office.shown()["status"] == "finished"
        outcomes = [row["outcome"] for row in office.rows("outcomes.csv")]
        assert len(outcomes) == 45
        assert outcomes.count("unconfirmed") == 7


@pytest.mark.parametrize(("cap", "leads"), [(30, 45), (240, 120), (6000, 120)])
def test_no_rolling_minute_of_the_carriers_book_holds_more_than_the_cap(cap: int, leads: int) -> None:
    with an_office(route={"parts_per_minute": cap}) as office:
        office.start(leads)

        report = office.report()

        assert is_balanced(office, report)
        assert office.sent == leads
        assert office.most_parts_in_a_minute() <= cap
        assert report["max_sent_in_60_seconds"]["shared"] <= cap


def test_messages_of_several_parts_keep_the_cap_too() -> None:
    with an_office(route={"parts_per_minute": 20}) as office:
        long = "Hi {{first_name}}. " + "Your renewal is due. " * 8
        office.start(20, message=long)

        report = office.report()

        parts = sum(parts for _, parts, _ in office.sandbox.carrier.parts_accepted())
        assert parts == 40
        assert is_balanced(office, report)
        assert report["credits"]["consumed"] == parts
        assert office.most_parts_in_a_minute() <= 20


def test_two_campaigns_on_one_route_keep_its_cap_together() -> None:
    with an_office(route={"parts_per_minute": 60}) as office:
        office.start(45)
        office.start(45, "another")

        reports = [office.report(), office.report("another")]

        assert all(report["balanced"] for report in reports)
        assert office.sent == 90
        assert office.most_parts_in_a_minute() <= 60
        assert office.account() == Account(account_id="acme", available=910, consumed=90, bought=1000)


def test_the_end_of_a_campaign_is_on_the_bus_and_fits_its_contract() -> None:
    with an_office() as office:
        archive = archived(office)
        office.start(3)

        report = office.report()

        [event] = archive()
        assert (event["source"], event["detail-type"]) == ("paceline", "Campaign Finished")
        check("events/campaign-finished", event["detail"])
        chosen = ("campaign_id", "status", "balanced", "headline", "leads", "outcomes", "credits")
        assert {name: event["detail"][name] for name in chosen} == {name: report[name] for name in chosen}


def archived(office: Office) -> Callable[[], list[dict[str, Any]]]:
    """Let the bus keep its events; return how to read them."""
    events = boto3.client("events")
    [bus] = [b for b in events.list_event_buses()["EventBuses"] if b["Name"] == office.sandbox.outputs["BusName"]]
    events.create_archive(ArchiveName="all", EventSourceArn=bus["Arn"])
    return lambda: events_backends[ACCOUNT][REGION].archives["all"].events


def test_a_file_that_cannot_be_used_ends_in_a_report_that_says_so() -> None:
    with an_office() as office:
        archive = archived(office)
        execution = office.start(b"name\nAna\n")

        report = office.report()

        assert execution.status == "FAILED"
        assert report["status"] == office.shown()["status"] == "failed"
        assert report["reason"].startswith("LeadFileInvalid: ")
        [event] = archive()
        check("events/campaign-finished", event["detail"])
        assert event["detail"]["status"] == "failed"
