"""`paceline audit`: the credits of accounts recounted from their messages, and corrected only when asked to."""

from __future__ import annotations

import getpass
import json
import sys
from uuid import uuid4

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from console.audit_words import as_json, show
from console.reach import System, Where, explained, reach, reaches_a_system
from paceline.audit import Signature
from paceline.bootstrap import SystemClock
from paceline.errors import PacelineError
from paceline.models import JsonObject
from paceline.recount import CannotRepair, Correction, Recount, recount, repair


@click.command()
@click.argument("account", required=False)
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
@click.option("--repair", "does_repair", is_flag=True, help="Correct what differs, after a question.")
@click.option("--yes", is_flag=True, help="With --repair: without the question.")
@reaches_a_system
def audit(where: Where, account: str | None, is_json: bool, does_repair: bool, yes: bool) -> None:
    """Recount the credits of ACCOUNT (default: of every account, and the days of every route) from the messages.

    It only reads, unless --repair is given. Campaigns may run meanwhile: a row is judged at a moment at which nothing
    moved, or with all that did. Exit status: 0 nothing differs (or no more, after a repair), 1 something differs, 2 it
    cannot be told.
    """
    system = reach(where)
    with _faults_said(), explained(where):
        found = _counted(system, account)
        repairs: list[JsonObject] = []
        if does_repair and found.differs and _is_wanted(found, yes):
            repairs = _repair(system, found)
            found = _counted(system, account)
    if is_json:
        click.echo(json.dumps(as_json(found) | ({"repairs": repairs} if does_repair else {})))
    else:
        show(found, repairs)
    sys.exit(1 if found.differs else 0)


class _faults_said:
    """Ends the command with status 2 where a rule refuses: no such account, a table that throttles."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, PacelineError):
            click.echo(f"Error: {error}", err=True)
            sys.exit(2)


def _counted(system: System, account: str | None) -> Recount:
    """Recount, with a bar on stderr where somebody looks."""
    console = Console(stderr=True, markup=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("batches"))
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:

        def on_progress(campaign_id: str, read: int, of: int) -> None:
            if campaign_id not in tasks:
                tasks[campaign_id] = progress.add_task(campaign_id, total=of)
            progress.update(tasks[campaign_id], completed=read)

        return recount(system.table, system.store, account, SystemClock().now(), on_progress)


def _corrections(found: Recount) -> list[tuple[str | None, Correction]]:
    """Return all corrections, those first that give credits back: the others may need these."""
    of_accounts = [(account.account_id, one) for account in found.accounts for one in account.corrections]
    every: list[tuple[str | None, Correction]] = [*of_accounts, *((None, one) for one in found.corrections)]
    return sorted(every, key=lambda pair: -_given_back(pair[1]))


def _given_back(correction: Correction) -> int:
    return sum(amount for (_, name), amount in correction.moves.items() if name == "available")


def _is_wanted(found: Recount, yes: bool) -> bool:
    corrections = _corrections(found)
    if not corrections:
        click.echo("Nothing of this can be repaired by a write of ours; the reasons say what to do.", err=True)
        return False
    for account_id, one in corrections:
        moves = ", ".join(f"{name} {amount:+,}" for (_, name), amount in one.moves.items() if amount) or "its row only"
        click.echo(f"To write: {one.title}{f' ({account_id})' if account_id else ''}: {moves}", err=True)
    return yes or click.confirm(f"Write {len(corrections)} corrections?", err=True)


def _repair(system: System, found: Recount) -> list[JsonObject]:
    """Write the corrections; return what each changed, or why it could not."""
    written: list[JsonObject] = []
    for account_id, one in _corrections(found):
        by = Signature("console", SystemClock().now(), f"audit-{uuid4().hex[:12]}", getpass.getuser())
        try:
            changed = repair(system.table, account_id, one, by)
            written.append({"account_id": account_id, "what": one.title, "changed": changed})
        except CannotRepair as refused:
            written.append({"account_id": account_id, "what": one.title, "refused": str(refused)})
    return written
