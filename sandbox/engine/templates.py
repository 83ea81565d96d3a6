"""Payload templates (Parameters, ResultSelector, ItemSelector, BatchInput): JSON in which `"key.$"` is computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sandbox.engine.documents import to_text
from sandbox.engine.errors import StateFailed, StateRuntimeError
from sandbox.engine.intrinsic_functions import IntrinsicError
from sandbox.engine.intrinsics import IntrinsicScope, compile_intrinsic
from sandbox.engine.paths import PathNotFound, compile_path

Template = Callable[[Any, IntrinsicScope], Any]


def compile_template(template: Any) -> Template:
    """Compile a template. Parts without a computed key are shared, never copied. Raises: ValueError."""
    if not _is_computed(template):
        return lambda data, scope: template
    if isinstance(template, list):
        items = [compile_template(item) for item in template]
        return lambda data, scope: [item(data, scope) for item in items]
    fields = [_compile_field(key, value) for key, value in template.items()]
    return lambda data, scope: {key: compute(data, scope) for key, compute in fields}


def _is_computed(template: Any) -> bool:
    if isinstance(template, dict):
        return any(key.endswith(".$") or _is_computed(value) for key, value in template.items())
    return isinstance(template, list) and any(_is_computed(item) for item in template)


def _compile_field(key: str, value: Any) -> tuple[str, Template]:
    if not key.endswith(".$"):
        return key, compile_template(value)
    if not isinstance(value, str):
        raise ValueError(f"The value for the field '{key}' must be a path or an intrinsic function")
    return key[:-2], compile_expression(key, value)


def compile_expression(field: str, text: str) -> Template:
    """Compile a path or an intrinsic function that stands in `field`.

    Raises: ValueError. When evaluated: StateRuntimeError (a path leads nowhere), StateFailed States.IntrinsicFailure.
    """
    if text.startswith("$"):
        return _compile_path_of(field, text)
    compute = compile_intrinsic(text)

    def evaluate(data: Any, scope: IntrinsicScope) -> Any:
        problem = f"The function '{text}' had the following error:"
        try:
            return compute(data, scope)
        except PathNotFound as error:
            where = f"The JsonPath argument for the field '{error.path}' could not be found in the input"
            raise StateRuntimeError(f"{problem} {where} '{to_text(data)}'") from None
        except IntrinsicError as error:
            raise StateFailed("States.IntrinsicFailure", f"{problem} {error}") from None

    return evaluate


def _compile_path_of(field: str, text: str) -> Template:
    path = compile_path(text)

    def evaluate(data: Any, scope: IntrinsicScope) -> Any:
        try:
            return path.find(data, scope)
        except PathNotFound:
            what = f"The JSONPath '{text}' specified for the field '{field}' could not be found in the input"
            raise StateRuntimeError(f"{what} '{to_text(data)}'") from None

    return evaluate
