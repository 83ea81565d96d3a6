"""Says what is wrong with a definition, or not supported, before anything runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sandbox.engine import fields
from sandbox.engine.field_checks import check_fields, is_whole
from sandbox.engine.shapes import check_shapes
from sandbox.engine.state_checks import check_state
from sandbox.engine.states.wait import MAXIMUM_SECONDS

MAXIMUM_NAME_LENGTH = 80


def validate(definition: Any) -> list[str]:
    """Return the problems of a definition, each with the place where it is; empty where it is sound.

    A Task without TimeoutSeconds is none.
    """
    if not isinstance(definition, dict):
        return ["the definition must be an object"]
    if shapes := list(check_shapes(definition)):
        return shapes
    problems = list(_check_machine(definition, "", fields.MACHINE))
    timeout = definition.get("TimeoutSeconds")
    if timeout is not None and not is_whole(timeout, 1, MAXIMUM_SECONDS):
        problems.append(f"/TimeoutSeconds: must be a whole number from 1 to {MAXIMUM_SECONDS}")
    return problems + _duplicate_names(definition)


def _check_machine(machine: Any, where: str, known: set[str]) -> Iterator[str]:
    """Check a machine, a branch or an item processor: they are all states with a start."""
    if not isinstance(machine, dict):
        yield f"{where or '/'}: must be an object"
        return
    yield from check_fields(machine, where, known)
    states = machine.get("States")
    if not isinstance(states, dict) or not states:
        yield f"{where}/States: at least one state is needed"
        return
    for name, state in states.items():
        if not 0 < len(name) <= MAXIMUM_NAME_LENGTH:
            yield f"{where}/States/{name}: a name has 1 to {MAXIMUM_NAME_LENGTH} characters"
        if not isinstance(state, dict):
            yield f"{where}/States/{name}: must be an object"
            return
        yield from check_state(state, f"{where}/States/{name}")
        yield from _check_inner(state, f"{where}/States/{name}")
    yield from _check_graph(machine.get("StartAt"), states, where)


def _check_inner(state: dict[str, Any], where: str) -> Iterator[str]:
    """Check the machines inside a Parallel or a Map."""
    if state.get("Type") == "Parallel":
        branches = state.get("Branches")
        if not isinstance(branches, list) or not branches:
            yield f"{where}/Branches: at least one branch is needed"
            return
        for number, branch in enumerate(branches):
            yield from _check_machine(branch, f"{where}/Branches[{number}]", fields.BRANCH)
    if state.get("Type") == "Map":
        given = [name for name in ("ItemProcessor", "Iterator") if name in state]
        if len(given) != 1:
            yield f"{where}: exactly one ItemProcessor is needed"
            return
        yield from _check_machine(state[given[0]], f"{where}/{given[0]}", fields.PROCESSOR)


def targets(state: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the states that a state leads to, with the field that says so."""
    if "Next" in state:
        yield "Next", state["Next"]
    if "Default" in state:
        yield "Default", state["Default"]
    for field in ("Choices", "Catch"):
        for number, entry in enumerate(state.get(field) or []):
            if isinstance(entry, dict) and "Next" in entry:
                yield f"{field}[{number}]/Next", entry["Next"]


def _check_graph(start_at: Any, states: dict[str, Any], where: str) -> Iterator[str]:
    if start_at not in states:
        yield f"{where}/StartAt: there is no state {start_at!r}"
        return
    for name, state in states.items():
        for field, target in targets(state):
            if target not in states:
                yield f"{where}/States/{name}/{field}: there is no state {target!r}"
    reached = _reached(start_at, states)
    for name in states:
        if name not in reached:
            yield f"{where}/States/{name}: cannot be reached"
    if not any(_is_end(states[name]) for name in reached):
        yield f"{where}/States: no state ends it"


def _reached(start_at: str, states: dict[str, Any]) -> set[str]:
    reached: set[str] = set()
    waiting = [start_at]
    while waiting:
        name = waiting.pop()
        if name in states and name not in reached:
            reached.add(name)
            waiting.extend(target for _, target in targets(states[name]) if isinstance(target, str))
    return reached


def _is_end(state: dict[str, Any]) -> bool:
    return state.get("End") is True or state.get("Type") in ("Succeed", "Fail")


def _duplicate_names(definition: dict[str, Any]) -> list[str]:
    """AWS wants a state's name to be unique in the whole definition, inner machines included."""
    seen: set[str] = set()
    problems = []
    for name in _names(definition):
        if name in seen:
            problems.append(f"the state name {name!r} is used twice")
        seen.add(name)
    return problems


def _names(machine: Any) -> Iterator[str]:
    if not isinstance(machine, dict) or not isinstance(machine.get("States"), dict):
        return
    for name, state in machine["States"].items():
        yield name
        if isinstance(state, dict):
            branches = state.get("Branches")
            for inner in (
                *(branches if isinstance(branches, list) else ()),
                state.get("ItemProcessor"),
                state.get("Iterator"),
            ):
                yield from _names(inner)
