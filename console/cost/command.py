"""The command itself."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from rich.console import Console

from console.cost.campaign import CannotCount, count_campaign
from console.cost.figures import figures_of
from console.cost.prices import region
from console.cost.story import count_story
from console.cost.tables import show
from sandbox.customer import DEFAULT_PER_MINUTE
from sandbox.deployment import ROOT


@click.command()
@click.option(
    "--leads",
    type=click.Path(path_type=Path),
    default=ROOT / "events" / "leads-1000.csv",
    metavar="FILE",
    help="The campaign's lead file.  [default: events/leads-1000.csv]",
)
@click.option(
    "--per-minute",
    type=click.IntRange(min=1),
    default=DEFAULT_PER_MINUTE,
    show_default=True,
    metavar="N",
    help="Parts a minute on each route.",
)
@click.option(
    "--region", "chosen", type=click.Choice([region()]), default=region(), show_default=True, help="Whose prices."
)
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed gives the same counts.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the tables.")
def cost(leads: Path, per_minute: int, chosen: str, seed: int, as_json: bool) -> None:
    """Say what 1,000 messages cost on AWS: a campaign runs in the sandbox, and what AWS bills is counted.

    What the provider asks for a message is not in it. Exit status: 0 counted, 2 the lead file cannot be used.
    """
    try:
        counted = count_campaign(leads, per_minute, seed)
    except CannotCount as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    figures = figures_of(counted, count_story(counted.messages, seed))
    if as_json:
        click.echo(json.dumps(figures))
    else:
        show(figures, Console(markup=False, highlight=False))
