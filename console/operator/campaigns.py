"""`paceline campaigns`: every campaign, how far it is, what holds it and when it ends."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import click

from console.operator.api import Api, at
from console.operator.campaign_view import binding, finish
from console.operator.campaign_words import progress
from console.operator.desk import Desk, a_table, print_table, say, sits_at_a_desk
from paceline.status import CampaignStatus


@click.command()
@click.option("--account", metavar="ID", help="Only this account's.  [default: every account's]")
@click.option("--status", type=click.Choice([one.value for one in CampaignStatus]), help="Only these.")
@click.option("--search", metavar="TEXT", default="", help="Only where the id or the name has this in it.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=25, show_default=True, help="Of each account, the newest so many."
)
@sits_at_a_desk
def campaigns(desk: Desk, account: str | None, status: str | None, search: str, limit: int) -> None:
    """List campaigns, the newest of each account first: progress, what holds them and until when, the end.

    Exit status: 0 told, 2 it cannot be told.
    """
    accounts = (
        [account] if account else [one["account_id"] for one in desk.api.every(at("admin", "accounts"), "accounts")]
    )
    found = [
        desk.api.get(at("campaigns", one["campaign_id"]))
        for owner in accounts
        for one in islice(_listed(desk.api, owner, status, search.casefold()), limit)
    ]
    desk.show({"campaigns": found}, lambda: _show(desk, found))


def _listed(api: Api, account: str, status: str | None, search: str) -> Iterator[dict[str, Any]]:
    for one in api.every(at("campaigns"), "campaigns", account_id=account):
        text = f"{one['campaign_id']} {one['name']}".casefold()
        if search in text and status in (None, one["status"]):
            yield one


def _show(desk: Desk, found: list[dict[str, Any]]) -> None:
    if not found:
        say("There are no such campaigns.")
        return
    table = a_table("campaign", "account", "status", "leads", "held by", "ends")
    for one in found:
        table.add_row(
            one["campaign_id"], one["account_id"], one["status"], progress(one), binding(desk, one), finish(desk, one)
        )
    print_table(table)
