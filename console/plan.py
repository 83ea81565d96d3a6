"""`paceline plan`: what a start would do with a file, by the API's own plan in the sandbox, and nothing is sent."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from console.moment import Moment
from console.run import CannotRun, Options, plan_leads
from paceline.report.words import label
from sandbox.customer import DEFAULT_PER_MINUTE

DEFAULT_MESSAGE = "Hi {{first_name|there}}, your policy quote is ready. Reply YES for a call, STOP to opt out."
_COUNT = click.IntRange(min=1)


@click.command()
@click.argument("leads", type=click.Path(path_type=Path), metavar="FILE")
@click.option(
    "--message", default=DEFAULT_MESSAGE, show_default=True, help="The text; {{column}} takes a lead's value."
)
@click.option("--route", metavar="NAME", help="Send all leads by this route (default: by carrier, others by `shared`).")
@click.option("--per-minute", type=_COUNT, default=DEFAULT_PER_MINUTE, show_default=True, help="Parts on each route.")
@click.option("--per-day", type=_COUNT, help="Parts a day on each route.  [default: no cap]")
@click.option("--credits", type=click.IntRange(min=0), default=1_000_000, show_default=True, help="The account's.")
@click.option("--start", type=Moment(), help="When the campaign would start.  [default: 2026-09-02T16:00Z]")
@click.option("--json", "as_json", is_flag=True, help="Print the API's plan as one JSON object.")
def plan(as_json: bool, **options: Any) -> None:
    """Say what a campaign for the leads in FILE would do: who is sent to, by which route, what binds, when it ends.

    FILE is CSV, JSON lines or an Excel workbook, and may be gzipped. Nothing is sent and nothing is kept. Exit status:
    0 when the campaign would send all that was accepted by its `send_by`, 1 when it would not, or nobody was accepted,
    2 when the input cannot be used.
    """
    try:
        planned = plan_leads(Options(**options))
    except CannotRun as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    click.echo(json.dumps(planned)) if as_json else _show(planned)
    sys.exit(0 if planned["leads"]["accepted"] and planned["finish_at"] else 1)


def _show(planned: dict[str, Any]) -> None:
    console = Console(markup=False)
    for name, value in _facts(planned):
        console.print(f"{name:<18} {value}", soft_wrap=True, highlight=False)
    for table in (_excluded(planned), _streams(planned), _caps(planned)):
        if table.row_count:
            console.print()
            console.print(table)
    for warning in planned["warnings"]:
        console.print(Text.assemble(("\nWarning:", "yellow"), f" {warning}"), soft_wrap=True)


def _facts(planned: dict[str, Any]) -> Iterator[tuple[str, str]]:
    leads, credits = planned["leads"], planned["credits"]
    others = " + ".join(f"{leads[kind]:,} {label(kind).lower()}" for kind in ("rejected", "duplicates", "opted_out"))
    yield "leads", f"{leads['in']:,} in = {leads['accepted']:,} accepted + {others}"
    yield "phone numbers", f"from the column {planned['phone_column']!r}"
    yield "parts", f"{planned['parts']:,} in {planned['batches']:,} batches"
    yield "credits", f"{credits['needed']:,} needed, {credits['available']:,} available"
    ahead = sum(one["parts_left"] for one in planned["campaigns_ahead"])
    yield "campaigns ahead", f"{len(planned['campaigns_ahead'])} with {ahead:,} parts" if ahead else "none"
    for bound in filter(_is_felt, planned["binding_caps"]):
        where = f" on {bound['route']}" if bound["route"] else ""
        until = f" until {_moment(bound['until'])}" if bound["until"] else ", with no end in sight"
        yield "binds", f"{label(bound['cause']).lower()}{where} from {_moment(bound['since'])}{until}"
    reason = planned["finish_reason"] or {}
    yield "finishes", _moment(planned["finish_at"]) if planned["finish_at"] else str(reason.get("detail", "never"))


def _is_felt(bound: dict[str, Any]) -> bool:
    """Tell whether a cap binds for long enough to plan with: a minute."""
    since, until = bound["since"], bound["until"]
    return until is None or datetime.fromisoformat(until) - datetime.fromisoformat(since) >= timedelta(minutes=1)


def _excluded(planned: dict[str, Any]) -> Table:
    table = _table("Not sent to", "Leads", "Why", "Rows")
    for entry in planned["excluded"]:
        rows = ", ".join(map(str, entry["row_numbers"])) + (" …" if entry["leads"] > len(entry["row_numbers"]) else "")
        table.add_row(label(entry["kind"]), f"{entry['leads']:,}", entry["explanation"] or label(entry["reason"]), rows)
    return table


def _streams(planned: dict[str, Any]) -> Table:
    table = _table("Stream", "Leads", "Route", "Time zones", "Parts", "Batches")
    for stream in planned["streams"]:
        numbers = (f"{stream['parts']:,}", f"{stream['batches']:,}")
        table.add_row(stream["stream"], f"{stream['leads']:,}", stream["route"], " ".join(stream["zones"]), *numbers)
    return table


def _caps(planned: dict[str, Any]) -> Table:
    table = _table("Cap", "Limit", "Of", "Used today")
    for cap in planned["caps"]:
        used = f"{cap['used']:,}, anew at {_moment(cap['resets_at'])}" if "used" in cap else ""
        table.add_row(label(cap["cap"]), f"{cap['limit']:,}", cap["of"], used)
    return table


def _table(*headings: str) -> Table:
    """Return a table whose second column is a number's."""
    table = Table(*headings, box=None, pad_edge=False)
    table.columns[1].justify = "right"
    return table


def _moment(text: str) -> str:
    return f"{datetime.fromisoformat(text).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
