#!/usr/bin/env python3
"""How long a function takes to start: its own process, from an artifact for this Python, as often as asked.

Beside each other in every round, so that a busy machine slows all alike: Python alone, boto3 alone, each handler's
imports, and the sender with the clients that its first message makes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "functions")]

from deploy.here import make_tree_here  # noqa: E402 (after the path is set)
from deploy.target import FUNCTIONS  # noqa: E402

NAMES = ("TABLE_NAME", "BUCKET_NAME", "BUS_NAME", "PROVIDER_SECRET_NAME")
KEYS = {"AWS_DEFAULT_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any"}
SENDERS_CLIENTS = "from send.app import services; services.table; services.store; services.end_user_messaging._client"
STARTS = (
    {"Python alone": "pass", "boto3 alone": "import boto3"}
    | {path.parent.name: f"import {path.parent.name}.app" for path in sorted(FUNCTIONS.glob("*/app.py"))}
    | {"send, with clients": SENDERS_CLIENTS}
)


def start(tree: Path, *options: str) -> tuple[float, float, str]:
    """Start Python in an artifact; return the milliseconds passed, those of the processor, and what it said."""
    environment = KEYS | dict.fromkeys(NAMES, "unused") | {"PYTHONPATH": str(tree)}
    began, before = time.perf_counter(), os.times()
    command = [sys.executable, "-S", *options]
    done = subprocess.run(command, env=environment, check=True, stderr=subprocess.PIPE, text=True)  # noqa: S603 (ours)
    passed, after = time.perf_counter() - began, os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return passed * 1000, used * 1000, done.stderr


def measure(tree: Path, rounds: int) -> list[dict[str, Any]]:
    """Return the medians, in milliseconds, and the processor's in those of boto3 alone."""
    for script in STARTS.values():
        start(tree, "-c", script)  # compiles what is not, and brings files into memory
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in STARTS}
    for _ in range(rounds):
        for name, script in STARTS.items():
            taken[name].append(start(tree, "-c", script)[:2])
    of_boto3 = median(used for _, used in taken["boto3 alone"])
    return [
        {
            "start": name,
            "passed_ms": round(median(passed for passed, _ in times)),
            "least_ms": round(min(passed for passed, _ in times)),
            "processor_ms": round(median(used for _, used in times)),
            "of_boto3": round(median(used for _, used in times) / of_boto3, 2),
        }
        for name, times in taken.items()
    ]


def largest_imports(tree: Path, function: str, number: int) -> list[tuple[float, str]]:
    """Return the imports that take longest by themselves, as `-X importtime` says: milliseconds and module."""
    said = start(tree, "-X", "importtime", "-c", f"import {function}.app")[2]
    lines = re.findall(r"^import time: +(\d+) \| +\d+ \| +(\S+)$", said, re.MULTILINE)
    return sorted(((int(us) / 1000, name) for us, name in lines), reverse=True)[:number]


@click.command()
@click.option("--rounds", type=click.IntRange(1), default=11, show_default=True, help="Starts of each.")
@click.option("--top", type=click.IntRange(0), default=8, show_default=True, help="The sender's largest imports.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def main(rounds: int, top: int, as_json: bool) -> None:
    """Measure the cold starts of every function."""
    load = os.getloadavg()[0]
    with TemporaryDirectory() as folder:
        tree = Path(folder)
        make_tree_here(tree)
        starts, imports = measure(tree, rounds), largest_imports(tree, "send", top)
    if as_json:
        print(json.dumps({"load": load, "rounds": rounds, "starts": starts, "senders_imports": imports}))
        return
    print(f"{'':22}{'passed ms':>10}{'least':>8}{'processor':>11}{'of boto3':>10}    load {load:.1f}, {rounds} rounds")
    for row in starts:
        print("{start:22}{passed_ms:10}{least_ms:8}{processor_ms:11}{of_boto3:10.2f}".format(**row))
    print("\nThe sender's largest imports, ms by itself (-X importtime):")
    print("\n".join(f"{ms:8.1f}  {name}" for ms, name in imports))


if __name__ == "__main__":
    main()
