"""The grid of cells that `paceline contention` runs, and the one object that becomes of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sandbox.contention.calibration import Calibration
from sandbox.contention.cells import WARM_UP_SECONDS, measure
from sandbox.contention.figures import Figures, figures_of
from sandbox.contention.loads import Cell

# The cell whose rows are shown is the one nearest to the story's.
STORY_WORKERS, STORY_CEILING = 16, 500

Told = Callable[[int, int, Figures, float], None]


@dataclass(frozen=True, slots=True)
class Grid:
    """What is compared. ceilings: parts a minute. minutes: of the clock, the most that a cell is watched."""

    designs: Sequence[str]
    workers: Sequence[int]
    ceilings: Sequence[int]
    minutes: int
    seed: int

    @property
    def cells(self) -> list[Cell]:
        return [
            Cell(design, workers, ceiling)
            for ceiling in self.ceilings
            for workers in self.workers
            for design in self.designs
        ]


def run_grid(grid: Grid, told: Told, keep: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Run every cell; return what contention.json holds. told: (number, of how many, figures, real seconds) of each.

    keep: called after each cell with what there is so far, so that a long run that is stopped has not been for nothing.
    Raises: sandbox.contention.cells.NothingSent.
    """
    calibration, cells = Calibration(), grid.cells
    figures: list[Figures] = []
    result = {
        "seed": grid.seed,
        "warm_up_seconds": WARM_UP_SECONDS,
        "most_minutes": grid.minutes,
        "calibration": {f"{name}_seconds": value for name, value in asdict(calibration).items()},
        "cells": figures,
    }
    for number, cell in enumerate(cells, 1):
        started = time.monotonic()
        figures.append(figures_of(measure(cell, seed=grid.seed, minutes=grid.minutes, calibration=calibration)))
        told(number, len(cells), figures[-1], time.monotonic() - started)
        keep(result)
    return result


def cells_for_rows(cells: Sequence[Figures]) -> list[Figures]:
    """Return one cell of each design, the one nearest to the story's 16 workers and ceiling of 500."""
    nearest: dict[str, Figures] = {}
    for cell in sorted(cells, key=_distance_from_story, reverse=True):
        nearest[cell["design"]] = cell
    return [nearest[design] for design in dict.fromkeys(cell["design"] for cell in cells)]


def _distance_from_story(cell: Figures) -> tuple[int, int]:
    return abs(cell["ceiling_parts_per_minute"] - STORY_CEILING), abs(cell["workers"] - STORY_WORKERS)
