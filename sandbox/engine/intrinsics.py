"""Intrinsic functions in a payload template: `States.Format('{} of {}', $.name, States.UUID())`.

This module reads the expression; intrinsic_functions.py computes.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Protocol

from sandbox.engine import intrinsic_functions
from sandbox.engine.paths import InvalidPath, Path, Scope, compile_path

_NAME = re.compile(r"\s*States\.(\w+)\s*\(")
_STRING = re.compile(r"'((?:[^'\\]|\\.)*)'", re.S)
_LITERAL = re.compile(r"(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?=\s*[,)])")


class IntrinsicScope(Scope, Protocol):
    """A scope with the generator for States.UUID and States.MathRandom."""

    @property
    def rng(self) -> random.Random: ...


Expression = Callable[[Any, IntrinsicScope], Any]


class InvalidIntrinsic(ValueError):
    """The text is not a call of a known intrinsic function."""


@lru_cache(maxsize=4096)
def compile_intrinsic(text: str) -> Expression:
    """Compile a call. Raises: InvalidIntrinsic. The result raises IntrinsicError and PathNotFound when evaluated."""
    parser = _Parser(text)
    expression = parser.call()
    if text[parser.position :].strip():
        raise parser.invalid("something follows the closing parenthesis")
    return expression


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def invalid(self, why: str) -> InvalidIntrinsic:
        return InvalidIntrinsic(f"Invalid intrinsic function {self.text!r} at position {self.position}: {why}")

    def call(self) -> Expression:
        match = _NAME.match(self.text, self.position)
        function = intrinsic_functions.FUNCTIONS.get(match[1]) if match else None
        if match is None or function is None:
            raise self.invalid("no such function")
        self.position = match.end()
        arguments = self._arguments()
        minimum, maximum = function.arity
        if not minimum <= len(arguments) <= maximum:
            raise self.invalid(f"States.{match[1]} does not take {len(arguments)} arguments")
        compute = function.compute
        return lambda data, scope: compute(scope.rng, *[argument(data, scope) for argument in arguments])

    def _arguments(self) -> list[Expression]:
        arguments: list[Expression] = []
        self._skip_blanks()
        while not self.text.startswith(")", self.position):
            arguments.append(self._argument())
            self._skip_blanks()
            if self.text.startswith(",", self.position):
                self.position += 1
                self._skip_blanks()
            elif not self.text.startswith(")", self.position):
                raise self.invalid("a comma or a parenthesis is missing")
        self.position += 1
        return arguments

    def _skip_blanks(self) -> None:
        while self.position < len(self.text) and self.text[self.position].isspace():
            self.position += 1
        if self.position >= len(self.text):
            raise self.invalid("it is not closed")

    def _argument(self) -> Expression:
        if self.text.startswith("States.", self.position):
            return self.call()
        if self.text.startswith("$", self.position):
            return self._path().find
        if (match := _STRING.match(self.text, self.position)) is not None:
            self.position = match.end()
            string = intrinsic_functions.Literal(match[1])
            return lambda data, scope: string
        if (match := _LITERAL.match(self.text, self.position)) is not None:
            self.position = match.end()
            value = json.loads(match[1])
            return lambda data, scope: value
        raise self.invalid("this is no argument")

    def _path(self) -> Path:
        start, depth, quote = self.position, 0, ""
        while self.position < len(self.text):
            character = self.text[self.position]
            if quote:
                quote = "" if character == quote else quote
            elif character in "'\"":
                quote = character
            elif depth == 0 and (character in ",)" or character.isspace()):
                break
            depth += (character in "[(") - (character in "])") if not quote else 0
            self.position += 1
        try:
            return compile_path(self.text[start : self.position])
        except InvalidPath as error:
            raise self.invalid(str(error)) from error
