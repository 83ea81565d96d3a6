"""Counts of the campaign's workflow, as pages get them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from console.workflow.counts import Counts, StateCount
from console.workflow.definition import Graph, graph_of

DEFINITION = json.loads((Path(__file__).parents[2] / "statemachines" / "campaign.asl.json").read_text())
BATCHES = "Send Streams/Send Batches"
ITEMS = f"{BATCHES}/Send Groups/Send Items"


def the_graph() -> Graph:
    return graph_of(DEFINITION)


def some_counts(states: dict[str, StateCount] | None = None, **others: Any) -> Counts:
    """Counts in which nothing was anywhere but in `states`."""
    graph = the_graph()
    none = {
        node.path: StateCount(succeeded=None, failed=None) if graph.is_in_leaf(node.path) else StateCount()
        for node in graph.nodes
    }
    defaults: dict[str, Any] = {
        "status": "RUNNING",
        "states": none | (states or {}),
        "children_running": 2,
        "children_counted": 2,
        "as_of": datetime(2026, 9, 2, 16, 0, 30, tzinfo=UTC),
        "is_behind": False,
        "calls": 9,
    }
    return Counts(**(defaults | others))
