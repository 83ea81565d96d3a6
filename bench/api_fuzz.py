#!/usr/bin/env python3
"""Requests nobody thought of, against the served API: `bench/api_fuzz.py [--examples N] [--only KEY]`; `make fuzz`.

Starts `paceline up` on 127.0.0.1, lets schemathesis read /v1/openapi.json and try every operation with a customer's and
an operator's key: once with names of its own, once with those of things that exist. A finding is a 5xx, an answer that
the document does not have, a request that breaks the document and is taken, or a route that opens without a key.
Exit status: 0 none, 1 a finding, 2 schemathesis is not there.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

ROOT = Path(__file__).resolve().parent.parent
UP = [sys.executable, "-c", "from console.cli import main; main()", "up", "--port", "0", "--json", "--speed", "60"]
# Not among them: positive_data_acceptance (a request may fit the document and still name a route that does not exist).
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "ignored_auth",
    "unsupported_method",
)
KEYS = ("customer", "operator")
CAMPAIGN = {"campaign_id": "fuzzed", "name": "Fuzzed", "message": "Hi {{first_name|there}}"}


@contextmanager
def served() -> Iterator[dict[str, Any]]:
    """Serve the sandbox in a process of its own; give what it says of itself."""
    process = subprocess.Popen(UP, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # noqa: S603
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.wait(timeout=20)


def prepare(facts: dict[str, Any]) -> dict[str, str]:
    """Make a campaign with a lead file, and a key to spare; return the names that addresses take."""
    api = f"{facts['address']}/v1"
    customer, operator = ({"x-api-key": facts[f"{key}_key"]} for key in KEYS)
    created = requests.post(f"{api}/campaigns", json=CAMPAIGN, headers=customer, timeout=30)
    created.raise_for_status()
    post = requests.post(f"{api}/campaigns/fuzzed/upload", headers=customer, timeout=30).json()
    leads = b"phone,first_name\n+12025550101,Ana\n+12025550102,\n"
    requests.post(post["url"], data=post["fields"], files={"file": leads}, timeout=30).raise_for_status()
    spare = requests.post(f"{api}/admin/keys", json={"account_id": "acme"}, headers=operator, timeout=30).json()
    return {
        "campaign_id": created.json()["campaign_id"],
        "account_id": "acme",
        "name": "shared",
        "key_id": spare["key_id"],
        "lead_no": "1",
    }


def find(facts: dict[str, Any], key: str, names: dict[str, str], examples: int, seed: int, phases: str) -> bool:
    """Let schemathesis try every operation; tell whether it found something. names: {}: of its own choice."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "schemathesis.toml"
        fixed = "".join(f'"path.{name}" = "{value}"\n' for name, value in names.items())
        config.write_text(f"[parameters]\n{fixed}" if fixed else "")
        options = ["--checks", ",".join(CHECKS), "--max-examples", str(examples), "--seed", str(seed)]
        options += ["--phases", phases, "--header", f"x-api-key: {facts[f'{key}_key']}", "--warnings", "off"]
        command = ["schemathesis", "--config-file", str(config), "run", f"{facts['address']}/v1/openapi.json"]
        command[0] = str(Path(sys.executable).with_name("schemathesis"))
        started = time.monotonic()
        done = subprocess.run([*command, *options], cwd=folder, check=False)  # noqa: S603 (our own words)
    print(f"{key}, {'names that exist' if names else 'any names'}: {time.monotonic() - started:.0f} s", flush=True)
    return done.returncode != 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=30, help="Requests an operation and phase (default: 30).")
    parser.add_argument("--only", choices=KEYS, help="Whose key (default: both, one after the other).")
    parser.add_argument("--existing", action="store_true", help="Only with names that exist: half the time.")
    parser.add_argument("--phases", default="examples,coverage,fuzzing,stateful", help="schemathesis's phases.")
    parser.add_argument("--seed", type=int, default=1, help="The same seed makes the same requests (default: 1).")
    options = parser.parse_args()
    if not Path(sys.executable).with_name("schemathesis").exists():
        print("schemathesis is not installed; `make setup` installs it.", file=sys.stderr)
        return 2
    found = []
    for key in [options.only] if options.only else KEYS:
        with served() as facts:
            for names in [{}, prepare(facts)][options.existing :]:
                found.append(find(facts, key, names, options.examples, options.seed, options.phases))
    return 1 if any(found) else 0


if __name__ == "__main__":
    sys.exit(main())
