"""Timestamps in AWS's forms."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_OFFSET_DATE_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d(?::\d\d)?)", re.ASCII
)


def parse_timestamp(text: object) -> datetime | None:
    """Return an ISO 8601 extended offset date-time as an aware datetime (microseconds), or None if it is not one."""
    if not isinstance(text, str) or (match := _OFFSET_DATE_TIME.fullmatch(text)) is None:
        return None
    date, time, fraction, offset = match.groups()
    fraction = f".{(fraction + '000000')[:6]}" if fraction else ""
    if len(time) == 5:
        time += ":00"
    try:
        return datetime.fromisoformat(f"{date}T{time}{fraction}{'+00:00' if offset == 'Z' else offset}")
    except ValueError:
        return None


def format_timestamp(moment: datetime) -> str:
    """Return the form of the context object: UTC, milliseconds, Z."""
    moment = moment.astimezone(UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"
