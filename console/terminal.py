"""What a person sees of a run in the terminal: a bar while it goes, the report when it is over."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from console.run import Result, State
from paceline.report.words import duration, label


class _Silent:
    """No bar: the output is for a program."""

    def planned(self, plan: dict[str, Any]) -> None:
        """Show nothing."""

    def moved(self, state: State) -> None:
        """Show nothing."""


class _Bar:
    """The bar on stderr, and in front of it the plan."""

    def __init__(self, console: Console, progress: Progress) -> None:
        self._console = console
        self._progress = progress
        self._task = progress.add_task("planning", total=None, clock="", waits="")

    def planned(self, plan: dict[str, Any]) -> None:
        """Show what the plan says before the start."""
        leads = plan["leads"]
        self._console.print(
            f"Planned: {leads['in']:,} leads, {leads['accepted']:,} accepted ({plan['parts']:,} parts), "
            f"{leads['rejected']:,} rejected, {leads['duplicates']:,} duplicates, {leads['opted_out']:,} opted out.",
            soft_wrap=True,
        )
        for warning in plan["warnings"]:
            self._console.print(Text.assemble(("Warning:", "yellow"), f" {warning}"), soft_wrap=True)
        self._progress.update(self._task, description="sent", total=leads["accepted"])

    def moved(self, state: State) -> None:
        """Move the bar; say what is waited for."""
        waits = f"{state.delivered:,} delivered"
        if state.sent > state.final:
            waits += f" · {state.sent - state.final:,} wait for a receipt"
        waits += "".join(f" · {_hold(hold)}" for hold in state.held_by[:2])
        self._progress.update(self._task, completed=state.sent, clock=f"{state.now:%a %H:%M:%S} UTC", waits=waits)


def _hold(hold: dict[str, Any]) -> str:
    until = f" until {hold['until'][:16].replace('T', ' ')}" if hold.get("until") else ""
    evidence = f" ({hold['used']:,} of {hold['limit']:,} used)" if hold.get("used") and hold.get("limit") else ""
    return f"{hold['route']} waits for {label(hold['cause']).lower()}{evidence}{until}"


class Terminal:
    """Standard output and error. quiet: standard output is for a program."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._out = Console(markup=False)
        self._err = Console(stderr=True, markup=False)

    @contextmanager
    def progress(self) -> Iterator[_Bar | _Silent]:
        """Yield where a run shows how far it is: a bar for people, nothing for programs."""
        if self._quiet and not sys.stderr.isatty():
            yield _Silent()
            return
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[clock]}"),
            TextColumn("{task.fields[waits]}"),
        )
        with Progress(*columns, console=self._err, transient=True) as bar:
            yield _Bar(self._err, bar)

    def show(self, result: Result) -> None:
        """Print the outcome report."""
        report, summary = result.report, result.summary
        self._out.print(f"\n{report['headline']}\n", style="bold", soft_wrap=True)
        self._out.print(_outcomes(report))
        for name, value in _facts(report, summary):
            self._out.print(f"{name:<24} {value}", soft_wrap=True)
        if result.out is not None:
            names = "report.html, report.json, outcomes.csv, rejects.csv, timeline.csv"
            self._out.print(f"{'files':<24} {names} in {result.out}", soft_wrap=True)


def _outcomes(report: dict[str, Any]) -> Table:
    table = Table("Outcome", "Messages", "Why", box=None, pad_edge=False)
    table.columns[1].justify = "right"
    for outcome, count in report["outcomes"].items():
        causes = report["causes"].get(outcome, {})
        why = ", ".join(f"{label(cause).lower()} {n:,}" for cause, n in causes.items())
        table.add_row(label(outcome), f"{count:,}", why)
    return table


def _facts(report: dict[str, Any], summary: dict[str, Any]) -> Iterator[tuple[str, str]]:
    leads, credits = report["leads"], report["credits"]
    yield "", ""
    yield (
        "leads",
        f"{leads['in']:,} in = {leads['rejected']:,} rejected + {leads['duplicates']:,} duplicates"
        f" + {leads['opted_out']:,} opted out + {leads['accepted']:,} accepted",
    )
    yield (
        "credits",
        f"{credits['reserved']:,} reserved = {credits['consumed']:,} consumed + {credits['released']:,} released",
    )
    if report["rejected_reasons"]:
        reasons = ", ".join(f"{label(reason).lower()} {n:,}" for reason, n in report["rejected_reasons"].items())
        yield "rejected for", reasons
    yield "sums", "close" if report["balanced"] else "do not close: see `sums` in report.json"
    for route, most in summary["max_sent_in_60_seconds"].items():
        cap = report["by_route"].get(route, {}).get("parts_per_minute_cap")
        yield f"most in 60 s on {route}", f"{most:,} of {cap:,} parts"
    for cause, seconds in report["lost_to"].items():
        yield f"waited for {label(cause).lower()}", duration(seconds)
    yield "time", f"{duration(summary['virtual_seconds'])} of the clock in {summary['wall_seconds']:.1f} s"
