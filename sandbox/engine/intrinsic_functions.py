"""What each intrinsic function computes, as AWS documents it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
import random
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sandbox.engine.documents import to_text

MAXIMUM_CHARACTERS = 10_000
"""AWS's limit for the text of Base64Encode, Base64Decode and Hash."""
MAXIMUM_RANGE = 1_000
"""AWS's limit for the elements of ArrayRange."""
_HASHES = {"MD5": "md5", "SHA-1": "sha1", "SHA-256": "sha256", "SHA-384": "sha384", "SHA-512": "sha512"}
_ANY = 1_000_000


class IntrinsicError(Exception):
    """The arguments do not fit the function: States.IntrinsicFailure."""


class Literal(str):
    """A string literal of the expression; `raw` still has its escapes, which States.Format must tell from braces."""

    raw: str

    def __new__(cls, raw: str) -> Literal:
        self = super().__new__(cls, re.sub(r"\\(.)", r"\1", raw, flags=re.S))
        self.raw = raw
        return self


@dataclass(frozen=True)
class Function:
    arity: tuple[int, int]
    compute: Callable[..., Any]


FUNCTIONS: dict[str, Function] = {}


Compute = Callable[..., Any]


def _function(name: str, minimum: int, maximum: int | None = None) -> Callable[[Compute], Compute]:
    def register(compute: Compute) -> Compute:
        FUNCTIONS[name] = Function((minimum, minimum if maximum is None else maximum), compute)
        return compute

    return register


def _array(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise IntrinsicError(f"an array is needed, not {to_text(value)[:100]}")
    return value


def _string(value: Any, limit: int | None = None) -> str:
    if not isinstance(value, str):
        raise IntrinsicError(f"a string is needed, not {to_text(value)[:100]}")
    if limit is not None and len(value) > limit:
        raise IntrinsicError(f"the string is longer than {limit} characters")
    return value


def _integer(value: Any) -> int:
    """Return a number rounded half up, as Java's Math.round does (-1.5 becomes -1)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise IntrinsicError(f"a number is needed, not {to_text(value)[:100]}")
    return value if isinstance(value, int) else math.floor(value + 0.5)


@_function("Array", 0, _ANY)
def _make_array(_: random.Random, *values: Any) -> list[Any]:
    return [str(value) if isinstance(value, Literal) else value for value in values]


@_function("ArrayPartition", 2)
def _partition(_: random.Random, array: Any, size: Any) -> list[Any]:
    size = _integer(size)
    if size <= 0:
        raise IntrinsicError("the chunk size must be greater than 0")
    array = _array(array)
    return [array[start : start + size] for start in range(0, len(array), size)]


@_function("ArrayContains", 2)
def _contains(_: random.Random, array: Any, wanted: Any) -> bool:
    return any(_is_same(element, wanted) for element in _array(array))


def _is_same(one: Any, two: Any) -> bool:
    return one == two and isinstance(one, bool) == isinstance(two, bool)


@_function("ArrayRange", 3)
def _range(_: random.Random, first: Any, last: Any, step: Any) -> list[int]:
    first, last, step = _integer(first), _integer(last), _integer(step)
    if step == 0:
        raise IntrinsicError("the step must not be 0")
    numbers = range(first, last + (1 if step > 0 else -1), step)
    if len(numbers) > MAXIMUM_RANGE:
        raise IntrinsicError(f"the range has more than {MAXIMUM_RANGE} elements")
    return list(numbers)


@_function("ArrayGetItem", 2)
def _get_item(_: random.Random, array: Any, index: Any) -> Any:
    array, index = _array(array), _integer(index)
    if not 0 <= index < len(array):
        raise IntrinsicError(f"index {index} is outside the array of {len(array)}")
    return array[index]


@_function("ArrayLength", 1)
def _length(_: random.Random, array: Any) -> int:
    return len(_array(array))


@_function("ArrayUnique", 1)
def _unique(_: random.Random, array: Any) -> list[Any]:
    seen: dict[str, Any] = {}
    for element in _array(array):
        seen.setdefault(json.dumps(element, sort_keys=True), element)
    return list(seen.values())


@_function("Base64Encode", 1)
def _encode(_: random.Random, text: Any) -> str:
    return base64.b64encode(_string(text, MAXIMUM_CHARACTERS).encode()).decode()


@_function("Base64Decode", 1)
def _decode(_: random.Random, text: Any) -> str:
    try:
        return base64.b64decode(_string(text, MAXIMUM_CHARACTERS), validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError) as error:
        raise IntrinsicError(f"the string is not Base64: {error}") from error


@_function("Hash", 2)
def _hash(_: random.Random, data: Any, algorithm: Any) -> str:
    if _string(algorithm) not in _HASHES:
        raise IntrinsicError(f"the algorithm must be one of {', '.join(_HASHES)}")
    text = data if isinstance(data, str) else to_text(data)
    return hashlib.new(_HASHES[algorithm], _string(text, MAXIMUM_CHARACTERS).encode()).hexdigest()


@_function("JsonMerge", 3)
def _merge(_: random.Random, one: Any, two: Any, is_deep: Any) -> dict[str, Any]:
    if is_deep is not False:
        raise IntrinsicError("only a shallow merge (false) is supported")
    if not isinstance(one, dict) or not isinstance(two, dict):
        raise IntrinsicError("two JSON objects are needed")
    return {**one, **two}


@_function("StringToJson", 1)
def _string_to_json(_: random.Random, text: Any) -> Any:
    text = _string(text)
    if not text.strip():
        return None
    try:
        return json.loads(text)
    except ValueError as error:
        raise IntrinsicError(f"the string is not JSON: {error}") from error


@_function("JsonToString", 1)
def _json_to_string(_: random.Random, value: Any) -> str:
    return to_text(value)


@_function("MathAdd", 2)
def _add(_: random.Random, one: Any, two: Any) -> int:
    return _integer(one) + _integer(two)


@_function("MathRandom", 2, 3)
def _random(rng: random.Random, first: Any, last: Any, seed: Any = None) -> int:
    first, last = _integer(first), _integer(last)
    if last <= first:
        raise IntrinsicError("the end must be greater than the start")
    return (rng if seed is None else random.Random(_integer(seed))).randrange(first, last)


@_function("StringSplit", 2)
def _split(_: random.Random, text: Any, delimiters: Any) -> list[str]:
    """Every character of `delimiters` splits; empty parts are dropped (recorded on AWS)."""
    text, delimiters = _string(text), _string(delimiters)
    if not delimiters:
        return [str(text)]
    return [part for part in re.split(f"[{re.escape(delimiters)}]", text) if part]


@_function("UUID", 0)
def _uuid(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


@_function("Format", 1, _ANY)
def _format(_: random.Random, template: Any, *values: Any) -> str:
    """Put the values into the `{}` of the template; a `\\{` or `\\}` of a literal is no place."""
    raw = template.raw if isinstance(template, Literal) else _string(template)
    rest = iter(values)
    pieces, places = [], 0
    for piece in re.findall(r"\\.|\{\}|.", raw, re.S):
        if piece == "{}":
            places += 1
            piece = _shown(next(rest, None))
        elif len(piece) == 2 and isinstance(template, Literal):
            piece = piece[1]
        pieces.append(piece)
    if places != len(values):
        raise IntrinsicError(f"the template has {places} places for {len(values)} values")
    return "".join(pieces)


def _shown(value: Any) -> str:
    """Return a value as Java prints it: {a=1, b=[x, null]}."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}={_shown(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_shown(item) for item in value) + "]"
    return to_text(value)
