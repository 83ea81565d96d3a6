"""The command `paceline run`: its options, its output and its exit status."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path

import click

from console.moment import Moment
from console.plan import DEFAULT_MESSAGE
from console.run import CannotRun, Options, run_campaign
from console.terminal import Terminal
from sandbox.customer import DEFAULT_PER_MINUTE


@click.command()
@click.argument("leads", type=click.Path(path_type=Path), metavar="LEADS")
@click.option(
    "--message", default=DEFAULT_MESSAGE, show_default=True, help="The text; {{column}} takes a lead's value."
)
@click.option("--route", metavar="NAME", help="Send all leads by this route (default: by carrier, others by `shared`).")
@click.option(
    "--per-minute",
    type=click.IntRange(min=1),
    default=DEFAULT_PER_MINUTE,
    show_default=True,
    metavar="N",
    help="Parts a minute on each route.",
)
@click.option(
    "--per-day", type=click.IntRange(min=1), metavar="N", help="Parts a day on each route.  [default: no cap]"
)
@click.option(
    "--concurrency",
    type=click.IntRange(min=1),
    metavar="N",
    help="Sends under way at once on each route.  [default: no cap]",
)
@click.option(
    "--credits",
    type=click.IntRange(min=0),
    default=1_000_000,
    show_default=True,
    help="The account's credits (1 a part).",
)
@click.option("--start", type=Moment(), help="When the campaign starts.  [default: 2026-09-02T16:00Z]")
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed gives the same timeline.")
@click.option(
    "--clock",
    type=click.Choice(["virtual", "wall"]),
    default="virtual",
    show_default=True,
    help="Skip the waiting, or live it.",
)
@click.option(
    "--speed",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    help="With --clock wall: times real time.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write report.json, report.html, outcomes.csv, rejects.csv and timeline.csv there.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the report.")
def run(
    leads: Path,
    message: str,
    route: str | None,
    per_minute: int,
    per_day: int | None,
    concurrency: int | None,
    credits: int,
    start: datetime | None,
    seed: int,
    clock: str,
    speed: float,
    out: Path | None,
    as_json: bool,
) -> None:
    """Run a campaign for the leads in LEADS (CSV, may be gzipped) in the sandbox, to its outcome report.

    Nothing leaves this machine: the carrier is simulated. Exit status: 0 when every lead has one outcome and the
    sums close, 1 when they do not or the campaign failed, 2 when the input cannot be used.
    """
    options = Options(leads, message, route, per_minute, per_day, concurrency, credits, start, seed, clock, speed, out)
    terminal = Terminal(quiet=as_json)
    try:
        with terminal.progress() as progress:
            result = run_campaign(options, progress)
    except CannotRun as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    if as_json:
        click.echo(json.dumps(result.summary))
    else:
        terminal.show(result)
    sys.exit(0 if result.is_good else 1)
