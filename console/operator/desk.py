"""What every operators' command has: which API, whose key, the zone of its times, and whether a program reads it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

import click
from rich.console import Console
from rich.table import Table

from console.operator.api import Api
from console.operator.values import changed
from console.zone import Zone

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--url", metavar="URL", default="", envvar="PACELINE_URL", show_envvar=True, help="The API's address."
    ),
    click.option(
        "--key",
        metavar="KEY",
        default="",
        envvar="PACELINE_KEY",
        show_envvar=True,
        help="An operator's key. The variable is better: others on the machine see what a command is given.",
    ),
    click.option(
        "--zone",
        type=Zone(),
        envvar="PACELINE_ZONE",
        show_envvar=True,
        help="Your IANA time zone; UTC stands beside.  [default: the machine's]",
    ),
    click.option("--json", "is_json", is_flag=True, help="Print what the API answers, as JSON."),
)
asks_first = click.option("--yes", is_flag=True, help="Do it without the question.")


@dataclass(frozen=True, slots=True)
class Desk:
    """Where an operator sits. zone: None is the machine's own."""

    api: Api
    zone: ZoneInfo | None
    is_json: bool

    def time(self, moment: str | None) -> str:
        """Return a moment of the API's in the operator's zone, and UTC beside; "-" where there is none."""
        if moment is None:
            return "-"
        utc = datetime.fromisoformat(moment).astimezone(UTC)
        own = utc.astimezone(self.zone)
        if own.utcoffset() == timedelta(0):
            return f"{utc:%Y-%m-%d %H:%M:%S} UTC"
        beside = f"{utc:%H:%M:%S}" if own.date() == utc.date() else f"{utc:%Y-%m-%d %H:%M:%S}"
        return f"{own:%Y-%m-%d %H:%M:%S %Z} ({beside} UTC)"

    def show(self, answer: object, people: Callable[[], None]) -> None:
        """Print the answer for a program, or let it be shown to people."""
        click.echo(json.dumps(answer)) if self.is_json else people()


def sits_at_a_desk(function: F) -> F:
    """Add the options; the command gets a `desk`."""

    def command(**given: Any) -> Any:
        api = Api(given.pop("url"), given.pop("key"))
        return function(desk=Desk(api, given.pop("zone"), given.pop("is_json")), **given)

    command.__doc__, command.__name__ = function.__doc__, function.__name__
    command.__click_params__ = list(getattr(function, "__click_params__", []))  # type: ignore[attr-defined]
    for option in reversed(_OPTIONS):
        command = option(command)
    return command  # type: ignore[return-value]


def say(text: str) -> None:
    """Print a line for people, as wide as it is."""
    Console(markup=False).print(text, soft_wrap=True, highlight=False)


def a_table(*columns: str, right: tuple[int, ...] = ()) -> Table:
    """Return an empty table. right: the columns of numbers."""
    table = Table(box=None, pad_edge=False)
    for number, name in enumerate(columns):
        table.add_column(name, justify="right" if number in right else "left", overflow="fold")
    return table


def print_table(table: Table) -> None:
    """Print a table. Its first column, which people copy, is not broken where it takes half of the width or less."""
    console = Console(markup=False, highlight=False)
    table.columns[0].no_wrap = all(2 * len(str(cell)) <= console.width for cell in table.columns[0].cells)
    console.print(table)


def number_of(value: int | None) -> str:
    """Return a number, or "none"."""
    return "none" if value is None else f"{value:,}"


def ask(question: str, yes: bool) -> None:
    """Go on where it is wanted; else end the command with status 1."""
    try:
        if yes or click.confirm(question, err=True):
            return
    except click.Abort:  # nobody is there to answer
        click.echo("", err=True)
    click.echo("Nothing was changed. With --yes it is done without the question.", err=True)
    raise click.exceptions.Exit(1)


def show_changes(desk: Desk, changes: list[dict[str, Any]]) -> None:
    """Print a trail of changes, the newest first. What was and is empty is left out."""
    table = a_table("when", "by", "what")
    for one in changes:
        table.add_row(desk.time(one["at"]), one["by_name"] or one["by"], "\n".join(changed(one)))
    print_table(table)
