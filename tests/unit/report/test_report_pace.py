"""How fast a route sent: the exact maximum of a sliding minute, and the minutes of the chart."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st
from report_builders import NOON, a_message, a_report

from paceline.report.chart import MOST_BUCKETS, bucket, draw
from paceline.report.pace import MINUTE, SentTimes

sends = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 4)), max_size=30)


def sent(times: list[tuple[int, int]]) -> SentTimes:
    counted = SentTimes()
    for microsecond, parts in times:
        counted.add(NOON + timedelta(microseconds=microsecond), parts)
    return counted


@settings(deadline=None)
@given(sends, st.integers(1, 45))
def test_the_most_in_a_window_is_what_trying_every_window_finds(times: list[tuple[int, int]], width: int) -> None:
    tried = [sum(parts for time, parts in times if start <= time < start + width) for start in range(-50, 50)]

    assert sent(times).most_in(width) == max(tried)


def test_a_send_exactly_60_seconds_later_is_in_the_next_window() -> None:
    assert sent([(0, 1), (MINUTE, 1)]).most_in() == 1
    assert sent([(0, 1), (MINUTE - 1, 1)]).most_in() == 2


def test_a_window_across_two_minutes_of_the_clock_is_seen() -> None:
    late = [a_message(n, parts=2, sent_at=NOON + timedelta(seconds=59.9)) for n in range(1, 4)]
    early = [a_message(n, parts=1, sent_at=NOON + timedelta(seconds=60)) for n in range(4, 8)]

    report = a_report(late + early)

    assert report.sent_per_minute == {"shared": ((NOON, 6), (NOON + timedelta(minutes=1), 4))}
    assert report.max_sent_in_60_seconds == {"shared": 10}


def test_a_short_campaign_is_drawn_minute_by_minute() -> None:
    chart = draw([(NOON, 240), (NOON + timedelta(minutes=3), 120)], cap=240)

    assert chart is not None
    assert [(one.mean, one.peak) for one in chart.buckets] == [(240, 240), (0, 0), (0, 0), (120, 120)]
    assert chart.cap_y is not None
    assert 0 < chart.cap_y < 100


@given(st.sets(st.integers(0, 30_000), min_size=1, max_size=40))
def test_a_long_campaign_is_drawn_in_at_most_200_buckets_that_lose_no_part(minutes: set[int]) -> None:
    series = [(NOON + timedelta(minutes=minute), minute % 7 + 1) for minute in sorted(minutes)]

    chart = draw(series)

    assert chart is not None
    assert len(chart.buckets) <= MOST_BUCKETS
    assert max(one.peak for one in chart.buckets) == max(parts for _, parts in series)
    assert chart.buckets[0].start <= series[0][0]


def test_a_half_filled_bucket_is_averaged_over_the_minutes_in_which_the_campaign_ran() -> None:
    series = [(NOON + timedelta(minutes=minute), 100) for minute in range(8, 12)]

    assert [one.mean for one in bucket(series, 10)] == [100, 100]


def test_nothing_sent_is_no_chart() -> None:
    assert draw([]) is None
