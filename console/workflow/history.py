"""A page of an execution's history: asked for in one call, whatever the history's length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from console.workflow.events import Known, Row

PAGE, SEARCHED = 100, 500
"""Events on a page, and those that a page of a filter is searched in: one call each, and no page too long to read."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which events. state: of this one alone; "": of all. after: the token of the page before."""

    is_oldest_first: bool = False
    is_failed: bool = False
    state: str = ""
    after: str = ""

    @property
    def is_filtered(self) -> bool:
        return self.is_failed or bool(self.state)

    def has(self, row: Row) -> bool:
        """Tell whether an event is wanted."""
        return (row.is_failure or not self.is_failed) and self.state in ("", row.state)


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """Events, in the order asked for. searched: how many were read. next: the token of the next page, or ""."""

    rows: list[Row]
    searched: int
    next: str


def read_page(call: Callable[..., Any], arn: str, known: Known, wanted: Wanted) -> HistoryPage:
    """Read a page. call: the client's get_execution_history. known: of this execution, and gets to know the page.

    One call; a second one (without data) where the newest are first and those that they follow were never read: only
    these say which state an event is of. Raises: ClientError.
    """
    asked: dict[str, Any] = {"executionArn": arn, "reverseOrder": not wanted.is_oldest_first}
    asked["maxResults"] = SEARCHED if wanted.is_filtered else PAGE
    answer = call(**asked, **_token(wanted.after))
    known.add(answer["events"])
    more = answer.get("nextToken", "")
    if more and not wanted.is_oldest_first and any(known.state_of(one["id"]) is None for one in answer["events"]):
        known.add(call(**asked, includeExecutionData=False, **_token(more))["events"])
    rows = [known.row(event) for event in answer["events"]]
    return HistoryPage([row for row in rows if wanted.has(row)], len(rows), more)


def _token(token: str) -> dict[str, str]:
    return {"nextToken": token} if token else {}
