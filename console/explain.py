"""`paceline explain`: the life of one lead, or of a campaign, each step with its time and cause."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

import click
from rich.console import Console
from rich.table import Table

from console.reach import Where, explained, reach, reaches_a_system
from console.receipt_readers import RECEIPT_READERS
from console.zone import Zone
from paceline.errors import PacelineError
from paceline.explain import Explanation, explain_campaign, explain_lead


@click.command()
@click.argument("campaign")
@click.argument("lead", required=False)
@click.option("--zone", type=Zone(), help="Show the times in this IANA time zone too, as America/New_York.")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
@reaches_a_system
def explain(where: Where, campaign: str, lead: str | None, zone: ZoneInfo | None, is_json: bool) -> None:
    """Tell the life of LEAD in CAMPAIGN, or of the whole campaign, from its rows.

    LEAD is the lead's number (17), its row in the file (row:18) or its phone number; of numbers only the last four
    digits are shown. What the rows do not tell is said, not guessed. Exit status: 0 told, 2 there is no such campaign
    or lead, or the system cannot be reached.
    """
    system = reach(where)
    try:
        with explained(where):
            if lead is None:
                told = explain_campaign(system.table, system.store, campaign)
            else:
                told = explain_lead(system.table, system.store, campaign, lead, RECEIPT_READERS)
    except PacelineError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    click.echo(json.dumps(told.as_json())) if is_json else _show(told, zone)


def _show(told: Explanation, zone: ZoneInfo | None) -> None:
    console = Console(markup=False)
    console.print(told.about, soft_wrap=True, highlight=False)
    table = Table(box=None, pad_edge=False)
    table.add_column("UTC", no_wrap=True)
    if zone is not None:
        table.add_column(zone.key, no_wrap=True)
    table.add_column("", overflow="fold")
    for step in told.steps:
        times = [_time(step.at, UTC)] + ([_time(step.at, zone)] if zone is not None else [])
        table.add_row(*times, step.text)
    console.print(table)
    for one in told.not_told:
        console.print(f"not told: {one}", soft_wrap=True, highlight=False)


def _time(at: datetime | None, zone: tzinfo) -> str:
    return at.astimezone(zone).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] if at else "-"
