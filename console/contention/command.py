"""The command itself: options, progress, files."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from console.contention.grid import Grid, run_grid
from console.contention.plot import draw
from console.contention.tables import number, show
from sandbox.contention.cells import NothingSent
from sandbox.contention.figures import Figures
from sandbox.contention.loads import DESIGNS

DEFAULT_OUT = Path("out/contention")


class Numbers(click.ParamType[list[int]]):
    """A list of whole numbers greater than 0, with commas between them."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        if isinstance(value, list):
            return value
        words = [word.strip() for word in str(value).split(",")]
        if not all(word.isascii() and word.isdigit() and int(word) > 0 for word in words):
            self.fail(f"{value!r} is no list of whole numbers greater than 0; write it like 2,8,16", param, ctx)
        return list(dict.fromkeys(map(int, words)))


class Designs(click.ParamType[list[str]]):
    """A list of designs, with commas between them."""

    name = "designs"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        if isinstance(value, list):
            return value
        names = [name.strip() for name in str(value).split(",")]
        for name in names:
            if name not in DESIGNS:
                self.fail(f"there is no design {name!r}; designs: {', '.join(DESIGNS)}", param, ctx)
        return list(dict.fromkeys(names))


@click.command()
@click.option("--workers", type=Numbers(), default="2,8,16,64,256", show_default=True, help="Sends under way at once.")
@click.option("--ceilings", type=Numbers(), default="500,6000,60000", show_default=True, help="Parts a minute.")
@click.option("--designs", type=Designs(), default=",".join(DESIGNS), show_default=True, help="Which to compare.")
@click.option(
    "--minutes",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="How long each cell is watched at most, in minutes of the sandbox's clock.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed gives the same figures.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=DEFAULT_OUT,
    show_default=True,
    metavar="DIR",
    help="Write contention.json and contention.png there.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the JSON instead of the tables.")
def contention(
    workers: list[int], ceilings: list[int], designs: list[str], minutes: int, seed: int, out: Path, as_json: bool
) -> None:
    """Compare three designs of a send path, in the sandbox, with conflicts on.

    All send for one customer's account. rewrite: each send reads the account's row and the day's counter, and writes
    them back where nobody else did meanwhile. add: each send adds to them in its transaction. leased: the product,
    which writes them once a batch.

    Each design runs with each number of workers under each ceiling. The whole grid takes some minutes; a line on
    standard error tells of each cell. Exit status: 0 when all were measured, 1 when one sent nothing, 2 when an option
    cannot be used.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        file = out / "contention.json"
        result = run_grid(Grid(designs, workers, ceilings, minutes, seed), _tell, lambda so_far: _write(file, so_far))
        draw(result["cells"], out / "contention.png")
    except OSError as error:
        _end(f"The files cannot be written to {out}: {error.strerror}.", 2)
    except NothingSent as error:
        _end(f"{error} What was measured before it is in {file}.", 1)
    if as_json:
        click.echo(json.dumps(result, indent=2))
        return
    show(result["cells"], Console(width=None if sys.stdout.isatty() else 150, markup=False))
    click.echo(f"\nfiles  contention.json, contention.png in {out}")


def _write(file: Path, result: dict[str, Any]) -> None:
    file.write_text(json.dumps(result, indent=2) + "\n")


def _end(sentence: str, status: int) -> None:
    click.echo(f"Error: {sentence}", err=True)
    sys.exit(status)


def _tell(done: int, of: int, cell: Figures, seconds: float) -> None:
    """Say on standard error what a cell gave."""
    what = f"{cell['design']}, {cell['workers']} workers, ceiling {cell['ceiling_parts_per_minute']:,}"
    click.echo(
        f"{done:>3} of {of}  {what:<42} {number(cell['sends_per_minute']):>7} a minute  ({seconds:.1f} s)", err=True
    )
