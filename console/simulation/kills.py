"""A small campaign, disturbed at every call in turn: progress, counts, and how each violation is replayed."""

from __future__ import annotations

import json
import sys

import click

from sandbox.faults import KILLS, Fault
from sandbox.simulation.kill_everywhere import KINDS, Found, Outcome, Setting, kill_at, kill_everywhere

# How often progress is told, in runs.
TOLD_EVERY = 50


def run_kills(
    setting: Setting,
    faults: tuple[Fault, ...],
    position: int | None,
    *,
    every: int,
    function: str,
    workers: int,
    as_json: bool,
) -> None:
    """Kill the campaign everywhere, or at one call; print what it showed. Ends the process."""
    faults = faults or KILLS
    if position is not None:
        outcome = _replayed(setting, position, faults)
    else:
        outcome = kill_everywhere(setting, faults, every=every, function=function, workers=workers, moved=_tell)
    click.echo(json.dumps(outcome.summary()) if as_json else _text(outcome))
    for found in outcome.found if not as_json else ():
        click.echo(_story(found, setting))
    sys.exit(1 if outcome.found else 0)


def _replayed(setting: Setting, position: int, faults: tuple[Fault, ...]) -> Outcome:
    if len(faults) != 1:
        raise click.UsageError("--kill-at takes one --when.")
    return kill_at(setting, position, faults[0])


def _tell(outcome: Outcome) -> None:
    if outcome.runs % TOLD_EVERY == 0:
        click.echo(f"{outcome.runs} runs, {len(outcome.found)} violations, {outcome.seconds:.0f} s", err=True)


def _text(outcome: Outcome) -> str:
    summary = outcome.summary()
    counts = ", ".join(f"{summary[kind]} {kind.replace('_', ' ')}" for kind in KINDS)
    return f"{outcome.positions} calls, {outcome.runs} runs in {outcome.seconds:.0f} s: {counts}"


def _story(found: Found, setting: Setting) -> str:
    told = f"{found.kind}: {found.what}"
    if not found.position:
        return f"undisturbed: {told}"
    once = "" if setting.repeats_callbacks else " --callbacks-once"
    options = f"--leads {setting.leads} --seed {setting.seed}{once}"
    command = f"paceline simulate --kill-at {found.position} --when {found.when} {options}"
    return f"{found.position} {found.call}, {found.when}: {told}\n    {command}"
