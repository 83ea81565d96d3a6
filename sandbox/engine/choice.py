"""Choice rules: data-test expressions and And, Or, Not, compiled to predicates."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from sandbox.engine.errors import StateRuntimeError
from sandbox.engine.paths import Path, PathNotFound, Scope, compile_path
from sandbox.engine.timestamps import parse_timestamp

Predicate = Callable[[Any, Scope], bool]

_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "Equals": operator.eq,
    "LessThan": operator.lt,
    "GreaterThan": operator.gt,
    "LessThanEquals": operator.le,
    "GreaterThanEquals": operator.ge,
}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _as_number(value: Any) -> float | None:
    return value if _is_number(value) else None


def _as_string(value: Any) -> bytes | None:
    """Return the form in which strings compare as Java's do: by UTF-16 code units."""
    return value.encode("utf-16-be", "surrogatepass") if isinstance(value, str) else None


def _as_boolean(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _as_timestamp(value: Any) -> datetime | None:
    return parse_timestamp(value)


_TYPES: dict[str, tuple[Callable[[Any], Any], tuple[str, ...]]] = {
    "String": (_as_string, tuple(_ORDERS)),
    "Numeric": (_as_number, tuple(_ORDERS)),
    "Timestamp": (_as_timestamp, tuple(_ORDERS)),
    "Boolean": (_as_boolean, ("Equals",)),
}
COMPARISONS = {kind + order: (read, _ORDERS[order]) for kind, (read, orders) in _TYPES.items() for order in orders}
"""operator name -> (reader of an operand, None if it has another type; comparison)."""

TYPE_TESTS: dict[str, Callable[[Any], bool]] = {
    "IsNull": lambda value: value is None,
    "IsNumeric": _is_number,
    "IsString": lambda value: isinstance(value, str),
    "IsBoolean": lambda value: isinstance(value, bool),
    "IsTimestamp": lambda value: parse_timestamp(value) is not None,
}
OPERATORS = {*COMPARISONS, *(name + "Path" for name in COMPARISONS), *TYPE_TESTS, "IsPresent", "StringMatches"}


def compile_rule(rule: dict[str, Any]) -> Predicate:
    """Compile a choice rule. Raises: ValueError, where it is no rule."""
    for name, combine in (("And", all), ("Or", any)):
        if name in rule:
            rules = [compile_rule(part) for part in rule[name]]
            return lambda data, scope: combine(part(data, scope) for part in rules)
    if "Not" in rule:
        negated = compile_rule(rule["Not"])
        return lambda data, scope: not negated(data, scope)
    operators = [key for key in rule if key in OPERATORS]
    if "Variable" not in rule or len(operators) != 1:
        raise ValueError("a choice rule needs a Variable and exactly one comparison operator")
    return _compile_test(compile_path(rule["Variable"]), operators[0], rule[operators[0]])


def _compile_test(variable: Path, name: str, expected: Any) -> Predicate:
    if name == "IsPresent":
        return lambda data, scope: _is_present(variable, data, scope) is expected
    if name in TYPE_TESTS:
        test = TYPE_TESTS[name]
        return lambda data, scope: test(_value(variable, data, scope)) is expected
    if name == "StringMatches":
        pattern = _wildcards(expected)
        return lambda data, scope: _matches(pattern, _value(variable, data, scope))
    if name.endswith("Path"):
        return _compile_comparison(variable, name[: -len("Path")], compile_path(expected))
    return _compile_constant(variable, name, expected)


def _compile_constant(variable: Path, name: str, expected: Any) -> Predicate:
    read, compare = COMPARISONS[name]
    right = read(expected)
    if right is None:
        raise ValueError(f"{name} cannot be compared with {expected!r}")

    def test(data: Any, scope: Scope) -> bool:
        left = read(_value(variable, data, scope))
        return left is not None and compare(left, right)

    return test


def _compile_comparison(variable: Path, name: str, other: Path) -> Predicate:
    read, compare = COMPARISONS[name]

    def test(data: Any, scope: Scope) -> bool:
        left, right = read(_value(variable, data, scope)), read(_value(other, data, scope))
        return left is not None and right is not None and compare(left, right)

    return test


def _value(path: Path, data: Any, scope: Scope) -> Any:
    try:
        return path.find(data, scope)
    except PathNotFound:
        message = f"Invalid path '{path.text}': The choice state's condition path references an invalid value."
        raise StateRuntimeError(message) from None


def _is_present(path: Path, data: Any, scope: Scope) -> bool:
    try:
        found = path.find(data, scope)
    except PathNotFound:
        return False
    return path.definite or bool(found)


def _wildcards(pattern: Any) -> re.Pattern[str]:
    """Return a `*` pattern as a regular expression; `\\*` is a star and `\\\\` a backslash."""
    if not isinstance(pattern, str):
        raise ValueError("StringMatches needs a string")
    pieces = re.findall(r"\\[*\\]|.", pattern, re.S)
    return re.compile("".join(".*" if piece == "*" else re.escape(piece[-1]) for piece in pieces), re.S)


def _matches(pattern: re.Pattern[str], value: Any) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None
