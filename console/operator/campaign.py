"""`paceline campaign`: one campaign, and what an operator does to it."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import click
from rich.console import Console
from rich.live import Live

from console.operator.api import NoAnswer, at
from console.operator.campaign_view import campaign_view
from console.operator.campaign_words import QUESTIONS, progress, told
from console.operator.desk import Desk, ask, asks_first, say, sits_at_a_desk
from paceline.status import CampaignStatus

_LOOK_SECONDS = 2.0
_LIVES = {CampaignStatus.CREATED.value, CampaignStatus.RUNNING.value, CampaignStatus.PAUSED.value}


@click.command()
@click.argument("campaign_id", metavar="ID")
@click.argument("action", type=click.Choice(list(QUESTIONS)), required=False)
@asks_first
@click.option("--watch", is_flag=True, help="Look again every two seconds, in place, until it is over or Ctrl-C.")
@sits_at_a_desk
def campaign(desk: Desk, campaign_id: str, action: str | None, yes: bool, watch: bool) -> None:
    """Show a campaign: progress, outcomes by route, holds with cause and end, time lost, report. Or change it.

    Exit status: 0 told or done, 1 refused (a campaign that is over cannot be paused), 2 it cannot be told.
    """
    if watch and (desk.is_json or action):
        raise click.UsageError("--watch only shows: leave out --json and the action.")
    if action:
        _change(desk, campaign_id, action, yes)
    elif watch:
        with suppress(KeyboardInterrupt):
            _watch(desk, campaign_id)
    else:
        one = desk.api.get(at("campaigns", campaign_id))
        desk.show(one, lambda: _console().print(campaign_view(desk, one, _report(desk, one))))


def _change(desk: Desk, campaign_id: str, action: str, yes: bool) -> None:
    one = desk.api.get(at("campaigns", campaign_id))
    click.echo(f"{one['campaign_id']} of {one['account_id']} is {one['status']}; leads: {progress(one)}.", err=True)
    ask(QUESTIONS[action], yes)
    changed = desk.api.post(at("campaigns", campaign_id, action))
    desk.show(changed, lambda: say(told(changed)))


def _watch(desk: Desk, campaign_id: str) -> None:
    with Live(console=_console(), auto_refresh=False) as live:
        while True:
            one = desk.api.get(at("campaigns", campaign_id))
            live.update(campaign_view(desk, one, _report(desk, one)), refresh=True)
            if one["status"] not in _LIVES:
                return
            time.sleep(_LOOK_SECONDS)


def _report(desk: Desk, one: dict[str, Any]) -> dict[str, Any] | None:
    """Return the last report; None before there is one, and where it is no longer kept, which is said."""
    if not one["report_version"]:
        return None
    try:
        return desk.api.get(at("campaigns", one["campaign_id"], "report"))
    except NoAnswer as gone:
        click.echo(f"The report is not shown: {gone.message}", err=True)
        return None


def _console() -> Console:
    return Console(markup=False, highlight=False)
