"""`paceline opt-outs`: who is written to no more. Numbers are masked unless they are asked for."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from console.operator.api import Api, at
from console.operator.desk import Desk, a_table, ask, asks_first, print_table, say, sits_at_a_desk
from console.operator.values import masked

# One request is done well before the API's gateway gives up.
_AT_ONCE = 1000
_FIELDS = ("phone_number", "opted_out_at", "source")
_HEADINGS = {"phone", "phone_number", "number", "phone number"}


@click.command()
@click.argument("account")
@click.option("--add", "added", multiple=True, metavar="NUMBER", help="Add a number; may be given again.")
@click.option(
    "--import",
    "imported",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Add the numbers of a file: one a line, or a CSV's first column.",
)
@click.option(
    "--export",
    "exported",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a new CSV with the whole numbers, for your eyes only.",
)
@click.option("--reveal", is_flag=True, help="Show whole numbers.  [default: the last four digits]")
@asks_first
@sits_at_a_desk
def opt_outs(
    desk: Desk,
    account: str,
    added: Sequence[str],
    imported: Path | None,
    exported: Path | None,
    reveal: bool,
    yes: bool,
) -> None:
    """List the opt-outs of ACCOUNT, add to them, or write them to a file.

    Nobody on the list is sent to, by running campaigns too; the API takes nobody off it again. Exit status: 0 done,
    1 refused, not wanted, or a line was no number, 2 it cannot be told.
    """
    if sum(map(bool, (added, imported, exported))) > 1:
        raise click.UsageError("Give one of --add, --import and --export.")
    if added or imported:
        _add(desk, account, _lines(imported) if imported else [*enumerate(added, start=1)], yes)
        return
    found = list(desk.api.every(at("opt-outs"), "opt_outs", account_id=account))
    if exported:
        _export(found, exported)
        click.echo(f"{len(found):,} opt-outs are in {exported}, with whole numbers.", err=True)
        return
    shown = found if reveal else [{**one, "phone_number": masked(one["phone_number"])} for one in found]
    desk.show({"opt_outs": shown}, lambda: _show(desk, shown))


def _lines(path: Path) -> list[tuple[int, str]]:
    """Return what stands first in each line of a file, with the line's number."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            read = csv.reader(file)
            cells = [(read.line_num, row[0].strip()) for row in read if row and row[0].strip()]
    except (UnicodeDecodeError, csv.Error) as error:
        raise click.UsageError(f"{path} is no text with a number a line: save it as CSV (UTF-8).") from error
    return cells[1:] if cells and cells[0][1].casefold() in _HEADINGS else cells


def _add(desk: Desk, account: str, numbered: list[tuple[int, str]], yes: bool) -> None:
    if not numbered:
        raise click.UsageError("There is no number in the file.")
    ask(f"Add {len(numbered):,} numbers to the opt-outs of {account}? The API takes nobody off again.", yes)
    told: dict[str, Any] = {"added": 0, "known": 0, "refused": []}
    for start in range(0, len(numbered), _AT_ONCE):
        _merge(told, _posted(desk.api, account, numbered[start : start + _AT_ONCE]))
    desk.show(told, lambda: say(f"{told['added']:,} added, {told['known']:,} were on the list."))
    for one in told["refused"]:
        click.echo(f"not added, line or place {one['row_number']:,}: {one['detail']}", err=True)
    if told["refused"]:
        raise click.exceptions.Exit(1)


def _posted(api: Api, account: str, some: list[tuple[int, str]]) -> dict[str, Any]:
    """Add some; the refused have the numbers of their lines."""
    body = {"account_id": account, "phone_numbers": [number for _, number in some]}
    answer = api.post(at("opt-outs"), body)
    refused = [{**one, "row_number": some[one["row_number"] - 1][0]} for one in answer["refused"]]
    return {**answer, "refused": refused}


def _merge(told: dict[str, Any], more: dict[str, Any]) -> None:
    for name in told:
        told[name] += more[name]


def _export(found: list[dict[str, Any]], path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise click.UsageError(f"{path} cannot be written: {error.strerror}. Name a new file.") from error
    with open(descriptor, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, _FIELDS, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(found)


def _show(desk: Desk, shown: list[dict[str, Any]]) -> None:
    table = a_table("number", "opted out", "by")
    for one in shown:
        table.add_row(one["phone_number"], desk.time(one["opted_out_at"]), one["source"])
    print_table(table)
    say(f"{len(shown):,} opt-outs.")
