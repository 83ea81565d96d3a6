"""`paceline account`: an account's credits, caps and statuses, and changes of them."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import click

from console.operator.api import at
from console.operator.desk import (
    Desk,
    ask,
    asks_first,
    number_of,
    say,
    show_changes,
    sits_at_a_desk,
)
from console.operator.values import Limit, differences, given


class ShowsByDefault(click.Group):
    """`account acme` is `account show acme`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in {*self.commands, *self.get_help_option_names(ctx)}:
            args = ["show", *args]
        return super().parse_args(ctx, args)


@click.group(cls=ShowsByDefault, subcommand_metavar="ID | COMMAND [ARGS]...")
def account() -> None:
    """Show the account ID (the same as `show ID`), or change it."""


@account.command("show")
@click.argument("account_id", metavar="ID")
@click.option("--changes", "shows_changes", is_flag=True, help="Who changed what, the newest first.")
@sits_at_a_desk
def show_account(desk: Desk, account_id: str, shows_changes: bool) -> None:
    """Show an account's credits, caps and statuses, or the trail of its changes."""
    if shows_changes:
        trail = desk.api.get(at("admin", "accounts", account_id, "changes"))
        desk.show(trail, lambda: show_changes(desk, trail["changes"]))
    else:
        found = desk.api.get(at("admin", "accounts", account_id))
        desk.show(found, lambda: _show(found))


@account.command("credits")
@click.argument("account_id", metavar="ID")
@click.argument("credits", type=click.IntRange(min=1), metavar="N")
@click.option("--once", metavar="KEY", help="Your word for this purchase: the same KEY again adds nothing.")
@asks_first
@sits_at_a_desk
def add_credits(desk: Desk, account_id: str, credits: int, once: str | None, yes: bool) -> None:
    """Add N bought credits; batches that wait for credits go on at once.

    Without --once a KEY is made and printed: where no answer comes, run it again with that. Exit status: 0 done, 1
    refused or not wanted, 2 it cannot be told.
    """
    before = desk.api.get(at("admin", "accounts", account_id))
    click.echo(f"{account_id} has {before['available']:,} credits available.", err=True)
    ask(f"Add {credits:,} credits?", yes)
    key = once or f"credits-{uuid4().hex[:16]}"
    click.echo(f"Should no answer come, run it again with --once {key}: nothing is added twice.", err=True)
    body = {"credits": credits}
    after = desk.api.post(at("admin", "accounts", account_id, "credits"), body, **{"idempotency-key": key})
    desk.show(after, lambda: say(f"{account_id} has {after['available']:,} credits available."))


@account.command("set")
@click.argument("account_id", metavar="ID")
@click.option("--name", metavar="TEXT", help="Its name.")
@click.option("--per-day", type=Limit(), help="Parts a day.")
@click.option("--status", type=click.Choice(["active", "suspended"]), help="Suspended: nothing is sent for it.")
@click.option("--compliance", type=click.Choice(["approved", "pending", "refused"]), help="Only approved ones send.")
@click.option("--in-doubt", type=click.Choice(["never_resend", "resend_once"]), help="Sends whose end was not seen.")
@asks_first
@sits_at_a_desk
@click.pass_context
def set_account(ctx: click.Context, /, desk: Desk, account_id: str, yes: bool, **_: Any) -> None:
    """Change what is given of an account, after a question; batches that wait for it go on at once."""
    fields = given(
        ctx,
        name="name",
        parts_per_day="per_day",
        operational_status="status",
        compliance_status="compliance",
        in_doubt="in_doubt",
    )
    if not fields:
        raise click.UsageError("Say what to change: --name, --per-day, --status, --compliance or --in-doubt.")
    before = desk.api.get(at("admin", "accounts", account_id))
    if changes := differences(before, fields):
        click.echo(f"{account_id}: {'; '.join(changes)}", err=True)
        ask(f"Change {account_id}?", yes)
    after = desk.api.patch(at("admin", "accounts", account_id), fields)
    told = f"{account_id} {'is changed' if changes else 'was so already'}"
    desk.show(after, lambda: say(f"{told}; waiting batches that go on: {after['released_batches']:,}."))


def _show(found: dict[str, Any]) -> None:
    say(f"{found['account_id']}  {found['name']}")
    parts = (f"{found[name]:,} {name}" for name in ("available", "reserved", "consumed"))
    say(f"credits     {' + '.join(parts)}")
    say(f"            = {found['bought']:,} bought")
    say(f"a day       {number_of(found['parts_per_day'])}")
    say(f"status      {found['operational_status']}, {found['compliance_status']}")
    say(f"in doubt    {found['in_doubt']}")
    say(f"webhook     {found['webhook_url'] or 'none'}")
