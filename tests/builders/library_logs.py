"""Logs at the level at which most is said, libraries' own too: as on Lambda, where that is told to log at DEBUG."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from paceline.observability import logger


@contextmanager
def everything_logged(lines: list[str]) -> Iterator[None]:
    """Log at DEBUG; keep in `lines` what every library logs."""

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if not record.name.startswith(("moto", "sandbox")):  # AWS itself, here
                lines.append(f"{record.name} {record.getMessage()}")

    root, handler = logging.getLogger(), Kept()
    level, own_level = root.level, logger.log_level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    logger.setLevel("DEBUG")
    yield
    root.removeHandler(handler)
    root.setLevel(level)
    logger.setLevel(own_level)
