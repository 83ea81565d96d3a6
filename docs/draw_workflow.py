"""Draws the workflow in README.md from statemachines/campaign.asl.json: `.venv/bin/python docs/draw_workflow.py`.

The picture is Mermaid, which GitHub renders: one for the campaign, one for what each batch does, one for what each
message does. A test fails when it is not what the definition says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from console.workflow.definition import mode_of, processor_of
from console.workflow.wording import caught_errors, common_catch, condition, function_of, is_waiting_for_a_token

ROOT = Path(__file__).resolve().parents[1]
DEFINITION = ROOT / "statemachines" / "campaign.asl.json"
README = ROOT / "README.md"
BLOCK = re.compile(
    r"(<!-- workflow: drawn by docs/draw_workflow\.py -->\n).*?(<!-- end of the workflow -->)", re.DOTALL
)

SHAPES = {
    "Choice": '{{"%s"}}:::choice',
    "Wait": '(["%s"]):::wait',
    "Map": '[["%s"]]:::map',
    "Succeed": '(["%s"]):::good',
    "Fail": '(["%s"]):::bad',
    "Task": '["%s"]:::task',
}
COLOURS = {
    "task": "fill:#dbeafe,stroke:#1d4ed8,color:#111",
    "wait": "fill:#fef3c7,stroke:#b45309,color:#111",
    "map": "fill:#ede9fe,stroke:#6d28d9,color:#111",
    "choice": "fill:#f3f4f6,stroke:#6b7280,color:#111",
    "good": "fill:#dcfce7,stroke:#15803d,color:#111",
    "bad": "fill:#fee2e2,stroke:#b91c1c,color:#111",
}

Machine = dict[str, Any]


def draw(definition: Machine) -> str:
    """Return the pictures as Markdown: a title and a Mermaid block each."""
    return "\n".join(_picture(title, machine) for title, machine in _machines("The campaign", definition))


def _picture(title: str, machine: Machine) -> str:
    lines = [f"**{title}**", "", "```mermaid", "flowchart TD", *(f"  {line}" for line in _lines(machine))]
    used = [f"  classDef {name} {colours}" for name, colours in COLOURS.items() if f":::{name}" in "\n".join(lines)]
    return "\n".join([*lines, *used, "```", ""])


def _machines(title: str, machine: Machine) -> Iterator[tuple[str, Machine]]:
    """Yield a machine and, after it, those of its Maps; a Map of one state has no picture of its own."""
    yield title, machine
    for name, state in machine["States"].items():
        if state["Type"] == "Map":
            names, body = _unwrapped(name, state)
            if len(body["States"]) > 1:
                yield f"Each item of {names[-1][0]}", body
                yield from list(_machines("", body))[1:]


def _unwrapped(name: str, state: Machine) -> tuple[list[tuple[str, str]], Machine]:
    """Return the (name, mode) of a Map and of the Maps that are all there is in it, and the innermost body."""
    body: Machine = processor_of(state) or {}
    names = [(name, mode_of(state))]
    while len(body["States"]) == 1:
        ((inner, only),) = body["States"].items()
        if (within := processor_of(only)) is None:
            break
        body = within
        names.append((inner, mode_of(only)))
    return names, body


def _lines(machine: Machine) -> Iterator[str]:
    states: dict[str, Machine] = machine["States"]
    failure_target = common_catch(states)
    for name, state in states.items():
        yield _node(name) + _shape(name, state)
    yield f"start(( )) --> {_node(machine['StartAt'])}"
    for name, state in states.items():
        yield from _arrows(name, state, failure_target)
    if failure_target:
        yield f'failure>"a step of the campaign fails"] -.-> {_node(failure_target)}'


def _shape(name: str, state: Machine) -> str:
    label = f"<b>{name}</b>"
    if state["Type"] == "Map":
        names, body = _unwrapped(name, state)
        label = "<br/>".join(f"<b>{inner}</b> · {mode} Map" for inner, mode in names)
        if len(body["States"]) == 1:
            ((only, task),) = body["States"].items()
            label += f"<br/><b>{only}</b> · {function_of(task)}"
    elif function := function_of(state):
        label += f" · {function}"
    shape = SHAPES.get(state["Type"], '["%s"]')
    if is_waiting_for_a_token(state):
        shape = '(["%s"]):::wait'
    return shape % label


def _arrows(name: str, state: Machine, failure_target: str | None) -> Iterator[str]:
    node = _node(name)
    for choice in state.get("Choices", []):
        yield f"{node} -->|{condition(choice)}| {_node(choice['Next'])}"
    if "Default" in state:
        yield f"{node} -->|else| {_node(state['Default'])}"
    if "Next" in state:
        yield f"{node} --> {_node(state['Next'])}"
    for target, errors in caught_errors(state, failure_target).items():
        yield f'{node} -.->|"{"<br/>".join(errors)}"| {_node(target)}'


def _node(name: str) -> str:
    return re.sub(r"\W+", "_", name).strip("_").lower()


def with_picture(readme: str) -> str:
    """Return the text of README.md with the picture drawn anew."""
    picture = draw(json.loads(DEFINITION.read_text()))
    return BLOCK.sub(lambda found: found[1] + picture + found[2], readme)


if __name__ == "__main__":
    README.write_text(with_picture(README.read_text()))
