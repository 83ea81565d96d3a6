"""`paceline conformance`: recorded executions on our engine, what it really did, and how much of it is what AWS did."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from sandbox.engine.conformance import run_case
from sandbox.engine.lifecycle import ENGINE_ERROR

LEVELS = ("result", "types", "events")
Case = dict[str, Any]
Compare = Callable[[Case, dict[str, Any], str], list[str]]


class CannotRead(Exception):
    """The file of recordings cannot be used; the text says why."""


@dataclass
class Ran:
    """What came of a file's cases. actual: by id, nothing left out. errors: (id, why) of what could not be run."""

    cases: list[Case] = field(default_factory=list)
    actual: dict[str, dict[str, Any]] = field(default_factory=dict)
    errors: list[tuple[str, str]] = field(default_factory=list)


def read_cases(path: Path, areas: Iterable[str] = (), ids: Iterable[str] = ()) -> list[Any]:
    """Return the chosen cases of a file. Raises: CannotRead."""
    try:
        cases = json.loads(path.read_text())["cases"]
    except OSError as error:
        raise CannotRead(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise CannotRead(f'{path} is no file of recordings ({{"cases": [...]}}): {error}') from None
    if not isinstance(cases, list):
        raise CannotRead(f"{path}: `cases` must be a list")
    chosen = [case for case in cases if _is_chosen(case, set(areas), set(ids))]
    if not chosen:
        raise CannotRead(f"{path} has no such case")
    return chosen


def _is_chosen(case: Any, areas: set[str], ids: set[str]) -> bool:
    if not isinstance(case, dict):
        return not areas and not ids
    return (not areas or case.get("area") in areas) and (not ids or case.get("id") in ids)


def run_all(cases: list[Any]) -> Ran:
    """Run each case alone; one that cannot be run never loses the others, and has the status NOT_RUN."""
    ran = Ran()
    for number, case in enumerate(cases, start=1):
        name = str(case.get("id", f"case {number}")) if isinstance(case, dict) else f"case {number}"
        if name in ran.actual:
            ran.errors.append((name, "another case has this id"))
            continue
        try:
            actual = run_case(case)
            if actual.get("error") == ENGINE_ERROR:
                raise RuntimeError(actual["cause"].strip().splitlines()[-1])
            ran.cases.append(case)
        except Exception as error:  # whatever is wrong with one case is that case's own
            actual = {"status": "NOT_RUN", "cause": f"{type(error).__name__}: {error}"}
            ran.errors.append((name, actual["cause"]))
        ran.actual[name] = actual
    return ran


def load_comparator(folder: Path) -> Compare | None:
    """Return `problems` of the comparator that lies beside the recordings, where one does."""
    path = folder / "compare.py"
    spec = importlib.util.spec_from_file_location("conformance_compare", path) if path.is_file() else None
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    problems: Compare = module.problems
    return problems


def without_lost_events(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out what a recording with `events_sorted` has lost: for comparing only, never in what we write.

    The ids of such recordings have a gap for each ParallelStateSucceeded, and for the exit of a Parallel inside
    another: AWS wrote these events, as our engine does, and the sorting of the recording dropped them.
    """
    kept, depth = [], 0
    for event in events:
        depth += event["type"] == "ParallelStateStarted"
        if event["type"] == "ParallelStateSucceeded":
            depth -= 1
        elif not (event["type"] == "ParallelStateExited" and depth > 0):
            kept.append(event)
    return kept


def comparable(case: Case, actual: dict[str, Any]) -> dict[str, Any]:
    """Return what the engine did in the shape of this case's recording."""
    if case.get("events_sorted") and "events" in actual:
        return {**actual, "events": without_lost_events(actual["events"])}
    return actual


def score(ran: Ran, conforms: Callable[[Case, str], bool]) -> dict[str, Counter[str]]:
    """Return by level how many cases of each area conform."""
    return {level: Counter(_area(case) for case in ran.cases if conforms(case, level)) for level in LEVELS}


def _area(case: Case) -> str:
    return str(case.get("area", "(none)"))


def _conforms(problems: Compare, case: Case, actual: dict[str, Any], level: str) -> bool:
    try:
        return not problems(case, actual, level)
    except (KeyError, TypeError, AttributeError):  # a recording that the comparator cannot read shows nothing
        return False


def table(ran: Ran, problems: Compare | None) -> Iterator[str]:
    """Yield the lines that a person reads: per area how many ran, and how many conform."""

    def as_recorded(case: Case, level: str) -> bool:
        return problems is not None and _conforms(problems, case, comparable(case, ran.actual[case["id"]]), level)

    totals = Counter(map(_area, ran.cases))
    scores = score(ran, as_recorded) if problems else {}
    yield f"{'area':<20} {'ran':>5}" + "".join(f" {level:>7}" for level in scores)
    for area, total in sorted(totals.items()):
        yield f"{area:<20} {total:>5}" + "".join(f" {found[area]:>7}" for found in scores.values())
    yield f"{'all':<20} {totals.total():>5}" + "".join(f" {found.total():>7}" for found in scores.values())
    if problems and (lost := sum(bool(case.get("events_sorted")) for case in ran.cases)):
        raw = sum(_conforms(problems, case, ran.actual[case["id"]], "events") for case in ran.cases)
        yield (
            f"Recordings that were sorted and lost events which AWS wrote (their ids show the gaps): {lost}. In this "
            "table our events are compared without those. What --json writes has every event; compared as it is, "
            f"{raw} of {totals.total()} conform at level events."
        )


@click.command()
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--json", "out", type=click.Path(path_type=Path, dir_okay=False), metavar="OUT", help="Write them there.")
@click.option("--area", "areas", multiple=True, metavar="AREA", help="Only this area (may be given again).")
@click.option("--id", "ids", multiple=True, metavar="ID", help="Only this case (may be given again).")
def conformance(file: Path, out: Path | None, areas: tuple[str, ...], ids: tuple[str, ...]) -> None:
    """Run the recorded executions in FILE on the sandbox's engine, and write what it really did.

    Where a compare.py lies beside FILE, the table also says how many are what was recorded on AWS. Exit status: 0 when
    every case was run (the score does not change it), 1 when one could not be, 2 when FILE cannot be used.
    """
    try:
        ran = run_all(read_cases(file, areas, ids))
        if out is not None:
            _write(out, ran.actual)
    except CannotRead as error:
        click.echo(f"Error: {error}", err=True)
        raise SystemExit(2) from None
    for line in table(ran, load_comparator(file.parent)):
        click.echo(line)
    for name, why in ran.errors:
        click.echo(f"Error: {name} could not be run: {why}", err=True)
    raise SystemExit(1 if ran.errors else 0)


def _write(out: Path, actual: dict[str, dict[str, Any]]) -> None:
    try:
        out.write_text(json.dumps(actual, indent=1) + "\n")
    except OSError as error:
        raise CannotRead(f"{out} cannot be written: {error.strerror}") from None
