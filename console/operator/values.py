"""Values as an operator writes them."""

from __future__ import annotations

from typing import Any

import click


class Limit(click.ParamType[int | None]):
    """A cap: a number from 1, or `none`."""

    name = "N|none"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        if str(value).lower() == "none":
            return None
        number = str(value).replace(",", "")
        if not number.isascii() or not number.isdecimal() or int(number) < 1:
            self.fail(f"{value!r} is no cap; write a whole number from 1, or none to take it away", param, ctx)
        return int(number)


def given(ctx: click.Context, **names: str) -> dict[str, Any]:
    """Return what was given on the command line, by the API's names. names: API's name=the parameter's."""
    return {
        field: ctx.params[name]
        for field, name in names.items()
        if ctx.get_parameter_source(name) not in (None, click.core.ParameterSource.DEFAULT)
    }
