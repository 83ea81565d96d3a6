"""`paceline forget`: one person erased everywhere, from rows and from every version of every object."""

from __future__ import annotations

import getpass
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from console.reach import System, Where, explained, reach, reaches_a_system
from paceline import forgetting
from paceline.adapters.s3_versions import S3Versions
from paceline.audit import Signature
from paceline.bootstrap import SystemClock
from paceline.errors import PacelineError
from paceline.forgetting import Forgotten, Traces, person_of, search
from paceline.models import JsonObject

_ELSEWHERE = (
    "Not reached by this: the provider's own records; raw events in the dead-letter queue (14 days at most); the "
    "table's backups (35 days). docs/operations.md says how each ends."
)


@click.command()
@click.argument("phone")
@click.option("--account", metavar="ID", help="Only in this account.  [default: in every account]")
@click.option("--dry-run", "is_dry", is_flag=True, help="List what would be erased, and erase nothing.")
@click.option("--opt-out", "opts_out", is_flag=True, help="Note an opt-out first: nobody writes to the number again.")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
@reaches_a_system
def forget(where: Where, phone: str, account: str | None, is_dry: bool, opts_out: bool, is_json: bool) -> None:
    """Erase the person with the number PHONE (any spelling) from every account, or from one.

    Counts, outcomes and credits stay, and so does an opt-out, with the number: it must be honoured. Run again it does
    no harm, and goes on where it was killed. Exit status: 0 erased, or nothing was there; 1 refused, because a campaign
    still needs the person, or a file could not be searched; 2 the system cannot be reached, or PHONE is no number.
    """
    system = reach(where)
    with _faults_said(), explained(where):
        done = _done(system, phone, account, is_dry, opts_out)
    if is_json:
        click.echo(json.dumps(_as_json(done, is_dry)))
    else:
        _show(done, is_dry)
    sys.exit(1 if done.busy or any(traces.unreadable for traces in done.found) else 0)


@contextmanager
def _faults_said() -> Iterator[None]:
    """End the command with status 2 where a rule refuses."""
    try:
        yield
    except PacelineError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)


def _done(system: System, phone: str, account: str | None, is_dry: bool, opts_out: bool) -> Forgotten:
    """Search, and erase unless it is a dry run, with a bar on stderr where somebody looks."""
    person, store = person_of(phone), S3Versions(system.client("s3"), system.store.bucket)
    console = Console(stderr=True, markup=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("objects read"))
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:

        def on_progress(account_id: str, read: int, of: int) -> None:
            if account_id not in tasks:
                tasks[account_id] = progress.add_task(account_id, total=of)
            progress.update(tasks[account_id], completed=read, total=of)

        if is_dry:
            found = search(system.table, store, person, account, on_progress)
            return Forgotten(found, forgetting.busy(system.table, found, SystemClock().now()))
        by = Signature("console", SystemClock().now(), f"forget-{uuid4().hex[:12]}", getpass.getuser())
        return forgetting.forget(system.table, store, person, account, by, opts_out=opts_out, on_progress=on_progress)


def _as_json(done: Forgotten, is_dry: bool) -> JsonObject:
    return {
        "erased": not is_dry and not done.busy,
        "busy": [{"campaign_id": one.campaign_id, "until": one.until.isoformat()} for one in done.busy],
        "accounts": [
            {
                "account_id": traces.account_id,
                "campaigns": [
                    {"campaign_id": one.campaign_id, "leads": sorted(one.leads), "objects": one.objects}
                    for one in traces.campaigns
                ],
                "rows": len(traces.rows),
                "unreadable": traces.unreadable,
                "opted_out": traces.has_opted_out,
            }
            for traces in done.found
        ],
    }


def _show(done: Forgotten, is_dry: bool) -> None:
    console = Console(markup=False)
    verb = "would be erased" if is_dry or done.busy else "erased"

    def say(text: str) -> None:
        console.print(text, soft_wrap=True, highlight=False)

    for traces in done.found:
        say(f"Account {traces.account_id}:")
        for line in _lines(traces, verb):
            say(f"  {line}")
    for one in done.busy:
        say(f"Nothing was erased. {one} Run this again then, or cancel the campaign first.")
    if done.busy and not all(traces.has_opted_out for traces in done.found):
        say("With --opt-out no further message goes to the number from now on.")
    if not done.found:
        say("Nothing is known of this number.")
    say(_ELSEWHERE)


def _lines(traces: Traces, verb: str) -> Iterator[str]:
    for one in traces.campaigns:
        leads = f"lead {', '.join(map(str, sorted(one.leads)))}, " if one.leads else ""
        yield f"campaign {one.campaign_id}: {leads}{len(one.objects)} objects {verb}"
        yield from (f"  {key}" for key in one.objects)
    if traces.rows:
        yield f"the person's own rows {verb}: {len(traces.rows)}"
    for key in traces.unreadable:
        yield f"{key} cannot be read, so nobody can tell whether the person is in it: look yourself, or delete it"
    yield "opted out: that is kept, with the number" if traces.has_opted_out else "not opted out"
