"""Sending windows and days: on the recipients' clocks, exact, also where the clocks change."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paceline.errors import RequestInvalid
from paceline.models import SendingWindow
from paceline.windows import both, closes_at, day_of, end_of_day, is_open, next_open

NEW_YORK, CHICAGO, LOS_ANGELES, HONOLULU = (
    "America/New_York",
    "America/Chicago",
    "America/Los_Angeles",
    "Pacific/Honolulu",
)
LAWFUL = SendingWindow(opens=time(8), closes=time(21))
NIGHT = SendingWindow(opens=time(22), closes=time(2))
ALWAYS = SendingWindow(opens=time(8), closes=time(8))


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "zone", "opens"),
    [
        ("2026-01-15T02:30", NEW_YORK, "2026-01-15T13:00"),
        ("2026-01-15T02:30", CHICAGO, None),
        ("2026-01-15T02:30", LOS_ANGELES, None),
        ("2026-01-15T02:30", HONOLULU, None),
        ("2026-01-15T05:30", NEW_YORK, "2026-01-15T13:00"),
        ("2026-01-15T05:30", CHICAGO, "2026-01-15T14:00"),
        ("2026-01-15T05:30", LOS_ANGELES, "2026-01-15T16:00"),
        ("2026-01-15T05:30", HONOLULU, None),
        ("2026-01-15T13:00", NEW_YORK, None),  # the opening minute is in
        ("2026-01-15T13:00", CHICAGO, "2026-01-15T14:00"),
        ("2026-01-15T13:00", LOS_ANGELES, "2026-01-15T16:00"),
        ("2026-01-15T13:00", HONOLULU, "2026-01-15T18:00"),
        ("2026-01-16T02:00", NEW_YORK, "2026-01-16T13:00"),  # 21:00 sharp is out
    ],
)
def test_quiet_hours_are_judged_on_each_recipients_clock(now: str, zone: str, opens: str | None) -> None:
    assert is_open(LAWFUL, [zone], utc(now)) is (opens is None)
    assert next_open(LAWFUL, [zone], utc(now)) == utc(opens or now)


@pytest.mark.parametrize(
    ("window", "zones", "now", "opens", "closes"),
    [
        pytest.param(LAWFUL, [NEW_YORK], "2026-01-15T13:00", "2026-01-15T13:00", "2026-01-16T02:00", id="open now"),
        pytest.param(
            LAWFUL,
            [NEW_YORK, LOS_ANGELES],
            "2026-01-15T13:00",
            "2026-01-15T16:00",
            "2026-01-16T02:00",
            id="both coasts",
        ),
        pytest.param(NIGHT, [NEW_YORK], "2026-01-16T05:30", "2026-01-16T05:30", "2026-01-16T07:00", id="past midnight"),
        pytest.param(NIGHT, [NEW_YORK], "2026-01-16T07:00", "2026-01-17T03:00", "2026-01-17T07:00", id="night is over"),
        pytest.param(
            SendingWindow(opens=time(2, 30), closes=time(9)),
            [NEW_YORK],
            "2026-03-08T06:00",
            "2026-03-08T07:00",  # 02:30 does not exist: clocks go from 02:00 EST to 03:00 EDT, where it is past 02:30
            "2026-03-08T13:00",
            id="opens in the hour that spring skips",
        ),
        pytest.param(
            LAWFUL, [NEW_YORK], "2026-03-07T12:00", "2026-03-07T13:00", "2026-03-08T02:00", id="before spring"
        ),
        pytest.param(LAWFUL, [NEW_YORK], "2026-03-08T11:00", "2026-03-08T12:00", "2026-03-09T01:00", id="after spring"),
        pytest.param(
            SendingWindow(opens=time(1, 30), closes=time(9)),
            [NEW_YORK],
            "2026-11-01T05:00",
            "2026-11-01T05:30",
            "2026-11-01T06:00",  # 02:00 EDT becomes 01:00 EST, before the window opens; it opens again at 01:30 EST
            id="opens in the hour that autumn repeats",
        ),
        pytest.param(
            SendingWindow(opens=time(1, 30), closes=time(9)),
            [NEW_YORK],
            "2026-11-01T06:10",
            "2026-11-01T06:30",
            "2026-11-01T14:00",
            id="opens again in the repeated hour",
        ),
    ],
)
def test_an_opening_begins_and_ends_at_exact_moments(
    window: SendingWindow, zones: list[str], now: str, opens: str, closes: str
) -> None:
    moment = next_open(window, zones, utc(now))

    assert moment == utc(opens)
    assert closes_at(window, zones, moment) == utc(closes)


def test_equal_times_never_close() -> None:
    now = utc("2026-01-15T03:00")

    assert is_open(ALWAYS, [NEW_YORK, HONOLULU], now)
    assert next_open(ALWAYS, [NEW_YORK, HONOLULU], now) == now
    assert closes_at(ALWAYS, [NEW_YORK, HONOLULU], now) is None


def test_a_window_that_zones_never_share_has_no_next_opening() -> None:
    hour = SendingWindow(opens=time(9), closes=time(10))

    assert next_open(hour, [NEW_YORK, LOS_ANGELES], utc("2026-01-15T13:00")) is None


def test_a_window_that_zones_share_only_in_winter_is_found_months_ahead() -> None:
    hour = SendingWindow(opens=time(9), closes=time(12))

    # Phoenix has no summer time: three hours behind New York in summer, two in winter.
    assert next_open(hour, [NEW_YORK, "America/Phoenix"], utc("2026-06-01T00:00")) == utc("2026-11-01T16:00")


def test_a_closed_window_has_nothing_left() -> None:
    now = utc("2026-01-15T03:00")

    assert closes_at(LAWFUL, [NEW_YORK], now) == now


@pytest.mark.parametrize(
    ("moment", "zone", "day", "ends"),
    [
        ("2026-09-03T03:59:59", NEW_YORK, date(2026, 9, 2), "2026-09-03T04:00"),
        ("2026-09-03T04:00", NEW_YORK, date(2026, 9, 3), "2026-09-04T04:00"),
        ("2026-03-08T05:00", NEW_YORK, date(2026, 3, 8), "2026-03-09T04:00"),  # 23 hours long
        ("2026-11-01T04:00", NEW_YORK, date(2026, 11, 1), "2026-11-02T05:00"),  # 25 hours long
        ("2026-09-05T12:00", "America/Santiago", date(2026, 9, 5), "2026-09-06T04:00"),  # the next midnight is skipped
    ],
)
def test_a_day_ends_at_the_next_local_midnight(moment: str, zone: str, day: date, ends: str) -> None:
    assert day_of(utc(moment), zone) == day
    assert end_of_day(utc(moment), zone) == utc(ends)


clocks = st.times().map(lambda t: t.replace(second=0, microsecond=0))
zone_lists = st.lists(
    st.sampled_from([NEW_YORK, CHICAGO, LOS_ANGELES, HONOLULU, "America/Phoenix", "Australia/Lord_Howe"]),
    min_size=1,
    max_size=3,
)
moments = st.integers(1_704_067_200, 1_893_456_000).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))


@settings(max_examples=60, deadline=None)
@given(clocks, clocks, zone_lists, moments)
def test_nothing_is_open_before_the_next_opening_and_all_is_until_it_closes(
    opens: time, closes: time, zones: list[str], now: datetime
) -> None:
    window = SendingWindow(opens=opens, closes=closes)

    moment = next_open(window, zones, now)
    if moment is None:
        return
    end = closes_at(window, zones, moment)

    assert is_open(window, zones, moment)
    for step in range(0, min(int((moment - now).total_seconds()), 3 * 86400), 977):
        assert not is_open(window, zones, now + timedelta(seconds=step))
    if end is not None:
        assert not is_open(window, zones, end)
        assert is_open(window, zones, end - timedelta(microseconds=1))
        for step in range(0, min(int((end - moment).total_seconds()), 3 * 86400), 977):
            assert is_open(window, zones, moment + timedelta(seconds=step))


@given(
    moments, st.sampled_from([NEW_YORK, HONOLULU, "America/Santiago", "Asia/Beirut", "America/Havana", "Africa/Cairo"])
)
def test_a_day_ends_where_the_next_date_begins(moment: datetime, zone: str) -> None:
    end = end_of_day(moment, zone)

    assert end > moment
    assert day_of(end, zone) == day_of(moment, zone) + timedelta(days=1)
    assert day_of(end - timedelta(microseconds=1), zone) == day_of(moment, zone)
    assert end.astimezone(ZoneInfo(zone)).date() == day_of(end, zone)


def a_window(opens: str, closes: str) -> SendingWindow:
    return SendingWindow.model_validate({"opens": opens, "closes": closes})


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        pytest.param(("08:00", "21:00"), ("09:00", "20:00"), ("09:00", "20:00"), id="the account's lies within"),
        pytest.param(("10:00", "12:00"), ("08:00", "21:00"), ("10:00", "12:00"), id="the campaign's lies within"),
        pytest.param(("08:00", "18:00"), ("12:00", "21:00"), ("12:00", "18:00"), id="they overlap"),
        pytest.param(("08:00", "21:00"), ("08:00", "21:00"), ("08:00", "21:00"), id="they are the same"),
        pytest.param(("08:00", "21:00"), ("08:00", "20:00"), ("08:00", "20:00"), id="they open together"),
        pytest.param(("00:00", "00:00"), ("08:00", "21:00"), ("08:00", "21:00"), id="one never closes"),
        pytest.param(("22:00", "02:00"), ("20:00", "23:30"), ("22:00", "23:30"), id="one crosses midnight"),
        pytest.param(("22:00", "04:00"), ("23:00", "06:00"), ("23:00", "04:00"), id="both cross midnight"),
        pytest.param(("22:00", "04:00"), ("01:00", "06:00"), ("01:00", "04:00"), id="they share the small hours"),
    ],
)
def test_of_two_windows_both_must_be_open(
    one: tuple[str, str], other: tuple[str, str], expected: tuple[str, str]
) -> None:
    assert both(a_window(*one), a_window(*other)) == a_window(*expected)
    assert both(a_window(*other), a_window(*one)) == a_window(*expected)


@pytest.mark.parametrize(
    ("one", "other", "sentence"),
    [
        pytest.param(("08:00", "12:00"), ("13:00", "21:00"), "share no hour", id="apart"),
        pytest.param(("08:00", "12:00"), ("12:00", "21:00"), "share no hour", id="one begins as the other ends"),
        pytest.param(("22:00", "10:00"), ("08:00", "23:00"), "two stretches", id="shared morning and evening"),
    ],
)
def test_windows_that_are_no_one_window_together_are_refused(
    one: tuple[str, str], other: tuple[str, str], sentence: str
) -> None:
    with pytest.raises(RequestInvalid, match=sentence):
        both(a_window(*one), a_window(*other))


@settings(deadline=None)
@given(clocks, clocks, clocks, clocks, moments)
def test_the_narrowed_window_is_open_exactly_when_both_are(
    opens: time, closes: time, other_opens: time, other_closes: time, now: datetime
) -> None:
    one, other = (SendingWindow(opens=o, closes=c) for o, c in ((opens, closes), (other_opens, other_closes)))
    try:
        narrowed = both(one, other)
    except RequestInvalid:
        return

    assert is_open(narrowed, [NEW_YORK], now) == (is_open(one, [NEW_YORK], now) and is_open(other, [NEW_YORK], now))
