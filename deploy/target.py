"""What artifacts are made for: the functions' runtime, as template.yaml's Globals say (a test holds this to them)."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FUNCTIONS = ROOT / "functions"
BUILT = ROOT / ".aws-sam" / "build"
REQUIREMENTS = FUNCTIONS / "requirements.txt"

PYTHON = (3, 13)
RUNTIME = "python3.13"
MACHINE = "aarch64"
GLIBC = (2, 34)  # of Amazon Linux 2023, which the runtime is
BYTECODE = (3571).to_bytes(
    2, "little"
) + b"\r\n"  # how a .pyc of Python 3.13 begins (CPython: Include/internal/pycore_magic_number.h)

# Oldest last: pip takes the first for which there is a wheel. 2.17 is where manylinux2014 stands.
PLATFORMS = [f"manylinux_{GLIBC[0]}_{minor}_{MACHINE}" for minor in range(GLIBC[1], 16, -1)] + [
    f"manylinux2014_{MACHINE}"
]

# What the markers of requirements are read by.
MARKERS = {
    "implementation_name": "cpython",
    "os_name": "posix",
    "platform_machine": MACHINE,
    "platform_python_implementation": "CPython",
    "platform_system": "Linux",
    "python_full_version": "3.13.0",
    "python_version": "3.13",
    "sys_platform": "linux",
    "extra": "",
}
