"""Libraries' own logs, at the level at which they say most: as on Lambda, where that is told to log at DEBUG."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def everything_logged(lines: list[str]) -> Iterator[None]:
    """Keep in `lines` what every library logs."""

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if not record.name.startswith(("moto", "sandbox")):  # AWS itself, here
                lines.append(f"{record.name} {record.getMessage()}")

    root, handler, level = logging.getLogger(), Kept(), logging.getLogger().level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield
    root.removeHandler(handler)
    root.setLevel(level)
