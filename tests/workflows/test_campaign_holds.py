"""What can hold a campaign, in the whole system: each hold ends at the end of its cause, or by a signal at once."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from sandbox.carrier import DELIVERED, Profile
from tests.builders.campaigns import Office, an_office, is_balanced

SIGNAL_SECONDS = 2.0


def held_by(office: Office) -> dict[str, dict[str, object]]:
    """Return what holds the campaign now, by cause."""
    return {hold["cause"]: hold for hold in office.shown()["held_by"]}


def first_sent_after(office: Office, moment: datetime) -> timedelta:
    return min(at for at in office.sent_times() if at > moment) - moment


def has_resumed(office: Office, before: int) -> None:
    office.wait_until(lambda: office.sent > before, step_seconds=0.1, most_hours=0.1)


def test_too_few_credits_hold_the_rest_until_credits_are_bought() -> None:
    with an_office(credits=13) as office:
        office.start(40)
        office.passes(minutes=30)

        hold = held_by(office)["credits"]
        assert office.sent == 13
        assert (hold["used"], hold["limit"], hold["until"]) == (27, 0, None)

        answer = office.buy(100)
        bought_at = office.now
        has_resumed(office, 13)
        report = office.report()

        assert answer["released_batches"] == 1
        assert first_sent_after(office, bought_at).total_seconds() <= SIGNAL_SECONDS
        assert is_balanced(office, report)
        assert report["outcomes"]["delivered"] == 40
        assert report["lost_to"]["credits"] > 1700


def test_no_credits_at_all_hold_the_whole_campaign() -> None:
    with an_office(credits=0) as office:
        office.start(5)
        office.passes(hours=5)

        assert office.sent == 0
        assert set(held_by(office)) == {"credits"}

        office.buy(5)

        assert is_balanced(office, office.report())
        assert office.sent == 5


def test_a_day_cap_is_reached_to_the_last_part_and_goes_on_at_midnight_of_the_routes_zone() -> None:
    route = {"parts_per_day": 50, "time_zone": "America/New_York"}
    with an_office(route=route) as office:
        office.start(60, sending_window={"opens": "00:00", "closes": "00:00"})
        office.passes(hours=1)

        midnight = datetime.fromisoformat("2026-09-03T04:00:00Z")
        hold = held_by(office)["route_day_cap"]
        assert office.sent == 50
        assert (hold["used"], hold["limit"]) == (50, 50)
        assert datetime.fromisoformat(str(hold["until"])) == midnight

        report = office.report()

        assert is_balanced(office, report)
        assert office.sent == 60
        tomorrow = [at for at in office.sent_times() if at >= midnight]
        assert len(tomorrow) == 10
        assert (tomorrow[0] - midnight).total_seconds() <= 5  # a second's rounding, a Wait's, a cold start's


def test_a_raised_day_cap_goes_on_at_once() -> None:
    with an_office(route={"parts_per_day": 10}) as office:
        office.start(20)
        office.wait_until(lambda: "route_day_cap" in held_by(office), step_seconds=5)
        before = office.sent

        office.set_route(parts_per_day=1000)
        raised_at = office.now
        has_resumed(office, before)

        assert before == 10
        assert first_sent_after(office, raised_at).total_seconds() <= SIGNAL_SECONDS
        assert is_balanced(office, office.report())
        assert office.sent == 20


def test_an_accounts_day_cap_holds_too() -> None:
    with an_office(parts_per_day=7) as office:
        office.start(10, sending_window={"opens": "00:00", "closes": "00:00"})
        office.passes(minutes=10)

        assert office.sent == 7
        assert held_by(office)["account_day_cap"]["limit"] == 7

        assert is_balanced(office, office.report())
        assert office.sent == 10


def test_a_disabled_route_holds_and_an_enabled_one_goes_on() -> None:
    with an_office(route={"is_enabled": False}) as office:
        office.start(5)
        office.passes(hours=2)
        assert office.sent == 0
        assert set(held_by(office)) == {"route_disabled"}

        office.set_route(is_enabled=True)

        assert is_balanced(office, office.report())
        assert office.sent == 5


def test_a_closed_window_is_waited_for_until_it_opens() -> None:
    night = datetime.fromisoformat("2026-09-03T02:30:00Z")  # 22:30 in New York
    opening = datetime.fromisoformat("2026-09-03T12:00:00Z")
    with an_office(start=night) as office:
        office.start(10)

        report = office.report()

        assert is_balanced(office, report)
        times = office.sent_times()
        assert min(times) >= opening
        assert (min(times) - opening).total_seconds() <= 5
        assert report["lost_to"]["sending_window"] > 9 * 3600


def test_a_window_that_closes_in_mid_campaign_is_kept() -> None:
    evening = datetime.fromisoformat("2026-09-03T00:59:50Z")  # 20:59:50 in New York
    closing, opening = datetime.fromisoformat("2026-09-03T01:00:00Z"), datetime.fromisoformat("2026-09-03T12:00:00Z")
    with an_office(start=evening) as office:
        office.start(60)

        report = office.report()

        times = office.sent_times()
        assert is_balanced(office, report)
        assert len(times) == 60
        assert 0 < len([at for at in times if at < closing]) < 60
        assert not [at for at in times if closing <= at < opening]


def test_a_campaign_held_for_thirty_days_ends_and_its_histories_stay_small() -> None:
    with an_office(credits=3) as office:
        office.start(10)

        report = office.report()

        assert is_balanced(office, report)
        assert report["outcomes"]["skipped"] == 7
        assert report["causes"]["skipped"] == {"credits": 7}
        assert (office.now - min(office.sent_times())) > timedelta(days=29)
        assert max(len(history) for _, history in office.histories()) < 1000


def test_credits_that_another_campaign_gives_back_are_used() -> None:
    refusing = Profile(shares=((DELIVERED, 1.0),), refused=(("21614", 0.5),))
    with an_office(credits=40, profile=refusing) as office:
        office.start(40)
        office.passes(seconds=20)
        office.start(40, "another")
        office.report()
        before = office.sent

        office.passes(hours=1)

        assert office.sent > before


def test_a_429_stops_the_route_for_as_long_as_it_asks() -> None:
    with an_office() as office:
        office.start(200)
        office.wait_until(lambda: office.sent >= 60)
        carrier = office.sandbox.carrier
        carrier.profile, kind = replace(carrier.profile, throttled=1.0, retry_after=20), carrier.profile
        calls: list[int] = []
        handle = carrier._send
        carrier._send = lambda form: (calls.append(1), handle(form))[1]  # type: ignore[func-returns-value, method-assign]

        office.passes(seconds=20)
        carrier.profile = kind
        report = office.report()

        assert is_balanced(office, report)
        assert len(calls) <= 200 - 60 + 10
