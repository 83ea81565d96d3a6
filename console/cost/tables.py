"""What a person sees of the cost."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from console.cost.figures import Figures
from console.cost.prices import prices
from sandbox.operations import Operation

SHARE = 0.0005  # what is less of the whole is added up in one line


def show(figures: Figures, console: Console) -> None:
    """Print the table of operations, the story's beside it, and what would be cheaper."""
    campaign = figures["campaign"]
    console.print(
        f"{campaign['messages']:,} messages of {campaign['leads']} at {campaign['parts_per_minute']:,} parts a minute, "
        f"counted in the sandbox. Per 1,000 messages, {figures['region']}, prices of {figures['prices_dated']}:\n"
    )
    console.print(_operations(figures))
    console.print("\n* modelled on what was counted; docs/costs.md says how. Not in it:")
    for left_out in figures["not_in_it"]:
        console.print(f"  - {left_out}")
    console.print("\nThe way to the provider alone, beside the story's design (each send rewrites account and day):\n")
    console.print(_sending(figures["sending"]))
    for assumed in figures["sending"]["story_assumes"]:
        console.print(f"  - {assumed}")
    asleep = figures["sending"]["story_asleep_dollars"]
    console.print(f"  - where its handler sleeps 4 s after each send to hold the pace: {dollars(asleep)} more")
    console.print("\nWhat would be cheaper, and what it gives up:\n")
    for change in figures["cheaper"]:
        share = change["saves"] / figures["dollars"]
        console.print(
            f"  {dollars(change['saves'])} less ({share:.0%}; {dollars(change['leaves'])} left): "
            f"{change['change']}.\n    Gives up: {change['gives_up']}."
        )


def dollars(amount: float) -> str:
    return f"${amount:.5f}"


def _operations(figures: Figures) -> Table:
    table = _table("Operation", "Count", "Price", "Dollars", "Share")
    rest = 0.0
    for row in sorted(figures["operations"], key=lambda row: -row["dollars"]):
        if row["share"] < SHARE:
            rest += row["dollars"]
            continue
        mark = " *" if row["modelled"] else ""
        price = f"${_plain(row['price'])} for {row['per']:,}"
        table.add_row(row["name"] + mark, _count(row["count"]), price, dollars(row["dollars"]), f"{row['share']:.1%}")
    table.add_row("all others together", "", "", dollars(rest), f"{rest / figures['dollars']:.1%}")
    table.add_row("Total", "", "", dollars(figures["dollars"]), "100.0%")
    return table


def _sending(sending: Figures) -> Table:
    table = _table("Operation", "Ours", "Dollars", "Story's", "Dollars")
    for operation in Operation:
        ours, story = sending["ours"].get(operation), sending["story"].get(operation)
        if ours or story:
            price = prices()[operation]
            cells = [
                cell for amount in (ours or 0.0, story or 0.0) for cell in (_count(amount), dollars(price.of(amount)))
            ]
            table.add_row(price.name, *cells)
    table.add_row("Total", "", dollars(sending["ours_dollars"]), "", dollars(sending["story_dollars"]))
    return table


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for number, name in enumerate(names):
        table.add_column(name, justify="right" if number else "left")
    return table


def _plain(price: float) -> str:
    return f"{price:.10f}".rstrip("0")


def _count(amount: float) -> str:
    return f"{amount:,.0f}" if amount >= 100 else f"{amount:.3g}"
