"""A definition as a graph: every state by its path through the Maps it is in, and what leads where."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from console.workflow.wording import caught_errors, common_catch, condition, function_of, is_waiting_for_a_token

Machine = dict[str, Any]
_SAID = {"Succeed": "good end", "Fail": "failure", "Pass": "step", "Parallel": "side by side"}
_KINDS = {"Choice": "choice", "Wait": "wait", "Map": "map", "Parallel": "map", "Succeed": "good", "Fail": "bad"}


@dataclass(frozen=True, slots=True)
class Node:
    """A state. path: unique, e.g. "Send Streams/Send Batches/Admit Batch"; parent: that of the Map it is in, or "".

    kind: task, wait, map, choice, good, bad or step, as pictures tell states apart. mode: Inline or Distributed, of
    a Map. is_start, is_end: whether its machine begins or may end with it.
    """

    path: str
    name: str
    type: str
    kind: str
    parent: str
    comment: str = ""
    function: str = ""
    mode: str = ""
    is_start: bool = False
    is_end: bool = False

    @property
    def is_map(self) -> bool:
        return self.type == "Map"

    @property
    def says(self) -> str:
        """What kind of state it is, in words: "task · send", "for each · Inline Map", "waits for a signal"."""
        if self.kind == "wait" and self.type == "Task":
            return "waits for a signal"
        if self.is_map:
            return f"for each · {self.mode} Map"
        return f"task · {self.function}" if self.function else _SAID.get(self.type, self.type.lower())


@dataclass(frozen=True, slots=True)
class Edge:
    """What leads from one state (its path) to another. kind: plain, choice or error.

    A source of "" is any state of the target's machine: a failure that most of them share is told once.
    """

    source: str
    target: str
    label: str = ""
    kind: str = "plain"


@dataclass(frozen=True, slots=True)
class Graph:
    """The states of a machine and of all its Maps, outer ones first, each in the order in which they can be reached.

    A deployed definition has its states in any order: CloudFormation's JSON is sorted by name.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def node(self, path: str) -> Node:
        """Raises: KeyError."""
        for node in self.nodes:
            if node.path == path:
                return node
        raise KeyError(path)

    @property
    def inline_maps(self) -> frozenset[str]:
        """The paths of the Maps whose iterations are in the history of the execution itself."""
        return frozenset(node.path for node in self.nodes if node.mode == "Inline")

    def is_in_leaf(self, path: str) -> bool:
        """Tell whether a state runs in children that have no children of their own."""
        around = [node.path for node in self.nodes if node.mode == "Distributed" and path.startswith(f"{node.path}/")]
        return bool(around) and not self.has_distributed_maps_in(max(around, key=len))

    def has_distributed_maps_in(self, path: str) -> bool:
        """Tell whether the children of a Map may have children of their own."""
        return any(node.mode == "Distributed" and node.path.startswith(f"{path}/") for node in self.nodes)

    def to_json(self) -> dict[str, Any]:
        """Return what console/web/static/workflow.js draws."""
        nodes = [{**asdict(node), "says": node.says} for node in self.nodes]
        return {"nodes": nodes, "edges": [asdict(edge) for edge in self.edges]}

    @property
    def key(self) -> str:
        """Another for another picture: an element with it as its id need not be drawn again."""
        return hashlib.sha256(json.dumps(self.to_json()).encode()).hexdigest()[:12]


def graph_of(definition: Machine) -> Graph:
    """Return the graph of a definition, as written (`${SendFunctionArn}`) or as deployed (ARNs)."""
    machines = list(_machines("", definition))
    return Graph(
        tuple(node for parent, machine in machines for node in _nodes(parent, machine)),
        tuple(edge for parent, machine in machines for edge in _edges(parent, machine)),
    )


def joined(parent: str, name: str) -> str:
    """Return the path of a state in a Map whose path is `parent`."""
    return f"{parent}/{name}" if parent else name


def processor_of(state: Machine) -> Machine | None:
    """Return what a Map does with each item; None of another state."""
    return state.get("ItemProcessor", state.get("Iterator")) if state["Type"] == "Map" else None


def mode_of(state: Machine) -> str:
    """Return Inline or Distributed of a Map, "" of another state."""
    processor = processor_of(state)
    return "" if processor is None else str(processor.get("ProcessorConfig", {}).get("Mode", "INLINE")).capitalize()


def _in_order(machine: Machine) -> dict[str, Machine]:
    """Return the states, those that need fewer steps from the start first; what is never reached is last."""
    states: dict[str, Machine] = machine["States"]
    reached = [machine["StartAt"]]
    for name in reached:  # grows on the way
        targets = [_next_of(one) for one in [*states[name].get("Choices", []), states[name]]]
        targets += [states[name].get("Default"), *(_next_of(catch) for catch in states[name].get("Catch", []))]
        reached += dict.fromkeys(target for target in targets if target is not None and target not in reached)
    return {name: states[name] for name in dict.fromkeys([*reached, *states])}


def _next_of(fields: Machine) -> str | None:
    following: str | None = fields.get("Next")
    return following


def _machines(parent: str, machine: Machine) -> Iterator[tuple[str, Machine]]:
    yield parent, machine
    for name, state in _in_order(machine).items():
        inner = [processor_of(state), *state.get("Branches", ())]
        for one in inner:
            if one is not None:
                yield from _machines(joined(parent, name), one)


def _nodes(parent: str, machine: Machine) -> Iterator[Node]:
    for name, state in _in_order(machine).items():
        kind = "wait" if is_waiting_for_a_token(state) else _KINDS.get(state["Type"], "step")
        yield Node(
            path=joined(parent, name),
            name=name,
            type=state["Type"],
            kind="task" if kind == "step" and state["Type"] == "Task" else kind,
            parent=parent,
            comment=state.get("Comment", ""),
            function=function_of(state) or "",
            mode=mode_of(state),
            is_start=name == machine["StartAt"],
            is_end=bool(state.get("End")) or state["Type"] in ("Succeed", "Fail"),
        )


def _edges(parent: str, machine: Machine) -> Iterator[Edge]:
    states = _in_order(machine)
    failure_target = common_catch(states)
    for name, state in states.items():
        source = joined(parent, name)
        for choice in state.get("Choices", []):
            yield Edge(source, joined(parent, choice["Next"]), condition(choice), "choice")
        if "Default" in state:
            yield Edge(source, joined(parent, state["Default"]), "else", "choice")
        if "Next" in state:
            yield Edge(source, joined(parent, state["Next"]))
        for target, errors in caught_errors(state, failure_target).items():
            yield Edge(source, joined(parent, target), ", ".join(errors), "error")
    if failure_target:
        label = "a step fails" if parent else "a step of the campaign fails"
        yield Edge("", joined(parent, failure_target), label, "error")
