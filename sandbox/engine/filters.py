"""The filter expressions of JSONPath: `[?(@.price < 10 && @.tag)]`, `[?(@.city in ['Oslo', 'Rome'])]`."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterable
from typing import Any, Protocol

_TOKEN = re.compile(
    r"\s*(?:(?P<operator>&&|\|\||==|!=|=~|<=|>=|<|>|!|\(|\)|nin\b|in\b)"
    r"|(?P<pattern>/(?:[^/\\]|\\.)*/i?)"
    r"|(?P<array>\[[^\[\]]*\])"
    r"|(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<path>[@$](?:\.\.?[\w*-]+|\[[^\]]*\])*)"
    r"|(?P<literal>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))"
)
_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_MISSING = object()
Test = Callable[[Any], Any]


class _Findable(Protocol):
    def find(self, data: Any, scope: Any) -> Any: ...


def compile_filter(text: str, compile_path: Callable[[str], _Findable]) -> Callable[[Any], Iterable[Any]]:
    """Return a step that keeps the elements (of an array, or the object itself) for which the test holds.

    Raises: ValueError.
    """
    parser = _Filter(text, compile_path)
    test = parser.either()
    if parser.token is not None:
        raise ValueError(f"Invalid filter {text!r}")

    def step(value: Any) -> Iterable[Any]:
        elements = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
        return [element for element in elements if _is_true(test(element))]

    return step


def _is_true(value: Any) -> bool:
    """A lone path is a test for existence; a comparison is already a boolean."""
    return value is not False and value is not _MISSING


class _Filter:
    """A recursive descent: either → both → comparison → operand."""

    def __init__(self, text: str, compile_path: Callable[[str], _Findable]) -> None:
        self.text = text
        self.position = 0
        self.compile_path = compile_path
        self.token: re.Match[str] | None = None
        self._advance()

    def _advance(self) -> None:
        if not self.text[self.position :].strip():
            self.token = None
            return
        self.token = _TOKEN.match(self.text, self.position)
        if self.token is None:
            raise ValueError(f"Invalid filter {self.text!r} at position {self.position}")
        self.position = self.token.end()

    def _take(self, *operators: str) -> str | None:
        if self.token is not None and self.token["operator"] in operators:
            taken = self.token["operator"]
            self._advance()
            return taken
        return None

    def either(self) -> Test:
        left = self.both()
        while self._take("||"):
            left = (lambda one, two: lambda item: _is_true(one(item)) or _is_true(two(item)))(left, self.both())
        return left

    def both(self) -> Test:
        left = self.comparison()
        while self._take("&&"):
            left = (lambda one, two: lambda item: _is_true(one(item)) and _is_true(two(item)))(left, self.comparison())
        return left

    def comparison(self) -> Test:
        if self._take("!"):
            test = self.comparison()
            return lambda item: not _is_true(test(item))
        left = self.operand()
        sign = self._take("==", "!=", "=~", "in", "nin", *_ORDER)
        if sign is None:
            return left
        right = self.operand()
        return lambda item: _compare(sign, left(item), right(item))

    def operand(self) -> Test:
        if self._take("("):
            test = self.either()
            if not self._take(")"):
                raise ValueError(f"Invalid filter {self.text!r}: a parenthesis is open")
            return test
        token = self.token
        if token is None or token["operator"]:
            raise ValueError(f"Invalid filter {self.text!r}")
        self._advance()
        if token["path"]:
            return self._path(token["path"])
        value = _constant(token)
        return lambda item: value

    def _path(self, text: str) -> Test:
        path = self.compile_path("$" + text[1:])

        def find(item: Any) -> Any:
            try:
                return path.find(item, None)
            except Exception:  # a path without a value is a value of its own here
                return _MISSING

        return find


def _constant(token: re.Match[str]) -> Any:
    if token["text"]:
        return token["text"][1:-1]
    if token["pattern"]:
        body, _, flags = token["pattern"][1:].rpartition("/")
        return re.compile(body, re.IGNORECASE if flags else 0)
    return json.loads((token["array"] or token["literal"]).replace("'", '"'))


def _compare(sign: str, left: Any, right: Any) -> bool:
    if sign == "=~":
        return isinstance(left, str) and isinstance(right, re.Pattern) and right.fullmatch(left) is not None
    if sign in ("in", "nin"):
        return isinstance(right, list) and (left in right) is (sign == "in")
    if sign in ("==", "!="):
        equal = left == right and isinstance(left, bool) == isinstance(right, bool)
        return equal is (sign == "==")
    numbers = all(isinstance(side, (int, float)) and not isinstance(side, bool) for side in (left, right))
    if numbers or (isinstance(left, str) and isinstance(right, str)):
        return _ORDER[sign](left, right)
    return False
