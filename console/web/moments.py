"""Times as operators read them: in their own zone, UTC beside."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from markupsafe import Markup


def zone_named(name: str) -> ZoneInfo | None:
    """Return a zone that a browser named; None: it is none that is known here."""
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def moment(value: str | datetime | None, zone: ZoneInfo | None, *, none: str = "–") -> Markup:
    """Return a moment as HTML. value: ISO with an offset, or aware. zone: None: UTC alone."""
    if not value:
        return Markup.escape(none)
    utc = (datetime.fromisoformat(value) if isinstance(value, str) else value).astimezone(UTC)
    own = utc.astimezone(zone or UTC)
    if own.utcoffset() == timedelta(0):
        return Markup('<time datetime="{}">{} UTC</time>').format(utc.isoformat(), f"{utc:%Y-%m-%d %H:%M:%S}")
    beside = f"{utc:%H:%M:%S}" if own.date() == utc.date() else f"{utc:%m-%d %H:%M:%S}"
    return Markup('<time datetime="{}">{} <small>{} UTC</small></time>').format(
        utc.isoformat(), f"{own:%Y-%m-%d %H:%M:%S %Z}", beside
    )


def clock(value: datetime, zone: ZoneInfo | None, *, has_day: bool) -> str:
    """Return a moment as short as an axis wants it, in the person's zone."""
    return f"{value.astimezone(zone or UTC):{'%d %b %H:%M' if has_day else '%H:%M'}}"
