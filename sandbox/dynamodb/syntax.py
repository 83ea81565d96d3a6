"""The grammar of DynamoDB's expressions: text in, tree out. Nothing here looks at an item."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from moto.dynamodb.parsing.reserved_keywords import ReservedKeywords

from sandbox.dynamodb.errors import DynamoDBError, invalid
from sandbox.dynamodb.trees import (
    And,
    Arithmetic,
    Between,
    Comparison,
    Condition,
    Expression,
    IfNotExists,
    In,
    ListAppend,
    Not,
    Operand,
    Or,
    Path,
    Predicate,
    Size,
    Update,
    ValueName,
    check_overlaps,
)

T = TypeVar("T")
RESERVED = frozenset(word.upper() for word in ReservedKeywords.get_reserved_keywords())
COMPARATORS = frozenset({"=", "<>", "<", "<=", ">", ">="})
_TOKEN = re.compile(r"\s*(<>|<=|>=|[=<>()\[\],.+\-]|[#:][A-Za-z0-9_]+|[A-Za-z][A-Za-z0-9_]*|[0-9]+)")
_PREDICATES = {"attribute_exists": 1, "attribute_not_exists": 1, "attribute_type": 2, "begins_with": 2, "contains": 2}


class Parser:
    """Reads one expression.

    kind: the parameter's name, for error texts. names: ExpressionAttributeNames. After parsing, `used_names` and
    `used_values` say which placeholders the text mentions.
    """

    def __init__(self, kind: str, text: str, names: dict[str, str]) -> None:
        self._kind = kind
        self._names = names
        self._tokens = self._tokenize(text)
        self._at = 0
        self._parenthesised: Condition | None = None
        self.used_names: set[str] = set()
        self.used_values: set[str] = set()

    # -- entries ------------------------------------------------------------------------------------------------

    def condition(self) -> Condition:
        tree = self._or()
        self._end()
        return tree

    def projection(self) -> list[Path]:
        paths = self._list_of(self._path)
        self._end()
        check_overlaps(paths, self._kind)
        return paths

    def update(self) -> Update:
        update, seen = Update(), set()
        while self._peek():
            section = self._next().upper()
            if section in seen:
                raise self._error(f'The "{section}" section can only be used once in an update expression;')
            seen.add(section)
            if section == "SET":
                update.set = self._list_of(self._assignment)
            elif section == "REMOVE":
                update.remove = self._list_of(self._path)
            elif section in ("ADD", "DELETE"):
                setattr(update, section.lower(), self._list_of(self._path_and_value))
            else:
                self._at -= 1
                raise self._unexpected()
        check_overlaps(update.paths(), self._kind)
        return update

    # -- conditions ---------------------------------------------------------------------------------------------

    def _or(self) -> Condition:
        tree = self._and()
        while self._take_word("OR"):
            tree = Or(tree, self._and())
        return tree

    def _and(self) -> Condition:
        tree = self._not()
        while self._take_word("AND"):
            tree = And(tree, self._not())
        return tree

    def _not(self) -> Condition:
        if self._take_word("NOT"):
            return Not(self._not())
        if self._take("("):
            tree = self._or()
            self._expect(")")
            if tree is self._parenthesised:
                raise self._error("The expression has redundant parentheses;")
            self._parenthesised = tree
            return tree
        return self._simple()

    def _simple(self) -> Condition:
        if self._peek(1) == "(" and self._peek() != "size":
            return self._predicate()
        left = self._operand()
        if self._take_word("BETWEEN"):
            low = self._operand()
            if not self._take_word("AND"):
                raise self._unexpected()
            return Between(left, low, self._operand())
        if self._take_word("IN"):
            self._expect("(")
            options = self._list_of(self._operand)
            self._expect(")")
            return In(left, tuple(options))
        if self._peek() not in COMPARATORS:
            raise self._unexpected()
        comparison = Comparison(self._next(), left, self._operand())
        if comparison.left == comparison.right:
            raise self._error(
                "The first operand must be distinct from the remaining operands for this operator or function; "
                f"operator: {comparison.operator}"
            )
        return comparison

    def _predicate(self) -> Condition:
        function = self._next()
        if function not in _PREDICATES:
            raise self._error(f"Invalid function name; function: {function}")
        self._expect("(")
        arguments = self._list_of(self._operand)
        self._expect(")")
        if len(arguments) != _PREDICATES[function]:
            raise self._error(
                f"Incorrect number of operands for operator or function; operator or function: {function}, "
                f"number of operands: {len(arguments)}"
            )
        if function.startswith("attribute_") and not isinstance(arguments[0], Path):
            raise self._error(f"Operator or function requires a document path; operator or function: {function}")
        return Predicate(function, arguments[0], arguments[1] if len(arguments) == 2 else None)

    def _operand(self) -> Operand:
        if self._peek() == "size" and self._peek(1) == "(":
            self._at += 2
            size = Size(self._path())
            self._expect(")")
            return size
        return self._value() if self._peek().startswith(":") else self._path()

    # -- updates ------------------------------------------------------------------------------------------------

    def _assignment(self) -> tuple[Path, Expression]:
        path = self._path()
        self._expect("=")
        left = self._expression()
        if self._peek() in ("+", "-"):
            left = Arithmetic(self._next(), left, self._expression())
        return path, left

    def _expression(self) -> Expression:
        if self._peek(1) != "(":
            return self._value() if self._peek().startswith(":") else self._path()
        function = self._next()
        self._expect("(")
        if function == "if_not_exists":
            path = self._path()
            self._expect(",")
            tree: Expression = IfNotExists(path, self._expression())
        elif function == "list_append":
            left = self._expression()
            self._expect(",")
            tree = ListAppend(left, self._expression())
        else:
            raise self._error(f"Invalid function name; function: {function}")
        self._expect(")")
        return tree

    def _path_and_value(self) -> tuple[Path, ValueName]:
        return self._path(), self._value()

    # -- leaves -------------------------------------------------------------------------------------------------

    def _path(self) -> Path:
        parts: list[str | int] = [self._name()]
        while True:
            if self._take("."):
                parts.append(self._name())
            elif self._take("["):
                if not self._peek().isdecimal():
                    raise self._unexpected()
                parts.append(int(self._next()))
                self._expect("]")
            else:
                return Path(tuple(parts))

    def _name(self) -> str:
        token = self._peek()
        if token.startswith("#"):
            if token not in self._names:
                raise self._error(
                    f"An expression attribute name used in the document path is not defined; attribute name: {token}"
                )
            self.used_names.add(token)
            self._at += 1
            return self._names[token]
        if not token[:1].isalpha():
            raise self._unexpected()
        if token.upper() in RESERVED:
            raise self._error(f"Attribute name is a reserved keyword; reserved keyword: {token}")
        self._at += 1
        return token

    def _value(self) -> ValueName:
        if not self._peek().startswith(":"):
            raise self._unexpected()
        name = self._next()
        self.used_values.add(name)
        return ValueName(name)

    # -- tokens -------------------------------------------------------------------------------------------------

    def _tokenize(self, text: str) -> list[str]:
        if not isinstance(text, str) or not text.strip():
            raise self._error("The expression can not be empty;")
        tokens, at = [], 0
        text = text.rstrip()
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise self._error(
                    f'Syntax error; token: "{text[at:].lstrip()[:1]}", near: "{text[at : at + 20].strip()}"'
                )
            tokens.append(match[1])
            at = match.end()
        return tokens

    def _list_of(self, read: Callable[[], T]) -> list[T]:
        elements = [read()]
        while self._take(","):
            elements.append(read())
        return elements

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else ""

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    def _take(self, token: str) -> bool:
        taken = self._peek() == token
        self._at += taken
        return taken

    def _take_word(self, word: str) -> bool:
        taken = self._peek().upper() == word
        self._at += taken
        return taken

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise self._unexpected()

    def _end(self) -> None:
        if self._peek():
            raise self._unexpected()

    def _unexpected(self) -> DynamoDBError:
        token = self._peek() or "<EOF>"
        near = " ".join(self._tokens[max(0, self._at - 1) : self._at + 2])
        return self._error(f'Syntax error; token: "{token}", near: "{near}"')

    def _error(self, message: str) -> DynamoDBError:
        return invalid(f"Invalid {self._kind}: {message}")
