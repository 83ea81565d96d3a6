"""Condition, filter and projection trees made into closures over a stored item and the request's values."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from sandbox.dynamodb.errors import invalid
from sandbox.dynamodb.trees import (
    And,
    Between,
    Comparison,
    Condition,
    In,
    Not,
    Operand,
    Or,
    Path,
    Predicate,
    Size,
    ValueName,
)
from sandbox.dynamodb.values import Item, Value, order_of

Values = Mapping[str, Value]
Test = Callable[[Item, Values], bool]
Read = Callable[[Item, Values], Value | None]

ORDERED_TYPES = frozenset({"S", "N", "B"})
TYPES = ORDERED_TYPES | {"BOOL", "NULL", "L", "M", "SS", "NS", "BS"}
_ORDERINGS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class TypeRule(NamedTuple):
    """The types that a placeholder may have where the expression uses it; checked once a request."""

    name: str
    function: str
    types: frozenset[str]

    def check(self, values: Values, kind: str) -> None:
        """Raises: ValidationException."""
        actual = values[self.name][0]
        if actual not in self.types:
            raise invalid(
                f"Invalid {kind}: Incorrect operand type for operator or function; "
                f"operator or function: {self.function}, operand type: {actual}"
            )


def lookup(item: Item, parts: tuple[str | int, ...]) -> Value | None:
    """Return what is at a document path, or None."""
    value = item.get(parts[0])  # type: ignore[arg-type]
    for part in parts[1:]:
        if value is None:
            return None
        kind, content = value
        if kind == "M":
            value = content.get(part)
        elif kind == "L" and isinstance(part, int) and part < len(content):
            value = content[part]
        else:
            return None
    return value


# -- operands ---------------------------------------------------------------------------------------------------


def compile_operand(operand: Operand) -> Read:
    if isinstance(operand, ValueName):
        name = operand.name
        return lambda item, values: values[name]
    if isinstance(operand, Size):
        measured = operand.path.parts
        return lambda item, values: _size(lookup(item, measured))
    parts = operand.parts
    if len(parts) == 1:
        attribute = parts[0]
        return lambda item, values: item.get(attribute)  # type: ignore[arg-type]
    return lambda item, values: lookup(item, parts)


def _size(value: Value | None) -> Value | None:
    if value is None or value[0] in ("N", "BOOL", "NULL"):
        return None
    return ("N", str(len(value[1])))


def compile_condition(tree: Condition, rules: list[TypeRule]) -> Test:
    """Return the tree as a function (item, values) -> bool; an item that is absent is {}. Appends to `rules`."""
    if isinstance(tree, And):
        first, second = compile_condition(tree.left, rules), compile_condition(tree.right, rules)
        return lambda item, values: first(item, values) and second(item, values)
    if isinstance(tree, Or):
        one, other = compile_condition(tree.left, rules), compile_condition(tree.right, rules)
        return lambda item, values: one(item, values) or other(item, values)
    if isinstance(tree, Not):
        negated = compile_condition(tree.condition, rules)
        return lambda item, values: not negated(item, values)
    if isinstance(tree, Comparison):
        return _comparison(tree, rules)
    if isinstance(tree, Between):
        return _between(tree, rules)
    if isinstance(tree, In):
        return _in(tree)
    return _predicate(tree, rules)


def _comparison(tree: Comparison, rules: list[TypeRule]) -> Test:
    left, right = compile_operand(tree.left), compile_operand(tree.right)
    if tree.operator == "=":

        def is_equal(item: Item, values: Values) -> bool:
            value = left(item, values)
            return value is not None and value == right(item, values)

        return is_equal
    if tree.operator == "<>":
        return lambda item, values: left(item, values) != right(item, values)
    for operand in (tree.left, tree.right):
        _restrict(operand, tree.operator, ORDERED_TYPES, rules)
    compare = _ORDERINGS[tree.operator]
    return lambda item, values: _is_ordered(compare, left(item, values), right(item, values))


def _is_ordered(compare: Callable[[Any, Any], bool], left: Value | None, right: Value | None) -> bool:
    if left is None or right is None or left[0] != right[0] or left[0] not in ORDERED_TYPES:
        return False
    if left[0] == "N":
        return compare(Decimal(left[1]), Decimal(right[1]))
    return compare(left[1], right[1])


def _between(tree: Between, rules: list[TypeRule]) -> Test:
    for operand in tree:
        _restrict(operand, "BETWEEN", ORDERED_TYPES, rules)
    value_of, low_of, high_of = (compile_operand(operand) for operand in tree)
    both_given = isinstance(tree.low, ValueName) and isinstance(tree.high, ValueName)

    def test(item: Item, values: Values) -> bool:
        low, high = low_of(item, values), high_of(item, values)
        if both_given:
            check_bounds(low, high)
        value = value_of(item, values)
        return _is_ordered(operator.ge, value, low) and _is_ordered(operator.le, value, high)

    return test


def check_bounds(low: Value | None, high: Value | None) -> None:
    """Raises: ValidationException, when the bounds of a BETWEEN differ in type or are the wrong way round."""
    if low is None or high is None:
        return
    if low[0] != high[0]:
        raise invalid("The BETWEEN operator requires same data type for lower and upper bounds")
    if order_of(low) > order_of(high):
        raise invalid("The BETWEEN operator requires upper bound to be greater than or equal to lower bound")


def _in(tree: In) -> Test:
    value_of, options = compile_operand(tree.operand), [compile_operand(option) for option in tree.options]

    def test(item: Item, values: Values) -> bool:
        value = value_of(item, values)
        return value is not None and any(value == option(item, values) for option in options)

    return test


# -- functions --------------------------------------------------------------------------------------------------


def _predicate(tree: Predicate, rules: list[TypeRule]) -> Test:
    value_of = compile_operand(tree.path)
    if tree.function == "attribute_exists":
        return lambda item, values: value_of(item, values) is not None
    if tree.function == "attribute_not_exists":
        return lambda item, values: value_of(item, values) is None
    assert tree.argument is not None
    argument_of = compile_operand(tree.argument)
    if tree.function == "attribute_type":
        _restrict(tree.argument, tree.function, frozenset({"S"}), rules)
        return lambda item, values: _has_type(value_of(item, values), argument_of(item, values))
    if tree.function == "begins_with":
        _restrict(tree.argument, tree.function, frozenset({"S", "B"}), rules)
        return lambda item, values: _begins_with(value_of(item, values), argument_of(item, values))
    return lambda item, values: _contains(value_of(item, values), argument_of(item, values))


def _restrict(operand: Operand, function: str, types: frozenset[str], rules: list[TypeRule]) -> None:
    if isinstance(operand, ValueName):
        rules.append(TypeRule(operand.name, function, types))


def _has_type(value: Value | None, type_name: Value | None) -> bool:
    if type_name is None or type_name[1] not in TYPES:
        raise invalid(f"Invalid attribute type name found; type: {type_name and type_name[1]}, valid types: {TYPES}")
    return value is not None and value[0] == type_name[1]


def _begins_with(value: Value | None, prefix: Value | None) -> bool:
    if value is None or prefix is None or value[0] != prefix[0] or value[0] not in ("S", "B"):
        return False
    return bool(value[1].startswith(prefix[1]))


def _contains(value: Value | None, member: Value | None) -> bool:
    if value is None or member is None:
        return False
    kind, content = value
    if kind == "L":
        return member in content
    if kind in ("S", "B"):
        return member[0] == kind and member[1] in content
    return kind in ("SS", "NS", "BS") and member[0] == kind[0] and member[1] in content


# -- projections ------------------------------------------------------------------------------------------------


def project(item: Item, paths: list[Path]) -> Item:
    """Return the parts of an item that the paths name. Elements of lists move together, in their order."""
    tree: dict[str | int, Any] = {}
    for path in paths:
        node = tree
        for part in path.parts:
            node = node.setdefault(part, {})
    return _pick_map(item, tree)


def _pick_map(content: Item, tree: dict[str | int, Any]) -> Item:
    picked = {part: _pick(content[part], branch) for part, branch in tree.items() if part in content}
    return {str(part): value for part, value in picked.items() if value is not None}


def _pick(value: Value, branch: dict[str | int, Any]) -> Value | None:
    if not branch:
        return value
    kind, content = value
    if kind == "M":
        picked = _pick_map(content, branch)
        return ("M", picked) if picked else None
    if kind == "L":
        indexes = sorted(part for part in branch if isinstance(part, int) and part < len(content))
        elements = [_pick(content[index], branch[index]) for index in indexes]
        kept = tuple(element for element in elements if element is not None)
        return ("L", kept) if kept else None
    return None
