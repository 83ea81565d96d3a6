"""ConsumedCapacity, for requests that ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Consumed:
    """What a request consumed. units: by table name."""

    def __init__(self, parameters: Mapping[str, Any], units: Mapping[str, float]) -> None:
        self._detail = parameters.get("ReturnConsumedCapacity", "NONE")
        self._units = units

    def added_to(self, answer: dict[str, Any], *, as_list: bool = False) -> dict[str, Any]:
        """Return the answer, with ConsumedCapacity if it was asked for."""
        if self._detail != "NONE":
            entries = [self._entry(table, units) for table, units in self._units.items()]
            answer["ConsumedCapacity"] = entries if as_list else entries[0]
        return answer

    def _entry(self, table: str, units: float) -> dict[str, Any]:
        entry: dict[str, Any] = {"TableName": table, "CapacityUnits": float(units)}
        if self._detail == "INDEXES":
            entry["Table"] = {"CapacityUnits": float(units)}
        return entry
