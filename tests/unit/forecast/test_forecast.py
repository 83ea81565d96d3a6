"""The forecast against answers that can be reckoned by hand: 240 parts a minute are 4 a second."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.forecast import EFFICIENCY, AccountCaps, Forecast, Never, RouteCaps, Span, StreamLeft, forecast
from paceline.models import SendingWindow
from paceline.status import Cause

NEW_YORK = "America/New_York"
NOON = datetime.fromisoformat("2026-09-02T16:00:00Z")  # in New York
MIDNIGHT = datetime.fromisoformat("2026-09-03T04:00:00Z")
ALWAYS = SendingWindow.model_validate({"opens": "00:00", "closes": "00:00"})
DAYTIME = SendingWindow.model_validate({"opens": "08:00", "closes": "21:00"})
SHARED = RouteCaps("shared", 240)


def a_stream(parts: int, campaign_id: str = "spring", stream: str = "shared-01", **changes: Any) -> StreamLeft:
    defaults = {"route": "shared", "windows": (ALWAYS,), "zones": (NEW_YORK,)}
    return StreamLeft(campaign_id, stream, parts=parts, **(defaults | changes))


def foretold(
    *streams: StreamLeft, routes: tuple[RouteCaps, ...] = (SHARED,), now: datetime = NOON, **accounts: AccountCaps
) -> Forecast:
    """Forecast the campaign "spring", at the full pace."""
    return forecast("spring", streams, {route.name: route for route in routes}, accounts, now, efficiency=1.0)


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def test_the_pace_alone_takes_what_the_parts_take() -> None:
    assert foretold(a_stream(1000)).finish_at == NOON + seconds(250)


def test_a_route_gives_a_little_less_than_its_cap() -> None:
    finish_at = forecast("spring", [a_stream(1000)], {"shared": SHARED}, {}, NOON).finish_at

    assert finish_at == NOON + timedelta(microseconds=round(250e6 / EFFICIENCY))


@pytest.mark.parametrize(
    ("parts", "took"),
    [
        pytest.param(100, 25 * 0.95, id="within its first minute"),
        pytest.param(240, 57, id="all of it"),
        pytest.param(241, 60.25, id="one part more waits until the minute is over"),
        pytest.param(480, 120, id="from then on evenly"),
    ],
)
def test_a_route_that_rested_gives_its_cap_early_and_then_nothing_until_its_minute_is_over(
    parts: int, took: float
) -> None:
    told = foretold(a_stream(parts), routes=(replace(SHARED, is_fresh=True),))

    assert told.finish_at == NOON + seconds(took)
    assert told.spans == (Span(Cause.PACE, "shared", NOON, NOON + seconds(took)),)


def test_two_streams_share_a_routes_first_minute() -> None:
    told = foretold(a_stream(100), a_stream(200, stream="shared-02"), routes=(replace(SHARED, is_fresh=True),))

    assert told.finish_at == NOON + seconds(75)  # the sixty that are left begin at 60 s


@pytest.mark.parametrize(
    ("concurrency", "parts_per_minute", "parts", "took"),
    [
        pytest.param(None, 240, 400, 100, id="no cap"),
        pytest.param(8, 240, 400, 100, id="half of it is enough for the pace"),
        pytest.param(1, 240, 400, 400 * 0.45 + 10 * 0.75, id="one at a time, in ten rounds of forty"),
        pytest.param(2, 60, 400, 400, id="a slow route"),
        pytest.param(4, 6000, 4000, 4000 * 0.1125 + 10 * 2.0, id="a fast route, in ten rounds of four hundred"),
    ],
)
def test_a_cap_on_concurrency_slows_a_route_where_it_gives_less_than_the_pace(
    concurrency: int | None, parts_per_minute: int, parts: int, took: float
) -> None:
    capped = RouteCaps("shared", parts_per_minute, concurrency=concurrency)

    told = foretold(a_stream(parts), routes=(capped,))

    assert told.finish_at is not None
    assert (told.finish_at - NOON).total_seconds() == pytest.approx(took, abs=0.01)


def test_texts_that_leave_the_ends_of_minutes_empty_take_longer() -> None:
    assert foretold(a_stream(180, room_a_part=20 / 18)).finish_at == NOON + seconds(50)


def test_nothing_left_is_done_now() -> None:
    assert foretold(a_stream(0)).finish_at == NOON


@pytest.mark.parametrize(
    ("now", "midnight"),
    [
        pytest.param("2026-09-02T16:00:00Z", "2026-09-03T04:00:00Z", id="a day of 24 hours"),
        # New York's clocks go back at 2:00 on 1 November, and forward at 2:00 on 8 March.
        pytest.param("2026-11-01T05:00:00Z", "2026-11-02T05:00:00Z", id="a day of 25 hours"),
        pytest.param("2026-03-08T06:00:00Z", "2026-03-09T04:00:00Z", id="a day of 23 hours"),
    ],
)
def test_a_day_cap_holds_until_midnight_of_the_routes_zone(now: str, midnight: str) -> None:
    start, end = datetime.fromisoformat(now), datetime.fromisoformat(midnight)
    capped = RouteCaps("shared", 240, parts_per_day=600, used_today=100)

    told = foretold(a_stream(1000), routes=(capped,), now=start)

    assert told.finish_at == end + seconds(125)
    assert told.spans == (
        Span(Cause.PACE, "shared", start, start + seconds(125)),
        Span(Cause.ROUTE_DAY_CAP, "shared", start + seconds(125), end),
        Span(Cause.PACE, "shared", end, end + seconds(125)),
    )


def test_a_day_cap_that_others_use_up_too_is_shared() -> None:
    capped = RouteCaps("shared", 240, parts_per_day=600)

    told = foretold(a_stream(400), a_stream(400, "autumn"), routes=(capped,))

    assert told.finish_at == MIDNIGHT + seconds(50)  # 300 of each today, 100 of each tomorrow


def test_a_window_that_closes_in_between_is_waited_for() -> None:
    evening = datetime.fromisoformat("2026-09-03T00:59:00Z")  # a minute before nine in New York
    opening = datetime.fromisoformat("2026-09-03T12:00:00Z")

    told = foretold(a_stream(1000, windows=(DAYTIME,)), now=evening)

    assert told.finish_at == opening + seconds(190)
    assert Span(Cause.SENDING_WINDOW, "shared", evening + seconds(60), opening) in told.spans


@pytest.mark.parametrize(
    ("own", "other", "microseconds"),
    [
        # 3 and 1 a second: a thousand parts take 333.3 s.
        pytest.param(3, 1, 333_333_333, id="the heavier ends first"),
        # 1 and 3 a second: after 333.3 s the other is done, and the 666.7 that are left go at 4.
        pytest.param(1, 3, 500_000_000, id="what it leaves the lighter takes"),
        pytest.param(2, 2, 500_000_000, id="equal shares"),
    ],
)
def test_two_campaigns_share_by_weight(own: int, other: int, microseconds: int) -> None:
    told = foretold(a_stream(1000, weight=own), a_stream(1000, "autumn", weight=other))

    assert told.finish_at == NOON + timedelta(microseconds=microseconds)


def test_a_campaign_that_may_not_send_leaves_its_share() -> None:
    closed = SendingWindow.model_validate({"opens": "14:00", "closes": "15:00"})

    assert foretold(a_stream(1000), a_stream(5000, "autumn", windows=(closed,))).finish_at == NOON + seconds(250)


def test_a_campaign_of_an_account_without_credits_leaves_its_share() -> None:
    others = a_stream(5000, "autumn", account_id="other")

    # Two a second each until the other's 100 credits are used up after 50 s; the rest at 4 a second.
    assert foretold(a_stream(1000), others, other=AccountCaps(credits=100)).finish_at == NOON + seconds(50 + 225)


def test_streams_of_one_campaign_on_one_route_end_together() -> None:
    told = foretold(a_stream(900), a_stream(100, stream="shared-02"))

    assert {stream.finish_at for stream in told.streams.values()} == {NOON + seconds(250)}


def test_routes_do_not_wait_for_each_other() -> None:
    told = foretold(
        a_stream(1000), a_stream(1000, stream="fast-01", route="fast"), routes=(SHARED, RouteCaps("fast", 2400))
    )

    assert told.streams["fast-01"].finish_at == NOON + seconds(25)
    assert told.finish_at == NOON + seconds(250)
    assert told.last_stream is told.streams["shared-01"]


def test_credits_that_are_short_are_named_and_only_a_signal_ends_it() -> None:
    told = foretold(a_stream(1000, account_id="acme"), acme=AccountCaps(credits=700))

    assert told.finish_at is None
    assert told.never == (Never(Cause.CREDITS, "shared", 300, is_late=False),)
    assert told.spans[-1] == Span(Cause.CREDITS, "shared", NOON + seconds(175), None)


def test_what_the_account_lacks_is_one_sum_over_all_its_routes() -> None:
    told = foretold(
        a_stream(600, account_id="acme"),
        a_stream(400, stream="slow-01", route="slow", account_id="acme"),
        routes=(SHARED, RouteCaps("slow", 240)),
        acme=AccountCaps(credits=700),
    )

    assert told.never == (Never(Cause.CREDITS, "shared", 300, is_late=False),)


def test_day_caps_beyond_send_by_say_how_much_is_left() -> None:
    capped, send_by = RouteCaps("shared", 240, parts_per_day=100), NOON + timedelta(days=2)

    told = foretold(a_stream(1000, send_by=send_by), routes=(capped,))

    assert told.finish_at is None
    assert told.never == (Never(Cause.ROUTE_DAY_CAP, "shared", 700, is_late=True),)  # three days of a hundred


def test_a_send_by_in_the_middle_of_sending_leaves_the_rest() -> None:
    told = foretold(a_stream(1000, send_by=NOON + seconds(100)))

    assert told.never == (Never(Cause.PACE, "shared", 600, is_late=True),)


def test_a_window_that_never_opens_says_so() -> None:
    early = SendingWindow.model_validate({"opens": "08:00", "closes": "09:00"})

    told = foretold(a_stream(10, windows=(early,), zones=(NEW_YORK, "Pacific/Honolulu")))

    assert told.never == (Never(Cause.SENDING_WINDOW, "shared", 10, is_late=False),)


@pytest.mark.parametrize(
    ("hours", "sent_at"),
    [
        pytest.param(("14:00", "18:00"), 2, id="opens later"),
        pytest.param(("09:00", "11:00"), 21, id="is over for today"),
        pytest.param(("22:00", "09:00"), 20, id="over midnight"),  # both are open from 8:00 to 9:00
    ],
)
def test_an_accounts_window_narrows_the_campaigns(hours: tuple[str, str], sent_at: int) -> None:
    narrower = SendingWindow.model_validate(dict(zip(("opens", "closes"), hours, strict=True)))

    told = foretold(a_stream(4, windows=(DAYTIME, narrower)))

    assert told.finish_at == NOON + timedelta(hours=sent_at) + seconds(1)


@pytest.mark.parametrize(
    ("route", "account", "cause"),
    [
        pytest.param(RouteCaps("shared", 240, is_enabled=False), AccountCaps(5000), Cause.ROUTE_DISABLED, id="route"),
        pytest.param(SHARED, AccountCaps(5000, is_active=False), Cause.ACCOUNT_NOT_ACTIVE, id="account"),
    ],
)
def test_what_an_operator_stopped_has_no_foreseeable_end(route: RouteCaps, account: AccountCaps, cause: Cause) -> None:
    told = foretold(a_stream(10, account_id="acme"), routes=(route,), acme=account)

    assert told.never == (Never(cause, "shared", 10, is_late=False),)
    assert told.spans == (Span(cause, "shared", NOON, None),)


def test_a_providers_pause_is_waited_for() -> None:
    told = foretold(a_stream(100), routes=(RouteCaps("shared", 240, throttled_until=NOON + seconds(30)),))

    assert told.finish_at == NOON + seconds(55)
    assert told.spans[0] == Span(Cause.PROVIDER_THROTTLED, "shared", NOON, NOON + seconds(30))


def test_a_start_in_the_future_is_waited_for() -> None:
    assert foretold(a_stream(100, begins=NOON + seconds(600))).finish_at == NOON + seconds(625)


def test_an_accounts_day_counts_over_all_its_routes() -> None:
    fast = RouteCaps("fast", 240)
    account = AccountCaps(credits=5000, parts_per_day=300, used={date(2026, 9, 2): 100})

    told = foretold(
        a_stream(200, account_id="acme"),
        a_stream(200, stream="fast-01", route="fast", account_id="acme"),
        routes=(SHARED, fast),
        acme=account,
    )

    assert told.finish_at == MIDNIGHT + seconds(25)  # a hundred of each today, a hundred of each tomorrow


def test_an_accounts_day_ends_at_midnight_of_each_routes_zone() -> None:
    west = RouteCaps("west", 240, time_zone="America/Los_Angeles")
    account = AccountCaps(credits=5000, parts_per_day=100, used={date(2026, 9, 2): 100})

    told = foretold(a_stream(100, account_id="acme", route="west"), routes=(west,), acme=account)

    assert told.finish_at == MIDNIGHT + timedelta(hours=3) + seconds(25)


@given(
    own=st.integers(1, 5000),
    other=st.integers(0, 5000),
    more=st.integers(0, 500),
    weight=st.integers(1, 10),
    cap=st.one_of(st.none(), st.integers(200, 5000)),
)
def test_more_to_send_never_ends_earlier_and_nothing_beats_the_pace(
    own: int, other: int, more: int, weight: int, cap: int | None
) -> None:
    def end(parts: int) -> datetime:
        beside = a_stream(other, "autumn", weight=weight)
        route = RouteCaps("shared", 240, parts_per_day=cap)
        found = foretold(a_stream(parts), beside, routes=(route,)).finish_at
        assert found is not None
        return found

    assert end(own) <= end(own + more) + seconds(0.001)
    assert end(own) >= NOON + seconds(own / 4 - 0.001)
