"""Checks of one field, used for every kind of state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sandbox.engine import fields
from sandbox.engine.paths import InvalidPath, compile_path
from sandbox.engine.states.wait import MAXIMUM_SECONDS
from sandbox.engine.templates import compile_template


def is_whole(value: Any, least: int = 0, most: int = MAXIMUM_SECONDS) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def check_fields(entry: Any, where: str, known: set[str]) -> Iterator[str]:
    """Yield the fields that do not belong here, and those that the sandbox does not run."""
    if not isinstance(entry, dict):
        yield f"{where}: must be an object"
        return
    for name in entry:
        if name in fields.UNSUPPORTED and name not in known:
            yield f"{where}/{name}: {fields.UNSUPPORTED[name]} is not supported by the sandbox"
        elif name not in known:
            yield f"{where}/{name}: there is no such field here"
    if entry.get("QueryLanguage", "JSONPath") != "JSONPath":
        yield f"{where}/QueryLanguage: {entry['QueryLanguage']} is not supported by the sandbox, only JSONPath"


def check_path(entry: dict[str, Any], name: str, where: str, *, is_reference: bool = False) -> Iterator[str]:
    """Yield what is wrong with a path field; null is allowed."""
    text = entry.get(name)
    if text is None:
        return
    try:
        path = compile_path(text)
    except (InvalidPath, AttributeError, ValueError) as error:
        yield f"{where}/{name}: {error}"
        return
    if is_reference and not path.is_reference:
        yield f"{where}/{name}: {text} is not a Reference Path"


def check_template(entry: dict[str, Any], name: str, where: str) -> Iterator[str]:
    if name in entry:
        try:
            compile_template(entry[name])
        except ValueError as error:
            yield f"{where}/{name}: {error}"


def check_whole(
    entry: dict[str, Any], name: str, where: str, least: int, most: int, *, path_too: bool = False
) -> Iterator[str]:
    """Yield what is wrong with a whole number, or with the path that may stand in its place."""
    if not isinstance(entry, dict):
        return
    if name in entry and not is_whole(entry[name], least, most):
        yield f"{where}/{name}: must be a whole number from {least} to {most}"
    if path_too:
        yield from check_path(entry, f"{name}Path", where)
        if name in entry and f"{name}Path" in entry:
            yield f"{where}: only one of {name} and {name}Path is possible"
