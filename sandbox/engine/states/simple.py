"""Pass, Succeed, Fail and Choice: states that take no time."""

from __future__ import annotations

from typing import Any

from sandbox.engine.choice import compile_rule
from sandbox.engine.documents import Document
from sandbox.engine.errors import StateFailed, StateRuntimeError
from sandbox.engine.executions import Branch, Checkpoint
from sandbox.engine.states.base import State
from sandbox.engine.templates import Template, compile_expression


class PassState(State):
    type = "Pass"

    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        super().__init__(name, fields)
        self.result = Document(fields["Result"]) if "Result" in fields else None

    def run(self, branch: Branch, data: Document, checkpoint: Checkpoint) -> tuple[Document, str | None]:
        payload = self.payload(branch, data)
        return self.output(branch, data, self.result or payload), self.next


class SucceedState(State):
    type = "Succeed"

    def run(self, branch: Branch, data: Document, checkpoint: Checkpoint) -> tuple[Document, str | None]:
        return self.filtered(branch, self.effective_input(branch, data)), None


class FailState(State):
    type = "Fail"

    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        super().__init__(name, fields)
        self.error = self._text(fields, "Error")
        self.cause = self._text(fields, "Cause")

    @staticmethod
    def _text(fields: dict[str, Any], name: str) -> Template:
        path = f"{name}Path"
        if path in fields:
            return compile_expression(path, fields[path])
        return lambda data, scope: fields.get(name)

    def run(self, branch: Branch, data: Document, checkpoint: Checkpoint) -> tuple[Document, str | None]:
        error, cause = self.error(data.value, branch), self.cause(data.value, branch)
        for name, value in (("Error", error), ("Cause", cause)):
            if value is not None and not isinstance(value, str):
                raise StateRuntimeError(f"The {name}Path field must refer to a string")
        raise StateFailed(error, cause)


class ChoiceState(State):
    type = "Choice"

    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        super().__init__(name, fields)
        self.rules = [(compile_rule(rule), rule["Next"]) for rule in fields["Choices"]]
        self.default: str | None = fields.get("Default")

    def run(self, branch: Branch, data: Document, checkpoint: Checkpoint) -> tuple[Document, str | None]:
        effective = self.effective_input(branch, data)
        for holds, target in self.rules:
            if holds(effective.value, branch):
                return self.filtered(branch, effective), target
        if self.default is None:
            raise StateRuntimeError("Failed to transition out of the state. The state does not point to a next state.")
        return self.filtered(branch, effective), self.default
