"""Mutants: each with the seed that killed it."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import click

from sandbox.simulation.mutants import SEEDS, Fate, Mutant, all_mutants, hunt, judged


def run_mutants(names: Sequence[str], workers: int, *, as_json: bool) -> None:
    """Hunt all mutants, or those named; print each one's fate. Ends the process."""
    started = time.monotonic()
    fates = []
    with ThreadPoolExecutor(workers) as pool:  # a thread only waits for the mutant's own process
        for fate in pool.map(hunt, _chosen(names)):
            fates.append(fate)
            click.echo(_line(fate), err=as_json)
    told, fates = fates, judged(fates, workers)
    for fate in fates:
        if fate not in told:
            click.echo(_line(fate), err=as_json)
    killed = sum(fate.seed is not None for fate in fates)
    seconds = round(time.monotonic() - started, 1)
    if as_json:
        shown = {"mutants": [_shown(fate) for fate in fates], "killed": killed, "of": len(fates), "seconds": seconds}
        click.echo(json.dumps(shown))
    else:
        click.echo(f"{killed} of {len(fates)} mutants killed, each within {SEEDS} seeds, in {seconds:.0f} s")
    sys.exit(0 if killed == len(fates) else 1)


def _chosen(names: Sequence[str]) -> list[Mutant]:
    known = {mutant.name: mutant for mutant in all_mutants()}
    if unknown := [name for name in names if name not in known]:
        raise click.UsageError(f"There is no mutant {unknown[0]!r}. There are: {', '.join(known)}.")
    return [known[name] for name in names] or list(known.values())


def _line(fate: Fate) -> str:
    if fate.error:
        return f"{fate.mutant.name}: could not be judged: {fate.error}"
    if fate.seed is None:
        return f"{fate.mutant.name}: LIVES ({fate.mutant.rule})"
    return f"{fate.mutant.name}: killed by seed {fate.seed}, {fate.what[:120]}"


def _shown(fate: Fate) -> dict[str, Any]:
    mutant = {"name": fate.mutant.name, "rule": fate.mutant.rule, "files": [edit.file for edit in fate.mutant.edits]}
    return mutant | {"seed": fate.seed, "invariants": fate.invariants, "what": fate.what, "error": fate.error}
