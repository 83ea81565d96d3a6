"""What one look found: how many are in each state."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from console.workflow.definition import Graph, Node


@dataclass(slots=True)
class StateCount:
    """What is in a state. succeeded, failed: None where it is not counted. pending, total: of a Distributed Map.

    retrying: those of `running` whose last try failed and who wait for the next.
    """

    running: int = 0
    succeeded: int | None = 0
    failed: int | None = 0
    retrying: int = 0
    pending: int | None = None
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """What one look found. states: of every state of the graph, by path.

    status: of the execution, as far as it was read. children_running, children_counted: the children that run, and
    those whose states are in the numbers; fewer is a sample. as_of: when the oldest of the numbers was read, None
    where nothing was read yet. is_behind: not all could be read anew in this look. calls: to Step Functions.
    """

    status: str
    states: dict[str, StateCount]
    children_running: int
    children_counted: int
    as_of: datetime | None
    is_behind: bool
    calls: int

    @property
    def is_sample(self) -> bool:
        return self.children_counted < self.children_running

    def now(self, graph: Graph) -> list[tuple[Node, int]]:
        """Return the states that something is in, those with most first; not the Maps around them."""
        found = [(node, self.states[node.path].running) for node in graph.nodes if not node.is_map]
        return sorted(((node, running) for node, running in found if running), key=lambda one: -one[1])

    def to_json(self) -> dict[str, Any]:
        """Return what console/web/static/workflow.js shows."""
        shown: dict[str, Any] = asdict(self)
        shown["as_of"] = self.as_of.isoformat() if self.as_of else None
        del shown["calls"]  # of interest to who measures; it would only make each page differ from the last
        return shown
