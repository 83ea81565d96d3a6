"""Planning a lead file, measured: `bench/intake.py` for a person, `--json` for a program.

The file is CSV with mixed spellings, five columns, one row of 50 rejected and one of 100 a duplicate, made before the
clock starts. It begins with the fictional numbers of docs/decisions/012 and goes on with others of the exchange 555,
which is nobody's; nothing leaves the process. The planning is production's: parsed, vetted, de-duplicated, rendered,
counted, batched; written objects are counted and dropped. Each size runs in a process of its own, on one core.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "functions")]

from events.make_leads import SPELLINGS, UNUSABLE, area_codes  # noqa: E402 (the path comes first)
from paceline.models import Campaign, Route  # noqa: E402
from paceline.planning import plan_campaign  # noqa: E402

SIZES = (10_000, 100_000, 1_000_000)
MOST_SECONDS, MOST_MB = 90, 1000
NAMES = ("Ana", "Ben", "Carla", "José", "Renée", "Maximiliano", "D’Arcy", "Zoë", "Dee", "Elias")
CARRIERS = ("Verizon", "AT&T", "T-Mobile", "")
MESSAGE = "Hi {{first_name|there}}, your policy quote is ready. Reply YES for a call, STOP to opt out."
ROUTES = (Route(name="shared"), Route(name="verizon", carriers=("Verizon",), parts_per_minute=6000))


class _Store:
    """A bucket that holds the one file, streams it, and counts what is written."""

    bucket = "leads"

    def __init__(self, path: Path) -> None:
        self._path, self.written_bytes = path, 0

    def open(self, key: str) -> BinaryIO:
        return self._path.open("rb")

    def get(self, key: str, first_byte: int | None = None, last_byte: int | None = None) -> bytes:
        raise NotImplementedError("planning reads nothing back")

    def put(self, key: str, body: bytes, content_type: str = "") -> None:
        self.written_bytes += len(body)


class _NobodyOptedOut:
    def opted_out(self, account_id: str, phone_numbers: Iterable[str]) -> set[str]:
        return set()


def lead_lines(count: int) -> Iterator[str]:
    """Yield the lines of a file of `count` leads: one of 50 cannot be used, one of 100 repeats the row before."""
    areas = area_codes()
    yield "phone,first_name,last_name,carrier,state\n"
    for row in range(count):
        number = row - 1 if row % 100 == 25 else row
        line = (number // len(areas) + 100) % 10_000
        phone = SPELLINGS[row % len(SPELLINGS)].format(areas[number % len(areas)], "555", f"{line:04}")
        if row % 50 == 49:
            phone = UNUSABLE[row // 50 % len(UNUSABLE)]
        yield f"{phone},{NAMES[row % 10]},Smith,{CARRIERS[row % 4]},{'TX' if row % 3 else ''}\n"


def measure(leads: int) -> dict[str, Any]:
    """Plan a file of so many leads and return what it took. memory_mb: the peak of this process, all of it."""
    campaign = Campaign(
        campaign_id="bench",
        account_id="acme",
        name="",
        message=MESSAGE,
        leads_key="leads.csv",
        created_at=datetime(2026, 9, 3, tzinfo=UTC),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "leads.csv"
        with path.open("w", encoding="utf-8") as file:
            file.writelines(lead_lines(leads))
        began, cpu = time.perf_counter(), time.process_time()
        plan = plan_campaign(campaign, ROUTES, _Store(path), _NobodyOptedOut())
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu
    return {
        "leads": leads,
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu_seconds, 2),
        "rows_a_second": round(leads / seconds),
        "memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "accepted": plan.leads.accepted,
        "rejected": plan.leads.rejected,
        "duplicates": plan.leads.duplicates,
        "batches": plan.batches,
    }


def bench(sizes: Iterable[int]) -> dict[str, Any]:
    """Measure each size. growth: a lead's CPU time in the largest file over that in the smallest; 1: in proportion."""
    load = os.getloadavg()[0]
    runs = [json.loads(_in_a_process(leads)) for leads in sizes]
    first, last = runs[0], runs[-1]
    growth = (last["cpu_seconds"] / last["leads"]) / (first["cpu_seconds"] / first["leads"])
    return {
        "load": round(load, 2),
        "runs": runs,
        "growth": round(growth, 2),
        "target": {"seconds": MOST_SECONDS, "memory_mb": MOST_MB},
        "met": last["seconds"] <= MOST_SECONDS and last["memory_mb"] <= MOST_MB,
    }


def _in_a_process(leads: int) -> str:
    command = [sys.executable, __file__, "--one", str(leads)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603 (this file itself)


def _table(result: dict[str, Any]) -> str:
    lines = ["     leads   seconds  CPU seconds  rows a second  memory MB"]
    lines += [
        f"{run['leads']:10,} {run['seconds']:9.2f} {run['cpu_seconds']:12.2f} {run['rows_a_second']:14,}"
        f" {run['memory_mb']:10,}"
        for run in result["runs"]
    ]
    return "\n".join([*lines, f"a lead of the largest costs {result['growth']} times one of the smallest"])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--json", action="store_true", help="one JSON object")
    arguments.add_argument("--leads", type=int, action="append", help="other sizes, smallest first")
    arguments.add_argument("--one", type=int, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.one:
        print(json.dumps(measure(given.one)))
        return
    result = bench(given.leads or SIZES)
    print(json.dumps(result) if given.json else _table(result))


if __name__ == "__main__":
    main()
