"""A time zone as a person writes it on the command line."""

from __future__ import annotations

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click


class Zone(click.ParamType[ZoneInfo]):
    """An IANA time zone."""

    name = "ZONE"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> ZoneInfo:
        try:
            return ZoneInfo(str(value))
        except (ZoneInfoNotFoundError, ValueError, OSError):
            self.fail(f"{value!r} is no IANA time zone; write it like America/New_York", param, ctx)
