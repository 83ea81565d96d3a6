"""One campaign with the real handlers, measured: `python bench/campaign.py --leads N` prints one JSON object.

A process of its own for each, so that its peak memory is its own. The lead file is made in memory: real area codes and
the exchange 555, which is nobody's; nothing leaves the process.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "functions")]

from console.run import Options, State, run_campaign  # noqa: E402 (the path comes first)
from sandbox.testing.leads import AREA_CODES  # noqa: E402

NUMBERS_AN_AREA = 9_900
# The story's pace; a larger run is given more, so that it ends within its sending days.
PER_MINUTE = 240


class _Silent:
    def planned(self, plan: dict[str, Any]) -> None: ...

    def moved(self, state: State) -> None: ...


def lead_lines(count: int) -> Iterator[str]:
    """Yield the lines of a file of `count` leads."""
    areas = [area for codes in AREA_CODES.values() for area in codes.split()]
    if count > len(areas) * NUMBERS_AN_AREA:
        raise SystemExit(f"at most {len(areas) * NUMBERS_AN_AREA:,} leads")
    yield "phone,first_name\n"
    for number in range(count):
        yield f"+1{areas[number % len(areas)]}555{number // len(areas):04d},Lead\n"


def measure(leads: int) -> dict[str, Any]:
    """Run a campaign to its end and return what it took. memory_mb: the peak of this process, all of it."""
    per_minute = PER_MINUTE if leads <= 25_000 else 1_200
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "leads.csv"
        with path.open("w") as file:
            file.writelines(lead_lines(leads))
        began, cpu = time.perf_counter(), time.process_time()
        options = Options(path, "Hi {{first_name|there}}, your quote is ready. STOP to opt out.", per_minute=per_minute)
        result = run_campaign(options, _Silent())
    summary = result.summary
    return {
        "leads": leads,
        "wall_seconds": round(time.perf_counter() - began, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
        "memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "virtual_seconds": summary["virtual_seconds"],
        "reads_per_message": summary["reads_per_message"],
        "state_transitions": summary["state_transitions"],
        "outcomes": summary["outcomes"],
        "balanced": summary["balanced"],
        "status": summary["status"],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leads", type=int, required=True)
    print(json.dumps(measure(parser.parse_args().leads)))
