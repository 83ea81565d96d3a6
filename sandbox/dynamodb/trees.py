"""The trees that expressions are parsed into: conditions, projections (lists of paths) and updates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from sandbox.dynamodb.errors import invalid


class Path(NamedTuple):
    """A document path: attribute names (str) and list indexes (int)."""

    parts: tuple[str | int, ...]


class ValueName(NamedTuple):
    """A placeholder such as `:limit`."""

    name: str


class Size(NamedTuple):
    path: Path


Operand = Path | ValueName | Size


class Comparison(NamedTuple):
    operator: str
    left: Operand
    right: Operand


class Between(NamedTuple):
    operand: Operand
    low: Operand
    high: Operand


class In(NamedTuple):
    operand: Operand
    options: tuple[Operand, ...]


class Predicate(NamedTuple):
    function: str
    path: Operand
    argument: Operand | None


class And(NamedTuple):
    left: Condition
    right: Condition


class Or(NamedTuple):
    left: Condition
    right: Condition


class Not(NamedTuple):
    condition: Condition


Condition = Comparison | Between | In | Predicate | And | Or | Not


class IfNotExists(NamedTuple):
    path: Path
    otherwise: Expression


class ListAppend(NamedTuple):
    left: Expression
    right: Expression


class Arithmetic(NamedTuple):
    operator: str
    left: Expression
    right: Expression


Expression = Path | ValueName | IfNotExists | ListAppend | Arithmetic


@dataclass
class Update:
    """The four sections of an update expression."""

    set: list[tuple[Path, Expression]] = field(default_factory=list)
    remove: list[Path] = field(default_factory=list)
    add: list[tuple[Path, ValueName]] = field(default_factory=list)
    delete: list[tuple[Path, ValueName]] = field(default_factory=list)

    def paths(self) -> list[Path]:
        """Every path that the update writes."""
        written = [path for section in (self.set, self.add, self.delete) for path, _ in section]
        return written + self.remove


def check_overlaps(paths: list[Path], kind: str) -> None:
    """Refuse two paths of which one contains the other. Raises: ValidationException."""
    for position, one in enumerate(paths):
        for two in paths[position + 1 :]:
            shared = min(len(one.parts), len(two.parts))
            if one.parts[:shared] == two.parts[:shared]:
                raise invalid(
                    f"Invalid {kind}: Two document paths overlap with each other; must remove or rewrite one of these "
                    f"paths; path one: {_listed(one)}, path two: {_listed(two)}"
                )


def _listed(path: Path) -> str:
    return "[" + ", ".join(f"[{part}]" if isinstance(part, int) else part for part in path.parts) + "]"
