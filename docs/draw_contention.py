"""Puts a run of `paceline contention` into docs/contention.md: `python docs/draw_contention.py [out/contention]`.

It writes the tables between the marks, and copies the picture to docs/images.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from console.contention.grid import cells_for_rows
from console.contention.tables import number, who_shares

DOCS = Path(__file__).resolve().parent
DOCUMENT, PICTURE = DOCS / "contention.md", DOCS / "images" / "contention.png"
BLOCK = re.compile(r"(<!-- (\w+): by docs/draw_contention\.py -->\n).*?(<!-- end of \2 -->)", re.DOTALL)
COLUMNS = (
    "Ceiling",
    "Workers",
    "Design",
    "Sends a minute",
    "Conflicts",
    "Refused by a condition",
    "Shared-row writes",
    "Hottest row",
    "Its writes a second",
    "In its busiest second",
    "Lambda ms a send",
)
LEFT = ("Design", "Hottest row")
Cell = dict[str, Any]


def figures(cells: list[Cell]) -> Iterator[str]:
    """Yield the lines of the table of designs; below it, what the run left out."""
    yield "| " + " | ".join(COLUMNS) + " |\n|" + "|".join("---" if name in LEFT else "--:" for name in COLUMNS) + "|\n"
    for cell in cells:
        hottest = cell["hottest_row"]
        per_1000 = [
            cell[f"{name}_per_1000_sends"] for name in ("conflicts", "refused_by_condition", "shared_row_writes")
        ]
        second = [hottest["writes_per_second"], hottest["writes_in_busiest_second"], cell["lambda_ms_per_send"]]
        head = f"| {cell['ceiling_parts_per_minute']:,} | {cell['workers']} | {cell['design']} "
        yield f"{head}| **{number(cell['sends_per_minute'])}** | {' | '.join(map(number, per_1000))} "
        yield f"| {hottest['row']} | {' | '.join(map(number, second))} |\n"
    yield from _left_out(cells)


def _left_out(cells: list[Cell]) -> Iterator[str]:
    names = ("ceiling_parts_per_minute", "workers", "design")
    present = {tuple(cell[name] for name in names) for cell in cells}
    columns = [list(dict.fromkeys(cell[name] for cell in cells)) for name in names]
    missing = [key for key in product(*columns) if key not in present]
    if missing:
        words = (f"{design} with {workers} workers at {ceiling:,}" for ceiling, workers, design in missing)
        yield f"\nNot in this run: {'; '.join(words)}.\n"


def rows(cells: list[Cell]) -> Iterator[str]:
    """Yield a table of rows for one cell of each design."""
    for cell in cells_for_rows(cells):
        yield f"**{cell['design']}**, {cell['workers']} workers, ceiling {cell['ceiling_parts_per_minute']:,}:\n\n"
        yield "| Row | Rows | Writes | Conflicts | Written by | Who shares a row |\n|---|--:|--:|--:|---|---|\n"
        for row in cell["rows"]:
            counts = [row["rows"], row["writes_per_1000_sends"], row["conflicts_per_1000_sends"]]
            yield f"| {row['row']} | {' | '.join(map(number, counts))} "
            yield f"| {', '.join(row['written_by'])} | {who_shares(row)} |\n"
        yield "\n"


def main() -> None:
    out = Path(*sys.argv[1:]) if sys.argv[1:] else Path("out/contention")
    cells = json.loads((out / "contention.json").read_text())["cells"]
    blocks = {"figures": "".join(figures(cells)), "rows": "".join(rows(cells))}
    text = BLOCK.sub(lambda mark: mark[1] + blocks[mark[2]].rstrip("\n") + "\n" + mark[3], DOCUMENT.read_text())
    DOCUMENT.write_text(text)
    shutil.copyfile(out / "contention.png", PICTURE)


if __name__ == "__main__":
    main()
