"""The JSON types of a definition's fields. Where they are wrong, nothing else can be checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sandbox.engine import fields
from sandbox.engine.choice import COMPARISONS, TYPE_TESTS


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_list_of(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(isinstance(item, kind) for item in value)


Kind = tuple[str, Callable[[Any], bool]]
_TEXT: Kind = ("a string", lambda value: isinstance(value, str))
_PATH: Kind = ("a path or null", lambda value: value is None or isinstance(value, str))
_NUMBER: Kind = ("a number", _is_number)
_BOOLEAN: Kind = ("true or false", lambda value: isinstance(value, bool))
_OBJECT: Kind = ("an object", lambda value: isinstance(value, dict))
_OBJECTS: Kind = ("a list of objects", _is_list_of(dict))
_TEXTS: Kind = ("a list of strings", _is_list_of(str))

_NAMES: dict[Kind, str] = {
    _TEXT: "Type Comment StartAt Next Default Resource QueryLanguage Version Label Mode ExecutionType InputType Error"
    " Cause CSVHeaderLocation CSVDelimiter JitterStrategy ItemsPointer Variable SecondsPath TimestampPath Timestamp"
    " ErrorPath CausePath StringMatches",
    _PATH: "InputPath OutputPath ResultPath ItemsPath",
    _NUMBER: "Seconds TimeoutSeconds HeartbeatSeconds IntervalSeconds MaxAttempts BackoffRate MaxDelaySeconds"
    " MaxConcurrency ToleratedFailureCount ToleratedFailurePercentage MaxItems MaxItemsPerBatch MaxInputBytesPerBatch",
    _BOOLEAN: "End IsPresent",
    _OBJECT: "States ItemProcessor Iterator ProcessorConfig ItemReader ReaderConfig ItemBatcher ResultWriter Not",
    _OBJECTS: "Choices Retry Catch Branches And Or",
    _TEXTS: "ErrorEquals CSVHeaders",
}
KINDS: dict[str, Kind] = {name: kind for kind, names in _NAMES.items() for name in names.split()}
KINDS |= dict.fromkeys(TYPE_TESTS, _BOOLEAN)
KINDS |= {f"{name}Path": _TEXT for name in (*COMPARISONS, *_NAMES[_NUMBER].split())}
_WITH_PARAMETERS = ("ItemReader", "ResultWriter")


def check_shapes(entry: dict[str, Any], where: str = "") -> Iterator[str]:
    """Yield the fields of a machine, and of all that is inside it, that have the wrong type."""
    for name, value in entry.items():
        here = f"{where}/{name}"
        if name in fields.UNSUPPORTED or name not in KINDS:
            continue
        kind, fits = KINDS[name]
        if not fits(value):
            yield f"{here}: must be {kind}"
        elif name == "States":
            yield from _check_states(value, here)
        elif isinstance(value, dict):
            yield from check_shapes(value, here)
            if name in _WITH_PARAMETERS and not isinstance(value.get("Parameters", {}), dict):
                yield f"{here}/Parameters: must be an object"
        elif name in _NAMES[_OBJECTS].split():
            for number, item in enumerate(value):
                yield from check_shapes(item, f"{here}[{number}]")


def _check_states(states: dict[str, Any], where: str) -> Iterator[str]:
    for name, state in states.items():
        if isinstance(state, dict):
            yield from check_shapes(state, f"{where}/{name}")
        else:
            yield f"{where}/{name}: must be an object"
