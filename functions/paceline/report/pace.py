"""When the parts of one route went: per minute for charts, and the exact maximum of a sliding minute."""

from __future__ import annotations

from array import array
from collections import Counter
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MINUTE = 60_000_000  # microseconds


class SentTimes:
    """The send times of one route, in any order. Memory: 8 bytes per part, and one counter per busy minute."""

    def __init__(self) -> None:
        self._times = array("q")  # one entry per part, so that counting entries is counting parts
        self._minutes: Counter[int] = Counter()

    @property
    def parts(self) -> int:
        return len(self._times)

    def add(self, sent_at: datetime, parts: int) -> None:
        """Count a message of so many parts at its time (aware)."""
        time = microseconds(sent_at)
        self._times.extend([time] * parts)
        self._minutes[time // MINUTE] += parts

    def per_minute(self) -> tuple[tuple[datetime, int], ...]:
        """Return (minute, parts) ascending, without the minutes in which nothing was sent."""
        return tuple((EPOCH + timedelta(minutes=minute), parts) for minute, parts in sorted(self._minutes.items()))

    def most_in(self, width: int = MINUTE) -> int:
        """Return the most parts in any half-open window [t, t + width), width in microseconds.

        Some best window begins at a send, so it is enough to end one window at each send in turn.
        """
        times = sorted(self._times)
        most = first = 0
        for last, time in enumerate(times):
            while time - times[first] >= width:
                first += 1
            most = max(most, last - first + 1)
        return most


def microseconds(time: datetime) -> int:
    """Return the microseconds since 1970, exactly (a float of seconds would round)."""
    since = time - EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
