"""The command's options, and which of its four ways they ask for."""

from __future__ import annotations

import os
import re

import click

from sandbox.faults import Fault
from sandbox.simulation.worlds.profiles import MIXED, PROFILES

_ABOUT = "; ".join(f"{name}: {trouble.about}" for name, trouble in PROFILES.items())


class Seeds(click.ParamType[range]):
    """A..B, both included; or one number."""

    name = "A..B"

    def convert(self, value: object, param: click.Parameter | None, context: click.Context | None) -> range:
        found = re.fullmatch(r"(\d+)(?:\.\.(\d+))?", str(value))
        if found is None or int(found[2] or found[1]) < int(found[1]):
            self.fail(f"{value!r} is no range of seeds; write it like 1..150.", param, context)
        return range(int(found[1]), int(found[2] or found[1]) + 1)


@click.command()
@click.option("--seeds", type=Seeds(), help="Build and judge a random world for each of these seeds.")
@click.option("--profile", type=click.Choice([MIXED, *PROFILES]), default=MIXED, show_default=True, help=_ABOUT + ".")
@click.option("--keep", metavar="TAGS", help="Of a world, only these pieces and faults: replays a story.")
@click.option("--first", is_flag=True, help="Stop at the first world in which something does not hold.")
@click.option("--no-shrink", is_flag=True, help="Do not look for the shortest story of a failing world.")
@click.option("--mutants", is_flag=True, help="Break one rule of the product at a time: is each noticed?")
@click.option("--mutant", "names", multiple=True, metavar="NAME", help="Only this mutant; may be given several times.")
@click.option("--kill-everywhere", "everywhere", is_flag=True, help="Kill one campaign at every call, a run for each.")
@click.option("--kill-at", type=click.IntRange(min=1), metavar="N", help="Only at the N-th call: replays one run.")
@click.option(
    "--when",
    multiple=True,
    type=click.Choice([fault.value for fault in Fault]),
    help="What happens to the killed call; may be given several times.  [default: before, after, orphaned]",
)
@click.option("--leads", type=click.IntRange(min=1, max=1000), default=50, show_default=True, help="Of that campaign.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of that campaign.")
@click.option("--every", type=click.IntRange(min=1), default=1, show_default=True, help="Only every k-th call.")
@click.option("--function", metavar="NAME", default="", help="Only calls of one function: send, close, callbacks, …")
@click.option("--callbacks-once", is_flag=True, help="The provider does not repeat a callback that failed.")
@click.option(
    "--workers", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default="cores", help="Runs at once."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def simulate(
    seeds: range | None,
    profile: str,
    keep: str | None,
    first: bool,
    no_shrink: bool,
    mutants: bool,
    names: tuple[str, ...],
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
    """Run campaigns in the sandbox, disturbed in every way, and check what must hold whatever happens.

    \b
    --seeds 1..150      a random small world and a random storm for each seed; eight invariants are judged,
                        and a failing world is made as small as it can be (docs/reliability.md)
    --mutants           break the product on purpose, one rule at a time; random worlds must notice each
    --kill-everywhere   one campaign, killed at each of its calls in turn
    --kill-at N         the same, at one call

    Exit status: 1 where something does not hold, or a mutant lives.
    """
    asked = [seeds is not None, mutants or bool(names), everywhere, kill_at is not None]
    if sum(asked) != 1:
        raise click.UsageError("Give one of --seeds, --mutants, --kill-everywhere and --kill-at.")
    if seeds is not None:
        from console.simulation.worlds import run_worlds

        kept = None if keep is None else frozenset(keep.split(","))
        run_worlds(seeds, profile, kept, workers, first=first, shrinks=not no_shrink, as_json=as_json)
    elif asked[1]:
        from console.simulation.mutants import run_mutants

        run_mutants(names, workers, as_json=as_json)
    else:
        from console.simulation.kills import run_kills
        from sandbox.simulation.kill_everywhere import Setting

        setting, faults = Setting(leads, seed, not callbacks_once), tuple(map(Fault, when))
        run_kills(setting, faults, kill_at, every=every, function=function, workers=workers, as_json=as_json)
