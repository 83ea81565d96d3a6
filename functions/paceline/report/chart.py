"""The geometry of the page's charts: buckets of minutes, and the outline of what was sent in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

MOST_BUCKETS = 200  # finer than a phone's pixels tell apart, and a table that can still be read
STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 1440)  # minutes: those that a clock's face has
WIDTH, HEIGHT = 1000, 200  # of the drawing; the page stretches it


@dataclass(frozen=True, slots=True)
class Bucket:
    """Some minutes of a route: mean and peak are parts per minute, the peak that of the busiest minute."""

    start: datetime
    mean: float
    peak: int


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing of WIDTH × HEIGHT. mean, peak: SVG paths. cap_y: the cap. top: parts per minute at the upper edge."""

    minutes: int
    buckets: tuple[Bucket, ...]
    top: int
    mean: str
    peak: str
    cap_y: float | None
    ticks: tuple[datetime, ...]

    @property
    def is_within_a_day(self) -> bool:
        return self.ticks[-1] - self.ticks[0] <= timedelta(days=1)


def draw(series: Sequence[tuple[datetime, int]], cap: int | None = None) -> Chart | None:
    """Return the chart of [minute, parts] (ascending, minutes without parts left out); None when nothing was sent."""
    if not series:
        return None
    minutes = _bucket_minutes(series[0][0], series[-1][0])
    buckets = bucket(series, minutes)
    top = _round_up(max(cap or 0, *(one.peak for one in buckets), 1))
    end = buckets[-1].start + timedelta(minutes=minutes)
    return Chart(
        minutes=minutes,
        buckets=buckets,
        top=top,
        mean=_steps([one.mean for one in buckets], top),
        peak=_steps([one.peak for one in buckets], top),
        cap_y=None if cap is None else round(_y(cap, top), 1),
        ticks=(buckets[0].start, buckets[0].start + (end - buckets[0].start) / 2, end),
    )


def bucket(series: Sequence[tuple[datetime, int]], minutes: int) -> tuple[Bucket, ...]:
    """Return every bucket between the first minute and the last, the empty ones too.

    The mean is over the minutes from the first send to the last, so that a half-filled end does not look slow.
    """
    first, last = series[0][0], series[-1][0] + timedelta(minutes=1)
    width = timedelta(minutes=minutes)
    start = _floor(first, minutes)
    sums = [0] * -((start - last) // width)
    peaks = sums.copy()
    for minute, parts in series:
        index = (minute - start) // width
        sums[index] += parts
        peaks[index] = max(peaks[index], parts)
    starts = [start + index * width for index in range(len(sums))]
    spans = [(min(at + width, last) - max(at, first)) / timedelta(minutes=1) for at in starts]
    return tuple(map(Bucket, starts, (total / span for total, span in zip(sums, spans, strict=True)), peaks))


def _bucket_minutes(first: datetime, last: datetime) -> int:
    span = (last - first) // timedelta(minutes=1) + 1
    # One bucket more than the span needs, because the first begins on the clock's face and not at the first send.
    return next((step for step in STEPS if span / step + 1 <= MOST_BUCKETS or span == 1), STEPS[-1])


def _floor(time: datetime, minutes: int) -> datetime:
    midnight = time.replace(hour=0, minute=0, second=0, microsecond=0)
    return time - (time - midnight) % timedelta(minutes=minutes)


def _steps(values: Sequence[float], top: int) -> str:
    """Return the outline of bars without gaps, closed along the bottom."""
    width = WIDTH / len(values)
    path = [f"M0 {HEIGHT}"]
    for index, value in enumerate(values):
        path.append(f"V{_y(value, top):.1f}H{(index + 1) * width:.1f}")
    return "".join([*path, f"V{HEIGHT}Z"])


def _y(value: float, top: int) -> float:
    return HEIGHT * (1 - value / top)


def _round_up(value: int) -> int:
    """Return the next number of one or two digits and zeros, above the value, for the top of an axis."""
    unit: int = 10 ** max(0, len(str(value)) - 2)
    return (value // unit + max(1, value // unit // 10)) * unit
