"""JSONPath as Step Functions reads it (Jayway's dialect): compiled once, evaluated often."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, Protocol

from sandbox.engine.filters import compile_filter

Step = str | int | Callable[[Any], Iterable[Any]]

_NAME = re.compile(r"[^\s.\[\]()'\",*?@&|!=<>:;]+")
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"", re.S)
_INTEGERS = re.compile(r"\s*-?\d+\s*(?:,\s*-?\d+\s*)*")
_SLICE = re.compile(r"\s*(-?\d*)\s*:\s*(-?\d*)\s*(?::\s*(-?\d*)\s*)?")


class Scope(Protocol):
    """What a path may need besides the data: the context object (`$$`)."""

    def context(self) -> dict[str, Any]: ...


class InvalidPath(ValueError):
    """The text is not a path."""


class PathNotFound(Exception):
    """The path leads nowhere. `reason` is Jayway's text."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason


class Path:
    """A compiled path: a definite one finds one value, an indefinite one a list of all that match."""

    __slots__ = ("definite", "is_context", "steps", "text")

    def __init__(self, text: str, steps: list[Step], is_context: bool) -> None:
        self.text = text
        self.steps = steps
        self.is_context = is_context
        self.definite = not any(callable(step) for step in steps)

    @property
    def is_reference(self) -> bool:
        """A Reference Path identifies one node, by names and indexes alone."""
        return self.definite and not self.is_context

    def find(self, data: Any, scope: Scope) -> Any:
        """Raises: PathNotFound (definite paths only)."""
        value: Any = scope.context() if self.is_context else data
        if not self.definite:
            return self._find_all(value)
        for position, step in enumerate(self.steps):
            if not _has(value, step):
                raise PathNotFound(self.text, self._why(position, value))
            value = value[step]
        return value

    def _find_all(self, root: Any) -> list[Any]:
        values: Iterable[Any] = [root]
        for step in self.steps:
            values = [found for value in values for found in _expand(step, value)]
        return list(values)

    def _why(self, position: int, value: Any) -> str:
        """Return Jayway's words for the step that failed."""
        step, before = self.steps[position], "$" + "".join(_bracketed(step) for step in self.steps[:position])
        here = before + _bracketed(step)
        if isinstance(step, int):
            if isinstance(value, list):
                return f"Index out of bounds when evaluating path {here}"
            return f"Filter: [{step}] can only be applied to arrays. Current context is: {value}"
        if isinstance(value, dict):
            is_leaf = position == len(self.steps) - 1
            return f"No results for path: {here}" if is_leaf else f"Missing property in path {here}"
        found = type(value).__name__
        return f"Expected to find an object with property ['{step}'] in path {before} but found '{found}'."


def _bracketed(step: Step) -> str:
    return f"['{step}']" if isinstance(step, str) else f"[{step}]"


def _has(value: Any, step: Step) -> bool:
    if isinstance(step, str):
        return isinstance(value, dict) and step in value
    return isinstance(step, int) and isinstance(value, list) and -len(value) <= step < len(value)


def _expand(step: Step, value: Any) -> Iterable[Any]:
    if callable(step):
        return step(value)
    return [value[step]] if _has(value, step) else []


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else []


def _descendants(value: Any) -> Iterator[Any]:
    yield value
    for child in _children(value):
        yield from _descendants(child)


def _names(names: list[str]) -> Callable[[Any], Iterable[Any]]:
    """Several names at once make one object of those that are there, as Jayway does."""
    return lambda value: [{name: value[name] for name in names if name in value}] if isinstance(value, dict) else []


def _indexes(indexes: list[int]) -> Callable[[Any], Iterable[Any]]:
    return lambda value: [found for index in indexes for found in _expand(index, value)]


def _slice(bounds: slice) -> Callable[[Any], Iterable[Any]]:
    return lambda value: value[bounds] if isinstance(value, list) else []


@lru_cache(maxsize=4096)
def compile_path(text: str) -> Path:
    """Compile a path (`$...` the data, `$$...` the context object). Raises: InvalidPath."""
    is_context = text.startswith("$$")
    if not text.startswith("$"):
        raise InvalidPath(f"Invalid path {text!r}: a path begins with $")
    return Path(text, list(_Parser(text, 2 if is_context else 1).steps()), is_context)


class _Parser:
    def __init__(self, text: str, position: int) -> None:
        self.text = text
        self.position = position

    def steps(self) -> Iterator[Step]:
        while self.position < len(self.text):
            if self.text.startswith("..", self.position):
                self.position += 2
                yield _descendants
                if self.text[self.position : self.position + 1] != "[":
                    yield self._dotted()
            elif self.text[self.position] == ".":
                self.position += 1
                yield self._dotted()
            elif self.text[self.position] == "[":
                yield self._bracket()
            else:
                raise self._invalid()

    def _invalid(self) -> InvalidPath:
        return InvalidPath(f"Invalid path {self.text!r} at position {self.position}")

    def _dotted(self) -> Step:
        if self.text.startswith("*", self.position):
            self.position += 1
            return _children
        match = _NAME.match(self.text, self.position)
        if match is None or self.text[match.end() : match.end() + 1] == "(":
            raise self._invalid()
        self.position = match.end()
        return match.group()

    def _bracket(self) -> Step:
        end = self._closing_bracket()
        inside = self.text[self.position + 1 : end]
        self.position = end + 1
        return self._selector(inside)

    def _selector(self, inside: str) -> Step:
        stripped = inside.strip()
        if stripped == "*":
            return _children
        if stripped[:1] in ("'", '"'):
            names = [_unescape(one or two) for one, two in _QUOTED.findall(stripped)]
            return names[0] if len(names) == 1 else _names(names)
        if stripped.startswith("?"):
            return compile_filter(stripped[1:], lambda path: compile_path(path))
        if _INTEGERS.fullmatch(inside):
            numbers = [int(number) for number in inside.split(",")]
            return numbers[0] if len(numbers) == 1 else _indexes(numbers)
        if (match := _SLICE.fullmatch(inside)) is not None:
            return _slice(slice(*(int(bound) if bound else None for bound in match.groups())))
        raise self._invalid()

    def _closing_bracket(self) -> int:
        depth, position = 0, self.position
        while position < len(self.text):
            character = self.text[position]
            if character in "'\"":
                match = _QUOTED.match(self.text, position)
                if match is None:
                    break
                position = match.end()
                continue
            depth += (character == "[") - (character == "]")
            if depth == 0:
                return position
            position += 1
        raise self._invalid()


def _unescape(text: str) -> str:
    """Undo \\' and \\\\; any other backslash stands for itself (recorded on AWS)."""
    return re.sub(r"\\(['\\])", r"\1", text) if "\\" in text else text
