"""`paceline simulate`: a small campaign, disturbed at every call in turn."""

from __future__ import annotations

import json
import os
import sys

import click

from sandbox.faults import KILLS, Fault
from sandbox.simulation.kill_everywhere import KINDS, Found, Outcome, Setting, kill_at, kill_everywhere

# How often progress is told, in runs.
TOLD_EVERY = 50


@click.command()
@click.option("--kill-everywhere", "everywhere", is_flag=True, help="Kill the process at every call, a run for each.")
@click.option("--kill-at", type=click.IntRange(min=1), metavar="N", help="Only at the N-th call: replays one run.")
@click.option(
    "--when",
    multiple=True,
    type=click.Choice([fault.value for fault in Fault]),
    help="What happens to the call; may be given several times.  [default: before, after, orphaned]",
)
@click.option("--leads", type=click.IntRange(min=1, max=1000), default=50, show_default=True, help="Leads.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed gives the same timeline.")
@click.option("--every", type=click.IntRange(min=1), default=1, show_default=True, help="Only every k-th call.")
@click.option("--function", metavar="NAME", default="", help="Only calls of one function: send, close, callbacks, …")
@click.option("--callbacks-once", is_flag=True, help="The provider does not repeat a callback that failed.")
@click.option(
    "--workers", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default="cores", help="Runs at once."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def simulate(
    everywhere: bool,
    kill_at: int | None,
    when: tuple[str, ...],
    leads: int,
    seed: int,
    every: int,
    function: str,
    callbacks_once: bool,
    workers: int,
    as_json: bool,
) -> None:
    """Run a campaign in the sandbox again and again, disturbed each time, and check what it leaves.

    Nothing may be sent twice or lost, credits must be exact, every execution must end. Exit status: 1 where something
    does not hold.
    """
    if everywhere == (kill_at is not None):
        raise click.UsageError("Give either --kill-everywhere or --kill-at N.")
    setting = Setting(leads, seed, not callbacks_once)
    faults = tuple(map(Fault, when)) or KILLS
    if kill_at is not None:
        outcome = _replayed(setting, kill_at, faults)
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
