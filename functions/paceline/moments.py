"""Moments as whole microseconds (for arithmetic in rows) and as ISO 8601 (for people and states)."""

from datetime import UTC, datetime, timedelta

MICROSECONDS = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_us(moment: datetime) -> int:
    """Return an aware datetime as whole microseconds since 1970."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def from_us(microseconds: int) -> datetime:
    """Return microseconds since 1970 as an aware UTC datetime."""
    return _EPOCH + timedelta(microseconds=microseconds)


def iso(moment: datetime) -> str:
    """Return an aware datetime as ISO 8601 in UTC with `Z`: what a Wait state's TimestampPath takes."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
