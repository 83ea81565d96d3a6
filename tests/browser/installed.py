"""What browser tests need that pip does not bring: Chromium, and axe-core from npm."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

# Where Chromium is another program: PACELINE_CHROMIUM=/usr/bin/google-chrome
CHROMIUM = os.environ.get("PACELINE_CHROMIUM") or shutil.which("chromium") or ""
AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
# No graphics card, no sandbox for root, nothing asked of anybody's servers.
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")


def lacking() -> list[str]:
    """Return what is not installed."""
    there = {"Chromium": bool(CHROMIUM) and Path(CHROMIUM).exists(), "axe-core": AXE.exists()}
    return [name for name, is_there in there.items() if not is_there]


def need_a_browser() -> None:
    """Skip the test where no browser is installed; with PACELINE_BROWSER=required (.ci/run) it fails."""
    if not (names := lacking()):
        return
    told = f"{' and '.join(names)} not installed: `make browser` installs what browser tests need"
    if os.environ.get("PACELINE_BROWSER") == "required":
        pytest.fail(told)
    pytest.skip(told)
