"""A moment as a person writes it on the command line."""

from __future__ import annotations

from datetime import UTC, datetime

import click


class Moment(click.ParamType[datetime]):
    """A moment in ISO 8601; without an offset it is UTC."""

    name = "TIME"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            self.fail(
                f"{value!r} is no time; write it like 2026-09-02T16:00 (UTC) or 2026-09-02T12:00-04:00", param, ctx
            )
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
