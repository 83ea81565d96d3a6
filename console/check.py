"""`paceline check`: everything that can be known about the project without running it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from console.checks import Problem

ROOT = Path(__file__).parent.parent


def find_problems(root: Path) -> Iterator[Problem]:
    """Yield every problem of the project in `root`."""
    # Here, so that the other commands do not pay for the import of cfn-lint and the translator.
    from console.checks.contracts import check_contracts, check_samples
    from console.checks.definitions import check_definition
    from console.checks.template import check_template

    machines = sorted((root / "statemachines").glob("*.asl.json"))
    for path in machines:
        yield from check_definition(path, path.relative_to(root).as_posix())
    yield from check_template(root, machines)
    yield from check_contracts(root)
    yield from check_samples(root)


@click.command()
@click.option(
    "--root",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=ROOT,
    metavar="DIR",
    help="The project.  [default: this one]",
)
def check(root: Path) -> None:
    """Check the state machines, the template, the contracts' schemas and the sample events.

    One line for each problem, with its file and place. Exit status: 0 when there is none, 1 when there is one.
    """
    problems = list(dict.fromkeys(find_problems(root.resolve())))
    for problem in problems:
        click.echo(str(problem))
    click.echo(f"{len(problems)} problem{'s' * (len(problems) != 1)} found." if problems else "Nothing is wrong.")
    raise SystemExit(1 if problems else 0)
