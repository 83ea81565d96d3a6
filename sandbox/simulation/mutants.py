"""The product broken on purpose, one rule at a time: does a random world notice?

A mutant is a copy of the project with one text replaced. Its worlds run in a process of their own, which imports the
copy: the judges and the sandbox are the same, and the world that notices must be blameless without the mutant.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess  # nosec B404 # (our own command alone)
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sandbox.deployment import ROOT
from sandbox.simulation.worlds.trying import Trial, attempts, stack

# Within so many worlds a mutant is noticed.
SEEDS = 200
COPIED = ("functions", "sandbox", "console", "statemachines", "template.yaml", "pyproject.toml")


@dataclass(frozen=True, slots=True)
class Edit:
    """A text of a file, there exactly once, and what becomes of it."""

    file: str
    old: str
    new: str

    def apply(self, root: Path) -> None:
        """Change the file below `root`. Raises: ValueError, where the text is not there exactly once."""
        text = (root / self.file).read_text()
        if (count := text.count(self.old)) != 1:
            raise ValueError(f"{self.file} has the text of a mutant {count} times, not once: {self.old.strip()[:80]}")
        (root / self.file).write_text(text.replace(self.old, self.new))


@dataclass(frozen=True, slots=True)
class Mutant:
    """One rule, and the edits that break it: where two guards hold one rule, both are taken away."""

    name: str
    rule: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a mutant. seed: of the first world that noticed it; None: it lives. error: it did not even run."""

    mutant: Mutant
    seed: int | None
    invariants: tuple[str, ...] = ()
    what: str = ""
    error: str = ""


def all_mutants() -> list[Mutant]:
    """Return every mutant of `mutants.toml`."""
    read = tomllib.loads((Path(__file__).parent / "mutants.toml").read_text())
    return [Mutant(one["name"], one["rule"], tuple(Edit(**edit) for edit in one["edit"])) for one in read["mutant"]]


@contextmanager
def project_with(mutant: Mutant) -> Iterator[Path]:
    """Make a copy of the project with one rule broken."""
    with tempfile.TemporaryDirectory(prefix=f"mutant-{mutant.name}-") as folder:
        copy = Path(folder)
        for name in COPIED:
            here = ROOT / name
            if here.is_dir():
                shutil.copytree(here, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(here, copy / name)
        for edit in mutant.edits:
            edit.apply(copy)
        yield copy


def hunt(mutant: Mutant, seeds: int = SEEDS) -> Fate:
    """Look for the first world that notices a mutant, with the usual profile and one process."""
    with project_with(mutant) as copy:
        asked = ["simulate", "--seeds", f"1..{seeds}", "--first", "--no-shrink", "--workers", "1", "--json"]
        run = subprocess.run(  # noqa: S603 # nosec B603 # (our own command, in a copy of our own project)
            [sys.executable, "-c", "from console.cli import main; main()", *asked],
            env=os.environ | {"PYTHONPATH": f"{copy}{os.pathsep}{copy / 'functions'}"},
            cwd=copy,
            capture_output=True,
            text=True,
            check=False,
        )
    if run.returncode not in (0, 1) or not run.stdout.startswith("{"):
        return Fate(mutant, None, error=run.stderr[-500:])
    found = json.loads(run.stdout)["violations"]
    if not found:
        return Fate(mutant, None)
    noticed = tuple(one["invariant"] for one in found)
    told = next(line for line in found[0]["story"] if line.startswith(f"{noticed[0]}: "))
    return Fate(mutant, found[0]["seed"], noticed, told)


def judged(fates: Sequence[Fate], workers: int) -> list[Fate]:
    """Return the fates, none of them by a world that fails without the mutant too. Forks: of one thread only."""
    seeds = sorted({fate.seed for fate in fates if fate.seed is not None})
    with stack() as deployment:
        tried = attempts(deployment, map(Trial, seeds), workers)
        blamed = {verdict.trial.seed for verdict in tried if verdict.broken}
    error = "the world that noticed it fails without it too"
    return [
        replace(fate, seed=None, error=f"{error}: seed {fate.seed}") if fate.seed in blamed else fate for fate in fates
    ]
