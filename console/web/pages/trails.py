"""Who changed what, as pages show it."""

from __future__ import annotations

from typing import Any

from console.operator.api import Api, at
from console.operator.values import changed


def trail_of(api: Api, kind: str, name: str) -> list[dict[str, Any]]:
    """Return a trail, the newest first: at, by, by_name, and a line for each value that was changed.

    kind: "routes" or "accounts".
    """
    changes = api.get(at("admin", kind, name, "changes"))["changes"]
    return [{**one, "lines": changed(one)} for one in changes]
