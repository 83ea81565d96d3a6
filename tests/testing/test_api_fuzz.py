"""A small sample of `make fuzz`: the served API against its own document, with requests nobody thought of."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.builders.api import operations

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ["--only", "customer", "--existing", "--examples", "1", "--phases", "fuzzing"]


def test_schemathesis_finds_no_fault_and_no_answer_outside_the_document() -> None:
    command = [sys.executable, str(ROOT / "bench" / "api_fuzz.py"), *SAMPLE]

    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)  # noqa: S603 (our own file)

    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert f"Tested: {len(operations())}" in done.stdout
