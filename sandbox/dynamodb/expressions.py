"""The expressions of one request: compiled once for each text, and every placeholder accounted for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from sandbox.dynamodb.conditions import Test, TypeRule, compile_condition
from sandbox.dynamodb.errors import invalid
from sandbox.dynamodb.syntax import Parser
from sandbox.dynamodb.trees import Condition, Path, Update
from sandbox.dynamodb.updates import Apply, compile_update
from sandbox.dynamodb.values import Value, from_wire

Names = tuple[tuple[str, str], ...]
_CACHED = 4096  # texts; a program has tens, a generated test has thousands


class Compiled(NamedTuple):
    """One expression. Of `test`, `apply` and `paths`, those that its kind has."""

    names: frozenset[str]
    values: frozenset[str]
    rules: tuple[TypeRule, ...] = ()
    tree: Condition | Update | None = None
    test: Test | None = None
    apply: Apply | None = None
    paths: list[Path] = []  # noqa: RUF012 (never changed)


@lru_cache(_CACHED)
def _condition(kind: str, text: str, names: Names) -> Compiled:
    parser, rules = Parser(kind, text, dict(names)), list[TypeRule]()
    tree = parser.condition()
    test = compile_condition(tree, rules)
    return Compiled(frozenset(parser.used_names), frozenset(parser.used_values), tuple(rules), tree, test=test)


@lru_cache(_CACHED)
def _update(kind: str, text: str, names: Names) -> Compiled:
    parser, rules = Parser(kind, text, dict(names)), list[TypeRule]()
    tree = parser.update()
    apply = compile_update(tree, rules)
    used = frozenset(parser.used_names), frozenset(parser.used_values)
    return Compiled(*used, tuple(rules), tree, apply=apply, paths=tree.paths())


@lru_cache(_CACHED)
def _projection(kind: str, text: str, names: Names) -> Compiled:
    parser = Parser(kind, text, dict(names))
    paths = parser.projection()
    return Compiled(frozenset(parser.used_names), frozenset(), paths=paths)


class Expressions:
    """Reads the expressions of one request (or of one action of a transaction).

    `values` are its ExpressionAttributeValues. Call `check_all_used` after the last expression.
    """

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        names = parameters.get("ExpressionAttributeNames")
        values = parameters.get("ExpressionAttributeValues")
        for given, parameter in ((names, "ExpressionAttributeNames"), (values, "ExpressionAttributeValues")):
            if given is not None and not given:
                raise invalid(f"{parameter} must not be empty")
        self._parameters = parameters
        self._names: Names = tuple(names.items()) if names else ()
        self.values: dict[str, Value] = {name: from_wire(value) for name, value in (values or {}).items()}
        self._unused_names = {name for name, _ in self._names}
        self._unused_values = set(self.values)
        self._any = False

    def condition(self, kind: str) -> Compiled | None:
        """Return the condition in parameter `kind`, if the request has it. Raises: ValidationException."""
        return self._read(kind, _condition)

    def update(self) -> Compiled | None:
        """Return the UpdateExpression, if the request has it. Raises: ValidationException."""
        return self._read("UpdateExpression", _update)

    def projection(self) -> Compiled | None:
        """Return the ProjectionExpression, if the request has it. Raises: ValidationException."""
        return self._read("ProjectionExpression", _projection)

    def check_all_used(self) -> None:
        """Raises: ValidationException, for a placeholder that no expression mentions."""
        for unused, parameter in (
            (self._unused_names, "ExpressionAttributeNames"),
            (self._unused_values, "ExpressionAttributeValues"),
        ):
            if unused and not self._any:
                raise invalid(f"{parameter} can only be specified when using expressions")
            if unused:
                keys = ", ".join(sorted(unused))
                raise invalid(f"Value provided in {parameter} unused in expressions: keys: {{{keys}}}")

    def _read(self, kind: str, compile_: Callable[[str, str, Names], Compiled]) -> Compiled | None:
        text = self._parameters.get(kind)
        if text is None:
            return None
        compiled = compile_(kind, text, self._names)
        self._any = True
        for name in compiled.values:
            if name not in self.values:
                raise invalid(
                    f"Invalid {kind}: An expression attribute value used in expression is not defined; "
                    f"attribute value: {name}"
                )
        for rule in compiled.rules:
            rule.check(self.values, kind)
        self._unused_names -= compiled.names
        self._unused_values -= compiled.values
        return compiled
