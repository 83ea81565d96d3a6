"""The customer's side of a webhook: the example in docs/webhooks.md, run as it stands there."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "webhooks.md"


def _code() -> str:
    [code] = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    return str(code)


def is_from_paceline_at(at: datetime, headers: dict[str, str], body: bytes, secret: str) -> bool:
    """Return what the example says of a request that arrives at a moment."""
    names: dict[str, Any] = {}
    exec(_code(), names)  # noqa: S102 (our own page)
    names["time"] = SimpleNamespace(time=at.timestamp)
    return bool(names["is_from_paceline"](headers, body, secret))
