"""Update trees made into closures that turn an old item into a new one, leaving the old as it was."""

from __future__ import annotations

from collections.abc import Callable

from sandbox.dynamodb.conditions import TypeRule, Values, lookup
from sandbox.dynamodb.errors import invalid
from sandbox.dynamodb.numbers import add_numbers
from sandbox.dynamodb.trees import Arithmetic, Expression, IfNotExists, ListAppend, Path, Update, ValueName
from sandbox.dynamodb.values import Item, Value, make_set

Apply = Callable[[Item, Values], Item]
Evaluate = Callable[[Item, Values], Value]
_SETS = frozenset({"SS", "NS", "BS"})
_BAD_PATH = "The document path provided in the update expression is invalid for update"
_BAD_TYPE = "An operand in the update expression has an incorrect data type"
_ABSENT = "The provided expression refers to an attribute that does not exist in the item"


def compile_update(tree: Update, rules: list[TypeRule]) -> Apply:
    """Return the tree as a function (old item, values) -> new item. Appends to `rules`.

    Every right side sees the old item. The function raises: ValidationException.
    """
    sets = [(path.parts, compile_expression(expression, rules)) for path, expression in tree.set]
    adds = [(path.parts, value.name) for path, value in tree.add]
    deletes = [(path.parts, value.name) for path, value in tree.delete]
    rules.extend(TypeRule(name, "ADD", _SETS | {"N"}) for _, name in adds)
    rules.extend(TypeRule(name, "DELETE", _SETS) for _, name in deletes)
    # The last index of a list goes first, so that no removal moves the next one's element.
    removals = sorted((path.parts for path in tree.remove), key=_removal_order, reverse=True)

    def apply(old: Item, values: Values) -> Item:
        new = dict(old)
        for parts, evaluate in sets:
            _assign(new, parts, evaluate(old, values))
        for parts, name in adds:
            _assign(new, parts, _added(lookup(old, parts), values[name]))
        for parts, name in deletes:
            _delete_members(new, old, parts, values[name])
        for parts in removals:
            _remove(new, parts)
        return new

    return apply


def _removal_order(parts: tuple[str | int, ...]) -> list[tuple[bool, str | int]]:
    return [(isinstance(part, int), part) for part in parts]


# -- right sides ------------------------------------------------------------------------------------------------


def compile_expression(tree: Expression, rules: list[TypeRule]) -> Evaluate:
    if isinstance(tree, ValueName):
        name = tree.name
        return lambda item, values: values[name]
    if isinstance(tree, Path):
        parts = tree.parts
        return lambda item, values: _existing(item, parts)
    if isinstance(tree, IfNotExists):
        path, otherwise = tree.path.parts, compile_expression(tree.otherwise, rules)
        return lambda item, values: lookup(item, path) or otherwise(item, values)
    left, right = compile_expression(tree.left, rules), compile_expression(tree.right, rules)
    function, kind = ("list_append", "L") if isinstance(tree, ListAppend) else (tree.operator, "N")
    for operand in (tree.left, tree.right):
        if isinstance(operand, ValueName):
            rules.append(TypeRule(operand.name, function, frozenset({kind})))
    if isinstance(tree, Arithmetic):
        sign = 1 if tree.operator == "+" else -1
        return lambda item, values: _sum(left(item, values), right(item, values), sign)
    return lambda item, values: _joined(left(item, values), right(item, values))


def _existing(item: Item, parts: tuple[str | int, ...]) -> Value:
    value = lookup(item, parts)
    if value is None:
        raise invalid(_ABSENT)
    return value


def _sum(left: Value, right: Value, sign: int) -> Value:
    if left[0] != "N" or right[0] != "N":
        raise invalid(_BAD_TYPE)
    return ("N", add_numbers(left[1], right[1], sign))


def _joined(left: Value, right: Value) -> Value:
    if left[0] != "L" or right[0] != "L":
        raise invalid(_BAD_TYPE)
    return ("L", left[1] + right[1])


def _added(old: Value | None, addend: Value) -> Value:
    if old is None:
        return addend
    if old[0] != addend[0]:
        raise invalid(_BAD_TYPE)
    if addend[0] == "N":
        return _sum(old, addend, 1)
    return make_set(addend[0], {*old[1], *addend[1]})


# -- writing at a path ------------------------------------------------------------------------------------------


def _assign(item: Item, parts: tuple[str | int, ...], value: Value) -> None:
    name = parts[0]
    assert isinstance(name, str)
    item[name] = value if len(parts) == 1 else _with(item.get(name), parts[1:], value)


def _with(container: Value | None, parts: tuple[str | int, ...], value: Value) -> Value:
    """Return a copy of a map or list in which `value` is at `parts`."""
    part, rest = parts[0], parts[1:]
    if container is not None and container[0] == "M" and isinstance(part, str):
        inner = value if not rest else _with(container[1].get(part), rest, value)
        return ("M", {**container[1], part: inner})
    if container is not None and container[0] == "L" and isinstance(part, int):
        elements = list(container[1])
        old = elements[part] if part < len(elements) else None
        elements[part : part + 1] = [value if not rest else _with(old, rest, value)]
        return ("L", tuple(elements))
    raise invalid(_BAD_PATH)


def _remove(item: Item, parts: tuple[str | int, ...]) -> None:
    name = parts[0]
    assert isinstance(name, str)
    if len(parts) == 1:
        item.pop(name, None)
    else:
        item[name] = _without(item.get(name), parts[1:])


def _without(container: Value | None, parts: tuple[str | int, ...]) -> Value:
    """Return a copy of a map or list from which what is at `parts` is gone."""
    part, rest = parts[0], parts[1:]
    if container is not None and container[0] == "M" and isinstance(part, str):
        content = dict(container[1])
        if rest:
            content[part] = _without(content.get(part), rest)
        else:
            content.pop(part, None)
        return ("M", content)
    if container is not None and container[0] == "L" and isinstance(part, int):
        elements = list(container[1])
        if rest:
            old = elements[part] if part < len(elements) else None
            elements[part : part + 1] = [_without(old, rest)]
        else:
            del elements[part : part + 1]
        return ("L", tuple(elements))
    raise invalid(_BAD_PATH)


def _delete_members(new: Item, old: Item, parts: tuple[str | int, ...], members: Value) -> None:
    current = lookup(old, parts)
    if current is None:
        return
    if current[0] != members[0]:
        raise invalid(_BAD_TYPE)
    left = set(current[1]) - set(members[1])
    if left:
        _assign(new, parts, make_set(current[0], left))
    else:
        _remove(new, parts)
