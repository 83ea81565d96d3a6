#!/usr/bin/env python3
"""Load on the served sandbox, by real HTTP on 127.0.0.1: `bench/load.py [--part P] [--json]`; `make load`.

Many campaigns started in one minute, many API calls, fields of 64 KB, slow clients, twenty console tabs: is everything
answered, nothing lost, the memory bounded? Exit status: 0 no fault found, 1 some.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "functions")]

from bench.loads import calls, campaigns, fields, slow, tabs  # noqa: E402 (the path comes first)

PARTS = ("campaigns", "calls", "fields", "slow", "tabs")


@click.command()
@click.option("--part", "parts", multiple=True, type=click.Choice(PARTS), help="Only this; may be given again.")
@click.option("--campaigns", "campaign_count", default=1_000, show_default=True, type=click.IntRange(min=1))
@click.option("--calls", "call_count", default=10_000, show_default=True, type=click.IntRange(min=50))
@click.option("--speed", default=4.0, show_default=True, help="Of the campaigns' clock: times real time.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def main(parts: tuple[str, ...], campaign_count: int, call_count: int, speed: float, as_json: bool) -> None:
    """Put load on the served sandbox; print what it did to it."""
    measures: dict[str, Callable[[], dict[str, Any]]] = {
        "campaigns": lambda: campaigns.measure(campaign_count, speed, say),
        "calls": lambda: calls.measure(call_count, say),
        "fields": lambda: fields.measure(say),
        "slow": lambda: slow.measure(say),
        "tabs": lambda: tabs.measure(say),
    }
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the served process is ended too
    began = time.perf_counter()
    found: dict[str, Any] = {"load": round(os.getloadavg()[0], 1)}
    for part in parts or PARTS:
        say(f"-- {part}")
        found[part] = measures[part]()
    faults = [f"{part}: {fault}" for part in parts or PARTS for fault in found[part].pop("faults")]
    found |= {"seconds": round(time.perf_counter() - began), "faults": faults[:50]}
    click.echo(json.dumps(found, indent=None if as_json else 2))
    sys.exit(1 if faults else 0)


def say(text: str) -> None:
    """Say how far it is."""
    click.echo(text, err=True)


if __name__ == "__main__":
    main()
