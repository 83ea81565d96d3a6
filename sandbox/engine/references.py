"""Reference Paths as targets: ResultPath puts a value into a copy of the input."""

from __future__ import annotations

from typing import Any

from sandbox.engine.documents import to_text
from sandbox.engine.errors import StateFailed
from sandbox.engine.paths import Path, Step


def put(data: Any, path: Path, value: Any) -> Any:
    """Return `data` with `value` at `path`; only what lies on the path is copied, missing objects are made.

    Raises: StateFailed States.ResultPathMatchFailure, where the path crosses something that is no object.
    """
    return _put(data, path.steps, 0, value)


def _put(data: Any, steps: list[Step], position: int, value: Any) -> Any:
    if position == len(steps):
        return value
    step = steps[position]
    if isinstance(step, str) and isinstance(data, dict):
        return {**data, step: _put(data.get(step, {}), steps, position + 1, value)}
    if isinstance(step, int) and isinstance(data, list) and 0 <= step < len(data):
        return [*data[:step], _put(data[step], steps, position + 1, value), *data[step + 1 :]]
    cause = f'Unable to apply step "{step}" to input {to_text(data)}'
    raise StateFailed("States.ResultPathMatchFailure", cause)
