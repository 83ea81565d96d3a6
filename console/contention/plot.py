"""The picture of the comparison: three figures over the workers, a column for each ceiling, a line for each design."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sandbox.contention.figures import Figures

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette, which the colour-blind can tell apart; the markers tell the lines apart without colour.
STYLES = {"rewrite": ("#D55E00", "s"), "add": ("#0072B2", "^"), "leased": ("#009E73", "o")}


class Panel(NamedTuple):
    """One row of the picture. scale: of its vertical axis; symlog where a figure may be 0."""

    title: str
    value: Callable[[Figures], float]
    scale: str


PANELS = (
    Panel("sends a minute", lambda cell: float(cell["sends_per_minute"]), "log"),
    Panel("conflicts per 1,000 sends", lambda cell: float(cell["conflicts_per_1000_sends"]), "symlog"),
    Panel(
        "hottest row: attempted\nwrites a second (mean)",
        lambda cell: float(cell["hottest_row"]["writes_per_second"]),
        "log",
    ),
)


def draw(cells: Sequence[Figures], path: Path) -> None:
    """Write the picture as PNG."""
    # Here, so that the other commands do not pay for the import; without pyplot, which would look for a screen.
    from matplotlib.figure import Figure

    ceilings = sorted({cell["ceiling_parts_per_minute"] for cell in cells})
    figure = Figure(figsize=(1.6 + 3.4 * len(ceilings), 9.0), layout="constrained")
    grid = figure.subplots(len(PANELS), len(ceilings), sharex=True, sharey="row", squeeze=False)
    for column, ceiling in enumerate(ceilings):
        of_ceiling = [cell for cell in cells if cell["ceiling_parts_per_minute"] == ceiling]
        for panel, axes in zip(PANELS, grid[:, column], strict=True):
            _draw_panel(axes, panel, of_ceiling)
        grid[0, column].axhline(ceiling, color="#555555", linestyle="--", linewidth=1.2, label="ceiling")
        grid[0, column].set_title(f"ceiling {ceiling:,} parts a minute", fontsize=11)
        grid[-1, column].set_xlabel("workers")
    for panel, axes in zip(PANELS, grid[:, 0], strict=True):
        axes.set_ylabel(panel.title)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False, fontsize=11)
    figure.savefig(path, dpi=120)


def _draw_panel(axes: Axes, panel: Panel, cells: Sequence[Figures]) -> None:
    for design in dict.fromkeys(cell["design"] for cell in cells):
        own = sorted((cell for cell in cells if cell["design"] == design), key=lambda cell: int(cell["workers"]))
        colour, marker = STYLES[design]
        xs, ys = [cell["workers"] for cell in own], [panel.value(cell) for cell in own]
        axes.plot(xs, ys, color=colour, marker=marker, markersize=7, linewidth=2, label=design, clip_on=False, zorder=3)
    axes.set_xscale("log", base=2)
    workers = sorted({cell["workers"] for cell in cells})
    axes.set_xticks(workers, [f"{count}" for count in workers])
    _scale(axes, panel.scale)
    axes.minorticks_off()
    axes.tick_params(labelleft=True)
    axes.grid(axis="y", color="#DDDDDD", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)


def _scale(axes: Axes, scale: str) -> None:
    """Scale the vertical axis, its ticks in plain numbers."""
    if scale == "symlog":  # logarithmic from 1 on, and below it linear down to 0
        axes.set_yscale("symlog", linthresh=1.0)
        axes.set_ylim(bottom=0)
    else:
        axes.set_yscale(scale)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
