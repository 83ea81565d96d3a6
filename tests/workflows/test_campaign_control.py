"""Pause, resume and cancel while a campaign runs: within a bound, nothing lost, nothing twice."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from paceline.api_keys import key_id_of
from tests.builders.campaigns import CUSTOMER, Office, Refusal, an_office, is_balanced

# Messages that may still go after a pause was accepted: those whose sender had read the campaign's status before.
# At 240 a minute one sender starts every quarter second and takes well under a second.
IN_FLIGHT = 4


def running(office: Office, leads: int, after: int) -> None:
    """Start a campaign and let some of its messages go."""
    office.start(leads)
    office.wait_until(lambda: office.sent >= after)


def test_a_paused_campaign_stops_within_a_bound_and_goes_on_where_it_was() -> None:
    with an_office() as office:
        running(office, 100, after=20)

        paused = office.change("pause")
        at_pause = office.sent
        office.passes(minutes=30)
        while_paused = office.sent
        [hold] = office.shown()["held_by"]
        office.change("resume")
        resumed_at = office.now
        office.wait_until(lambda: office.sent > while_paused)
        first = min(at for at in office.sent_times() if at > resumed_at)
        report = office.report()

        assert while_paused - at_pause <= IN_FLIGHT
        assert paused["pause_bound_seconds"] == 5
        [pause] = report["pauses"]
        assert pause["paused_at"] == paused["paused_at"]
        assert pause["paused_by"] == pause["resumed_by"] == key_id_of(CUSTOMER)
        assert while_paused - at_pause <= pause["sent_after"] <= IN_FLIGHT
        assert (pause["last_sent_after_seconds"] or 0) <= paused["pause_bound_seconds"]
        assert hold["cause"] == "paused"
        assert first - resumed_at <= timedelta(seconds=2)
        assert is_balanced(office, report)
        assert report["outcomes"]["delivered"] == office.sent == 100
        assert office.most_texts_to_one_person() == 1
        assert office.most_parts_in_a_minute() <= 240


def test_a_paused_campaign_holds_no_credits_that_it_does_not_use() -> None:
    with an_office() as office:
        running(office, 100, after=20)

        office.change("pause")
        office.passes(minutes=5)

        assert office.account().reserved == office.sent


def test_pausing_and_resuming_again_and_again_loses_and_repeats_nothing() -> None:
    with an_office() as office:
        office.start(60)
        for seconds in (2, 3, 5, 1, 4):
            office.passes(seconds=seconds)
            office.change("pause")
            office.passes(seconds=seconds)
            office.change("resume")

        report = office.report()

        assert is_balanced(office, report)
        assert report["outcomes"]["delivered"] == office.sent == 60
        assert office.most_texts_to_one_person() == 1


def test_a_cancelled_campaign_ends_in_a_balanced_report_with_the_rest_skipped() -> None:
    with an_office() as office:
        running(office, 100, after=20)

        office.change("cancel")
        at_cancel = office.sent
        report = office.report()

        assert report["status"] == "cancelled"
        assert is_balanced(office, report)
        assert office.sent - at_cancel <= IN_FLIGHT
        assert report["outcomes"]["skipped"] == 100 - office.sent
        assert report["causes"]["skipped"] == {"cancelled": 100 - office.sent}
        assert office.shown()["status"] == "cancelled"


def test_a_campaign_cancelled_while_it_is_paused_ends_at_once() -> None:
    with an_office() as office:
        running(office, 60, after=10)
        office.change("pause")
        office.passes(minutes=1)

        office.change("cancel")
        cancelled_at = office.now
        report = office.report()

        assert is_balanced(office, report)
        assert report["outcomes"]["skipped"] == 60 - office.sent
        # Its receipts are still waited for, by looks at growing intervals.
        assert office.now - cancelled_at < timedelta(minutes=20)


def test_a_campaign_cancelled_while_it_waits_for_credits_ends() -> None:
    with an_office(credits=5) as office:
        office.start(10)
        office.passes(minutes=10)

        office.change("cancel")
        report = office.report()

        assert is_balanced(office, report)
        assert report["outcomes"] | {"skipped": 5, "delivered": 5} == report["outcomes"]


def test_a_campaign_cancelled_while_it_waits_for_the_morning_sends_nothing_then() -> None:
    with an_office(start=datetime.fromisoformat("2026-09-03T02:00:00Z")) as office:  # ten in the evening in New York
        office.start(10)
        office.passes(minutes=10)

        office.change("cancel")
        report = office.report()
        office.passes(hours=24)

        assert office.sent == 0
        assert is_balanced(office, report)
        assert report["causes"]["skipped"] == {"cancelled": 10}
        assert office.account().reserved == 0


def test_a_cancelled_campaign_cannot_be_resumed() -> None:
    with an_office() as office:
        running(office, 30, after=5)
        office.change("cancel")

        with pytest.raises(Refusal) as refused:
            office.change("resume")

        assert refused.value.status == 422
        assert "cancelled" in refused.value.problem["detail"]
        assert office.report()["status"] == "cancelled"


def test_a_lowered_cap_binds_within_the_horizon_without_a_restart() -> None:
    with an_office() as office:
        running(office, 200, after=30)

        office.set_route(parts_per_minute=30)
        lowered_at = office.now
        report = office.report()

        later = [at for at in office.sent_times() if at > lowered_at + timedelta(seconds=60)]
        most = max(sum(at <= other < at + timedelta(seconds=60) for other in later) for at in later)
        assert most <= 30
        assert is_balanced(office, report)
