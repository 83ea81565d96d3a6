"""The fields of a form that changes something: how each is shown, and what was typed in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from console.operator.values import in_words, whole_number


@dataclass(frozen=True, slots=True)
class Field:
    """One value. name: the API's. kind: cap: blank is none; number: from 1; switch: yes or no; choice: of `choices`,
    value → words.
    """

    name: str
    label: str
    kind: Literal["cap", "number", "text", "switch", "choice"] = "text"
    hint: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    least: int = 0
    most: int = 200

    def shown(self, value: Any) -> str:
        """Return a value of the API's as the form has it."""
        match value:
            case None:
                return ""
            case bool():
                return "yes" if value else ""
        return str(value)

    def told(self, value: Any) -> str:
        """Return a value of the API's as people read it."""
        return self.choices.get(str(value)) or in_words(value)

    def read(self, text: str) -> Any:
        """Return what was typed, as the API takes it. Raises: ValueError, with a sentence that says how to write it."""
        match self.kind:
            case "switch":
                return text == "yes"
            case "choice":
                if text not in self.choices:
                    raise ValueError(f"Choose one of: {', '.join(self.choices.values())}.")
                return text
            case "text":
                if len(text) > self.most:
                    raise ValueError(f"{len(text):,} characters are too many: {self.most:,} at most.")
                if len(text.strip()) < self.least:
                    raise ValueError(f"Write at least {self.least} characters.")
                return text
        return self._number(text)

    def _number(self, text: str) -> int | None:
        if self.kind == "cap" and not text.strip():
            return None
        if (number := whole_number(text)) is None:
            or_blank = "; leave it blank for no cap" if self.kind == "cap" else ""
            raise ValueError(f"“{text}” is no number that can be. Write a whole number from 1, as 600{or_blank}.")
        return number


@dataclass(frozen=True, slots=True)
class Typed:
    """What came in a form. values: by the API's names, where all can be read. problems: field → a sentence."""

    texts: Mapping[str, str]
    values: Mapping[str, Any]
    problems: Mapping[str, str]


def typed(fields: Sequence[Field], form: Mapping[str, str]) -> Typed:
    """Read a form."""
    texts = {one.name: form.get(one.name, "") for one in fields}
    values, problems = {}, {}
    for one in fields:
        try:
            values[one.name] = one.read(texts[one.name])
        except ValueError as error:
            problems[one.name] = str(error)
    return Typed(texts, values, problems)
