"""`paceline routes` and `paceline route`: every cap with today's use, what binds it, and changes of caps."""

from __future__ import annotations

from typing import Any

import click

from console.operator.api import at
from console.operator.desk import (
    Desk,
    a_table,
    ask,
    asks_first,
    number_of,
    print_table,
    say,
    show_changes,
    sits_at_a_desk,
)
from console.operator.values import Limit, differences, given
from paceline.report.words import label


@click.command()
@sits_at_a_desk
def routes(desk: Desk) -> None:
    """List every route with every cap, today's use, what binds it now, and the campaigns on it.

    Exit status: 0 told, 2 it cannot be told.
    """
    answer = desk.api.get(at("routes"))
    desk.show(answer, lambda: _show(desk, answer["routes"]))


@click.group()
def route() -> None:
    """Change a route's caps; see who changed them."""


@route.command("set")
@click.argument("name")
@click.option("--per-minute", type=click.IntRange(min=1), help="Parts a minute.")
@click.option("--per-day", type=Limit(), help="Parts a day of the route's time zone.")
@click.option("--concurrency", type=Limit(), help="How many sends may be under way at once.")
@click.option("--enabled/--disabled", default=None, help="Switch it on or off.")
@asks_first
@sits_at_a_desk
@click.pass_context
def set_route(ctx: click.Context, /, desk: Desk, name: str, yes: bool, **_: Any) -> None:
    """Change what is given of the route NAME; batches that wait for it go on at once.

    It shows what would change and asks. A change that somebody else made meanwhile is not written over. Exit status:
    0 done, 1 refused or not wanted, 2 it cannot be told.
    """
    fields = given(
        ctx, parts_per_minute="per_minute", parts_per_day="per_day", concurrency="concurrency", is_enabled="enabled"
    )
    if not fields:
        raise click.UsageError("Say what to change: --per-minute, --per-day, --concurrency, --enabled or --disabled.")
    before = desk.api.get(at("routes", name))
    if changes := differences(before, fields):
        click.echo(f"{name}: {'; '.join(changes)}", err=True)
        ask(f"Change {name}?", yes)
    # What changes nothing is sent too: it still wakes what waits, after a change whose signal was lost.
    after = desk.api.patch(at("admin", "routes", name), fields, **{"if-match": str(before["revision"])})
    desk.show(after, lambda: say(_done(name, bool(changes), after["released_batches"])))


@route.command("changes")
@click.argument("name")
@sits_at_a_desk
def route_changes(desk: Desk, name: str) -> None:
    """List every change of the route NAME, the newest first: when, by which key, before and after."""
    answer = desk.api.get(at("admin", "routes", name, "changes"))
    desk.show(answer, lambda: show_changes(desk, answer["changes"]))


def _done(name: str, changed: bool, released: int) -> str:
    return f"{name} {'is changed' if changed else 'was so already'}; waiting batches that go on: {released:,}."


def _show(desk: Desk, found: list[dict[str, Any]]) -> None:
    table = a_table("route", "a minute", "used today", "a day", "at once", "bound by", "campaigns", right=(1, 2, 3, 4))
    for one in found:
        table.add_row(
            one["name"] if one["is_enabled"] else f"{one['name']} (off)",
            f"{one['parts_per_minute']:,}",
            f"{one['parts_used_today']:,}",
            number_of(one["parts_per_day"]),
            number_of(one["concurrency"]),
            _binding(desk, one["binding"]),
            ", ".join(one["campaigns"]),
        )
    print_table(table)


def _binding(desk: Desk, bound: dict[str, Any] | None) -> str:
    if bound is None:
        return "nothing"
    since = f" since {desk.time(bound['since'])}" if bound["since"] else ""
    return label(bound["cause"]) + since + (f" until {desk.time(bound['until'])}" if bound["until"] else "")
