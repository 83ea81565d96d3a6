"""What a person sees of the comparison: the table of designs, and for each design the rows that it writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table

from console.contention.grid import cells_for_rows
from sandbox.contention.figures import Figures

COLUMNS = (
    "Ceiling",
    "Workers",
    "Design",
    "Sends\n/min",
    "Conflicts\n/1,000",
    "Refused by a\ncondition /1,000",
    "Shared-row\nwrites /1,000",
    "Hottest row",
    "Its writes/s:\nmean",
    "in the busiest\nsecond",
    "Lambda ms\n/send",
)
LEFT = ("Design", "Hottest row")
ROW_COLUMNS = ("Row", "Rows", "Writes /1,000", "Conflicts /1,000", "Written by", "Who shares a row")


def show(cells: Sequence[Figures], console: Console) -> None:
    """Print the table of designs, then the rows of one cell of each."""
    console.print(_designs(cells))
    for cell in cells_for_rows(cells):
        ceiling = f"{cell['ceiling_parts_per_minute']:,} a minute"
        console.print(f"\nRows that {cell['design']} writes ({cell['workers']} workers, {ceiling}), per 1,000 sends:\n")
        console.print(_rows(cell))


def _designs(cells: Sequence[Figures]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in COLUMNS:
        table.add_column(name, justify="left" if name in LEFT else "right")
    before = None
    for cell in cells:
        group = cell["ceiling_parts_per_minute"], cell["workers"]
        if before not in (None, group):
            table.add_row()
        before = group
        table.add_row(*_texts(cell))
    return table


def _texts(cell: Figures) -> Iterator[str]:
    hottest = cell["hottest_row"]
    yield f"{cell['ceiling_parts_per_minute']:,}"
    yield f"{cell['workers']}"
    yield cell["design"]
    for name in ("sends_per_minute", "conflicts_per_1000_sends", "refused_by_condition_per_1000_sends"):
        yield number(cell[name])
    yield number(cell["shared_row_writes_per_1000_sends"])
    yield hottest["row"]
    yield number(hottest["writes_per_second"])
    yield number(hottest["writes_in_busiest_second"])
    yield number(cell["lambda_ms_per_send"])


def _rows(cell: Figures) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ROW_COLUMNS:
        table.add_column(name, justify="right" if name in ROW_COLUMNS[1:4] else "left")
    for row in cell["rows"]:
        figures = (number(row["writes_per_1000_sends"]), number(row["conflicts_per_1000_sends"]))
        table.add_row(row["row"], f"{row['rows']:,}", *figures, ", ".join(row["written_by"]), who_shares(row))
    return table


def who_shares(row: Figures) -> str:
    """Say how many messages, or batches, wrote one row of this kind at the most."""
    messages, batches = row["most_messages_on_a_row"], row["most_batches_on_a_row"]
    if not row["shared"]:
        return "nobody"
    parts = [f"{count:,} {word}" for count, word in ((messages, "messages"), (batches, "batches")) if count > 1]
    return " and ".join(parts)


def number(value: float) -> str:
    """Return a figure with as many digits as it is worth: 12,345 · 12.3 · 0.12 · 0."""
    if value and abs(value) < 10:
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return f"{value:,.0f}"
