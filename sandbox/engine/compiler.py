"""Turns a definition into states that can run. validate.py has said before whether it is sound."""

from __future__ import annotations

from typing import Any

from sandbox.engine.documents import Document
from sandbox.engine.executions import Branch, Checkpoint
from sandbox.engine.states.base import State


class Program:
    """The states of a machine, a branch or an item processor."""

    def __init__(self, start_at: str, states: dict[str, State]) -> None:
        self.start_at = start_at
        self.states = states

    def run(self, branch: Branch, data: Document, checkpoint: Checkpoint) -> Document:
        """Run from the start, or from where the checkpoint says, to the end; return the output.

        Raises: StateFailed, ExecutionFailed, HistoryFull, HistoryClosed.
        """
        if checkpoint.output is not None:
            return checkpoint.output
        name: str | None = self.start_at
        if checkpoint.state is not None and checkpoint.data is not None:
            name, data = checkpoint.state, checkpoint.data  # a redrive: children of that state are kept
        else:
            checkpoint.enter(self.start_at, data)
        while name is not None:
            data, name = self.states[name].execute(branch, data, checkpoint)
            if name is not None:
                checkpoint.enter(name, data)
        checkpoint.output = data
        return data


def compile_program(definition: dict[str, Any]) -> Program:
    """Compile a sound definition. Raises: ValueError, KeyError where it is not sound."""
    return Program(
        definition["StartAt"], {name: compile_state(name, fields) for name, fields in definition["States"].items()}
    )


def compile_state(name: str, fields: dict[str, Any]) -> State:
    from sandbox.engine.states.registry import STATE_TYPES  # the Map states compile programs in their turn

    return STATE_TYPES[fields["Type"]](name, fields)
