"""JSONPath, Reference Paths as targets, intrinsic functions and choice rules, each by itself."""

from __future__ import annotations

import random
from typing import Any

import pytest

from sandbox.engine.choice import compile_rule
from sandbox.engine.errors import StateFailed, StateRuntimeError
from sandbox.engine.paths import InvalidPath, PathNotFound, compile_path
from sandbox.engine.references import put
from sandbox.engine.templates import compile_template

DATA = {
    "id": "c-1",
    "odd name": 1,
    "leads": [{"n": 1, "city": "Oslo"}, {"n": 2, "city": "Rome", "vip": True}, {"n": 3}],
    "deep": {"n": 9, "more": {"n": 10}},
}


class Scope:
    """A context object and a generator, as a branch has them."""

    def __init__(self) -> None:
        self.rng = random.Random(1)

    def context(self) -> dict[str, Any]:
        return {"Execution": {"Name": "monday"}}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$", DATA),
        ("$.id", "c-1"),
        ("$['odd name']", 1),
        ("$.leads[0].city", "Oslo"),
        ("$.leads[-1].n", 3),
        ("$$.Execution.Name", "monday"),
        # indefinite paths find lists, and nothing is an empty one
        ("$.leads[*].n", [1, 2, 3]),
        ("$.leads[1:].n", [2, 3]),
        ("$.leads[::2].n", [1, 3]),
        ("$.leads[0,2].n", [1, 3]),
        ("$.missing[*].n", []),
        ("$.deep..n", [9, 10]),
        ("$.leads[0]['n','city']", [{"n": 1, "city": "Oslo"}]),
        ("$.leads[?(@.n > 1 && @.city)].n", [2]),
        ("$.leads[?(@.vip == true || @.n == 1)].city", ["Oslo", "Rome"]),
        ("$.leads[?(!(@.city))].n", [3]),
        ("$.leads[?(@.city in ['Rome', 'Oslo'])].n", [1, 2]),
        ("$.leads[?(@.city =~ /ro.*/i)].n", [2]),
    ],
)
def test_a_path_finds(path: str, found: Any) -> None:
    assert compile_path(path).find(DATA, Scope()) == found


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("$.missing", "No results for path: $['missing']"),
        ("$.deep.missing.n", "Missing property in path $['deep']['missing']"),
        ("$.leads[7]", "Index out of bounds when evaluating path $['leads'][7]"),
    ],
)
def test_a_definite_path_without_a_value_says_where_it_ended(path: str, reason: str) -> None:
    with pytest.raises(PathNotFound) as caught:
        compile_path(path).find(DATA, Scope())

    assert caught.value.reason == reason


@pytest.mark.parametrize("path", ["id", "$.", "$.a[", "$.a['b]", "$a", "$.a[x]"])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(InvalidPath):
        compile_path(path)


def test_a_result_is_put_into_a_copy_and_missing_objects_are_made() -> None:
    data = {"a": {"b": 1}, "list": [1, 2]}

    changed = put(data, compile_path("$.a.new.x"), 5)

    assert changed == {"a": {"b": 1, "new": {"x": 5}}, "list": [1, 2]}
    assert data == {"a": {"b": 1}, "list": [1, 2]}
    assert changed["list"] is data["list"]
    assert put(data, compile_path("$.list[1]"), 5)["list"] == [1, 5]
    with pytest.raises(StateFailed, match="ResultPathMatchFailure"):
        put(data, compile_path("$.a.b.c"), 5)


def compute(expression: str, data: Any = DATA) -> Any:
    return compile_template({"x.$": expression})(data, Scope())["x"]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("States.Array(1, 'a', $.id, null)", [1, "a", "c-1", None]),
        ("States.ArrayPartition($.leads[*].n, 2)", [[1, 2], [3]]),
        ("States.ArrayContains($.leads[*].n, 2)", True),
        # true is no number
        ("States.ArrayContains(States.Array(1), true)", False),
        ("States.ArrayRange(1, 9, 4)", [1, 5, 9]),
        ("States.ArrayRange(9, 1, -4)", [9, 5, 1]),
        ("States.ArrayGetItem($.leads, 1)", DATA["leads"][1]),  # type: ignore[index]
        ("States.ArrayLength($.leads)", 3),
        ("States.ArrayUnique(States.Array(1, 2, 1, 'a', 'a'))", [1, 2, "a"]),
        ("States.Base64Decode(States.Base64Encode('née'))", "née"),
        ("States.Hash('abc', 'SHA-1')", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("States.JsonMerge($.deep, $.deep.more, false)", {"n": 10, "more": {"n": 10}}),
        ("States.StringToJson('[1, {}]')", [1, {}]),
        ("States.JsonToString($.deep)", '{"n":9,"more":{"n":10}}'),
        ("States.MathAdd(2.5, -1)", 2),
        ("States.StringSplit('a-b+c', '-+')", ["a", "b", "c"]),
        ("States.Format('{} of {}', $.id, $.deep)", "c-1 of {n=9, more={n=10}}"),
        # an escaped brace is text, an escaped quote too
        (r"States.Format('\{it\'s {}\}', 1)", "{it's 1}"),
    ],
)
def test_an_intrinsic_function_computes(expression: str, value: Any) -> None:
    assert compute(expression) == value


def test_random_values_come_from_the_seed_alone() -> None:
    assert compute("States.UUID()") == compute("States.UUID()")
    assert compute("States.MathRandom(1, 1000)") == compute("States.MathRandom(1, 1000)")
    assert compute("States.MathRandom(1, 1000, 5)") == compute("States.MathRandom(1, 1000, 5)")


@pytest.mark.parametrize(
    "expression",
    [
        "States.ArrayGetItem($.leads, 3)",
        "States.StringToJson('{')",
        "States.ArrayRange(0, 2000, 1)",
        "States.Format('{}')",
    ],
)
def test_arguments_that_do_not_fit_are_an_intrinsic_failure(expression: str) -> None:
    with pytest.raises(StateFailed, match=r"States\.IntrinsicFailure"):
        compute(expression)


def test_an_argument_that_is_missing_is_a_runtime_error_that_names_the_function() -> None:
    with pytest.raises(StateRuntimeError, match=r"The function 'States.Array\(\$\.no\)' had the following error"):
        compute("States.Array($.no)")


@pytest.mark.parametrize(
    "expression", ["States.Nothing()", "States.Array(1", "States.UUID(1)", "Array(1)", "States.Array(x)"]
)
def test_what_is_no_intrinsic_function_is_refused(expression: str) -> None:
    with pytest.raises(ValueError, match="Invalid intrinsic"):
        compile_template({"x.$": expression})


@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        ({"Variable": "$.id", "StringMatches": "c-*"}, True),
        ({"Variable": "$.id", "StringMatches": r"c-\*"}, False),
        ({"Variable": "$.deep.n", "NumericGreaterThan": 8}, True),
        # another type is never equal, nor less, nor greater
        ({"Variable": "$.id", "NumericLessThan": 8}, False),
        ({"Variable": "$.missing", "IsPresent": False}, True),
        ({"Variable": "$.id", "IsTimestamp": False}, True),
        ({"Or": [{"Variable": "$.id", "IsNull": True}, {"Variable": "$.deep.n", "NumericEquals": 9}]}, True),
        ({"Not": {"And": [{"Variable": "$.id", "IsString": True}, {"Variable": "$.id", "IsNumeric": True}]}}, True),
        ({"Variable": "$.deep.n", "NumericLessThanPath": "$.deep.more.n"}, True),
    ],
)
def test_a_choice_rule_holds(rule: dict[str, Any], holds: bool) -> None:
    assert compile_rule(rule)(DATA, Scope()) is holds


def test_timestamps_compare_by_the_moment_they_mean() -> None:
    rule = {"Variable": "$.at", "TimestampEquals": "2025-01-01T12:00:00Z"}

    assert compile_rule(rule)({"at": "2025-01-01T14:00:00.000+02:00"}, Scope())
    assert not compile_rule(rule)({"at": "2025-01-01 12:00:00"}, Scope())


def test_a_rule_about_a_missing_variable_is_a_runtime_error() -> None:
    with pytest.raises(StateRuntimeError, match="condition path references an invalid value"):
        compile_rule({"Variable": "$.missing", "StringEquals": "x"})(DATA, Scope())
