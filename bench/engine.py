#!/usr/bin/env python3
"""The sandbox's figures: `bench/engine.py [--json] [--large]`. bench/README.md says how to read them."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "functions")]

from bench.no_op import moto_rate, our_rate  # noqa: E402 (the path comes first)

TARGETS = {"no_op_ratio": 15, "campaign_seconds": 120, "campaign_memory_mb": 500, "large_memory_mb": 2048}
WHY_NOT_MOTO = "not run: moto's interpreter recurses for each item and has no clock of its own; at its rate, hours"


def no_op_figures(batches: int, items: int) -> dict[str, Any]:
    """Return both engines' no-op sends a second, one after the other in this process."""
    ours, motos = our_rate(batches, items), moto_rate(batches, items)
    return {
        "batches": batches,
        "items_a_batch": items,
        "ours_a_second": round(ours),
        "moto_a_second": round(motos, 1),
        "ratio": round(ours / motos, 1),
        "target_ratio": TARGETS["no_op_ratio"],
    }


def campaign_figures(leads: int, limits: dict[str, int]) -> dict[str, Any]:
    """Return what a campaign takes in a process of its own. limits: what it should take at most."""
    command = [sys.executable, str(ROOT / "bench" / "campaign.py"), "--leads", str(leads)]
    output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout  # noqa: S603 (our own file)
    figures: dict[str, Any] = json.loads(output)
    return {**figures, **{f"target_{name}": limit for name, limit in limits.items()}, "moto": WHY_NOT_MOTO}


def figures(*, batches: int, items: int, leads: int, large: int) -> dict[str, Any]:
    """Return all figures. A count of 0 leaves one out."""
    found: dict[str, Any] = {"python": sys.version.split()[0], "cores": os.cpu_count(), "load": os.getloadavg()[0]}
    if batches:
        found["no_op"] = no_op_figures(batches, items)
    if leads:
        limits = {"wall_seconds": TARGETS["campaign_seconds"], "memory_mb": TARGETS["campaign_memory_mb"]}
        found["campaign"] = campaign_figures(leads, limits)
    if large:
        found["large_campaign"] = campaign_figures(large, {"memory_mb": TARGETS["large_memory_mb"]})
    return found


def lines(found: dict[str, Any]) -> list[str]:
    """Return the figures for a person."""
    shown = [f"Python {found['python']}, {found['cores']} cores, load {found['load']:.1f} before the run"]
    if no_op := found.get("no_op"):
        shown.append(
            f"no-op sends, {no_op['batches']} batches x {no_op['items_a_batch']}: {no_op['ours_a_second']:,} a second, "
            f"moto {no_op['moto_a_second']:,}: {no_op['ratio']} times (target: {no_op['target_ratio']})"
        )
    for run in (found.get("campaign"), found.get("large_campaign")):
        if run:
            seconds = f" (target: {run['target_wall_seconds']})" if "target_wall_seconds" in run else ""
            shown.append(
                f"campaign of {run['leads']:,} leads, real handlers: {run['wall_seconds']:,} s of wall time{seconds}, "
                f"{run['cpu_seconds']:,} s of CPU, {run['memory_mb']:,} MB (target: {run['target_memory_mb']:,}), "
                f"{'sums close' if run['balanced'] else 'SUMS DO NOT CLOSE'}"
            )
    return shown


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--large", action="store_true", help="also 150,000 leads (tens of minutes)")
    parser.add_argument("--batches", type=int, default=40, help="of the no-op run; 0: leave it out")
    parser.add_argument("--items", type=int, default=25, help="in each batch of the no-op run")
    parser.add_argument("--leads", type=int, default=25_000, help="of the campaign; 0: leave it out")
    options = parser.parse_args()
    found = figures(
        batches=options.batches,
        items=options.items,
        leads=options.leads,
        large=150_000 if options.large else 0,
    )
    print(json.dumps(found) if options.json else "\n".join(lines(found)))


if __name__ == "__main__":
    main()
