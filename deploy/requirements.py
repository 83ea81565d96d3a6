"""Write functions/requirements.txt: `make requirements`. A test holds the file to pyproject.toml and the lock.

The functions' dependencies and what those need on Lambda, not here, as requirements.lock pins them, with its hashes.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from importlib.metadata import requires

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from deploy.target import MARKERS, REQUIREMENTS, ROOT

HEAD = "# Written by deploy/requirements.py from requirements.lock: what the functions need on Lambda.\n"


def needed() -> set[str]:
    """Return the names of every package that the functions need. Reads the metadata of what is installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found: set[tuple[str, frozenset[str]]] = set()
    _add(project["dependencies"], frozenset(), found)
    return {name for name, _ in found}


def _add(lines: Iterable[str], extras: frozenset[str], found: set[tuple[str, frozenset[str]]]) -> None:
    """Add what a package asks for, and what that asks for. extras: those of the package that somebody wants."""
    for asked in map(Requirement, lines):
        marker, wanted = asked.marker, (canonicalize_name(asked.name), frozenset(asked.extras))
        applies = marker is None or any(marker.evaluate(MARKERS | {"extra": extra}) for extra in extras | {""})
        if applies and wanted not in found:
            found.add(wanted)
            _add(requires(wanted[0]) or [], wanted[1], found)


def pinned() -> dict[str, str]:
    """Return the lock's pin of each package with its hashes, by name, without the comments."""
    text = re.sub(r"^ *#.*\n", "", (ROOT / "requirements.lock").read_text(), flags=re.MULTILINE)
    pins = (pin.strip() for pin in re.split(r"^(?=\S)", text, flags=re.MULTILINE))
    return {pin.split("==")[0]: f"{pin}\n" for pin in pins if pin}


def requirements() -> str:
    """Return what the file has to be."""
    pins = pinned()
    return HEAD + "".join(pins[name] for name in sorted(needed()))


if __name__ == "__main__":
    REQUIREMENTS.write_text(requirements())
