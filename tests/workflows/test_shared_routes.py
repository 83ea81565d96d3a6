"""A route that campaigns share: by weight, the small one soon done, never over its caps, and probing after a 429."""

from __future__ import annotations

from typing import Any

from sandbox.carrier import DELIVERED, Profile
from sandbox.gateway import Answer
from sandbox.world import CARRIER_HOST
from tests.builders.campaigns import Office, an_office, is_balanced

ALWAYS = {"opens": "00:00", "closes": "00:00"}
REFUSING = Profile(shares=((DELIVERED, 1.0),), refused=(), doubled=0.0, throttled=1.0, retry_after=5)


def times_of(office: Office, campaign_id: str) -> list[int]:
    """Return when the carrier accepted a campaign's messages, microseconds since 1970."""
    return [at for at, _, message_id in office.sandbox.carrier.parts_accepted() if message_id.startswith(campaign_id)]


def test_campaigns_of_equal_weight_finish_their_first_messages_together() -> None:
    with an_office(credits=1000, route={"parts_per_minute": 240}) as office:
        began = {}
        for campaign_id in ("one", "two", "three"):
            began[campaign_id] = office.sandbox.scheduler.microseconds
            office.start(200, campaign_id, sending_window=ALWAYS)
        office.passes(seconds=160)

        took = [(times_of(office, one)[159] - began[one]) / 1e6 for one in began]
        # A batch is ten seconds of the route: with three campaigns nobody is further behind than four of them.
        assert max(took) - min(took) <= 45
        assert sum(took) / 3 <= 1.1 * 3 * 160 / 4
        assert office.most_parts_in_a_minute() <= 240


def test_a_campaign_of_ten_is_done_within_a_minute_behind_a_large_one() -> None:
    with an_office(credits=1000, route={"parts_per_minute": 240}) as office:
        office.start(600, "large", sending_window=ALWAYS)
        office.passes(seconds=45)

        began = office.sandbox.scheduler.microseconds
        office.start(10, "small", sending_window=ALWAYS)
        office.passes(seconds=60)

        assert len(times_of(office, "small")) == 10
        assert times_of(office, "small")[-1] - began <= 60_000_000


def test_no_more_sends_are_under_way_than_the_route_may_have_at_once() -> None:
    with an_office(route={"parts_per_minute": 600, "concurrency": 3}) as office:
        under_way, most = 0, 0
        handle = office.sandbox.carrier.handle

        def counted(*request: Any) -> Answer:
            nonlocal under_way, most
            under_way += 1
            most = max(most, under_way)
            try:
                return handle(*request)
            finally:
                under_way -= 1

        office.sandbox.network.add(CARRIER_HOST, counted)
        office.start(120, sending_window=ALWAYS)
        report = office.report()

        assert office.sent == 120
        assert is_balanced(office, report)
        assert 1 < most <= 3


def test_a_provider_that_refuses_for_an_hour_costs_no_lead_and_the_route_is_back_at_full_speed() -> None:
    with an_office(route={"parts_per_minute": 240}, profile=REFUSING) as office:
        office.start(100, sending_window=ALWAYS)
        office.passes(hours=1)
        assert office.sent == 0
        assert office.sandbox.engine.transitions < 60 * 100

        office.sandbox.carrier.behave(Profile(shares=((DELIVERED, 1.0),), refused=(), doubled=0.0))
        recovered = office.now
        report = office.report()

        assert report["outcomes"]["delivered"] == 100
        assert report["lost_to"]["provider_throttled"] > 1800
        assert (max(office.sent_times()) - recovered).total_seconds() < 300
