"""What a test reads of executions: the states that were entered, and what their functions were given and gave."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sandbox.engine import Engine, Execution


def states_entered(execution: Execution) -> list[str]:
    """Return the names of the states that one execution entered, in order, iterations of an inline Map included."""
    return [name for _, name in _entries(execution)]


def all_states_entered(engine: Engine, execution: Execution) -> list[str]:
    """Return the same of an execution and of all its children, in the order of time."""
    found = [entry for e in engine.executions() if root_of(engine, e) is execution for entry in _entries(e)]
    return [name for _, name in sorted(found, key=lambda entry: entry[0])]


def _entries(execution: Execution) -> Iterator[tuple[Any, str]]:
    for event in execution.history():
        if event["type"].endswith("StateEntered"):
            yield event["timestamp"], event["stateEnteredEventDetails"]["name"]


def root_of(engine: Engine, execution: Execution) -> Execution:
    """Return the execution that a child of a Distributed Map belongs to, at any depth; another is its own."""
    while execution.map_run_arn is not None:
        execution = engine.execution(engine.map_run(execution.map_run_arn).execution_arn)
    return execution


def state_names(definition: str) -> list[str]:
    """Return the names of all states of a definition, those of inner machines included."""
    return list(_names(json.loads(definition)))


def _names(machine: dict[str, Any]) -> Iterator[str]:
    for name, state in machine["States"].items():
        yield name
        for inner in (*state.get("Branches", ()), state.get("ItemProcessor"), state.get("Iterator")):
            if inner is not None:
                yield from _names(inner)


def assert_in_order(entered: list[str], expected: tuple[str, ...]) -> None:
    """Assert that states were entered in this order; others may come between."""
    rest = iter(entered)
    for name in expected:
        if name not in rest:
            raise AssertionError(
                f"{name!r} was not entered in this order: {' → '.join(expected)}\nentered: {' → '.join(entered)}"
            )
