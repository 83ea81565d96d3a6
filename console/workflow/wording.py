"""What the parts of a definition are called in a picture: functions, conditions, errors. One home for every picture."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

State = dict[str, Any]

_FUNCTION = re.compile(r"\$\{(\w+)FunctionArn\}|(?:^|[:-])(\w+)Function(?:-\w+)?(?::[^:]*)?$")
_MORE_WORDS = {
    "NumericGreaterThan": "more than",
    "NumericGreaterThanEquals": "at least",
    "NumericLessThan": "less than",
    "NumericLessThanEquals": "at most",
    "TimestampGreaterThan": "after",
    "TimestampLessThan": "before",
}


def function_of(state: State) -> str | None:
    """Return the folder in functions/ whose handler a Task runs: ${CountOpenFunctionArn} → count_open.

    The same of a deployed definition: …:function:paceline-CountOpenFunction-H7BMI4AAGXAH → count_open.
    """
    found = _FUNCTION.search(str(_fields(state).get("FunctionName", "")))
    return re.sub(r"(?<!^)(?=[A-Z])", "_", found[1] or found[2]).lower() if found else None


def _fields(state: State) -> dict[str, Any]:
    found = state.get("Parameters", state.get("Arguments"))
    return found if isinstance(found, dict) else {}


def is_waiting_for_a_token(state: State) -> bool:
    """Tell whether a Task only waits until somebody sends its token back."""
    return str(state.get("Resource", "")).endswith(".waitForTaskToken")


def condition(choice: State) -> str:
    """Return in words when a rule of a Choice holds. A rule that has no words here is given as it is."""
    if "And" in choice:
        return " and ".join(_named(one) for one in choice["And"])
    if "Or" in choice:
        return " or ".join(_named(one) for one in choice["Or"])
    return _named(choice) if "IsPresent" in choice else _answer(choice)


def _named(choice: State) -> str:
    if "Variable" not in choice:
        return condition(choice)
    field = str(choice["Variable"]).rpartition(".")[2]
    if "IsPresent" in choice:
        return field if choice["IsPresent"] else f"no {field}"
    return f"{field} {_answer(choice)}"


def _answer(choice: State) -> str:
    if "Not" in choice:
        return f"not {_named(choice['Not'])}"
    if "Condition" in choice:  # JSONata
        return re.sub(r"^\{%\s*|\s*%\}$", "", str(choice["Condition"]))
    rules = {name: value for name, value in choice.items() if name not in ("Variable", "Next", "Comment", "Assign")}
    operator, value = next(iter(rules.items()), ("", "always"))
    if operator == "BooleanEquals":
        return "yes" if value else "no"
    return f"{_MORE_WORDS[operator]} {value}" if operator in _MORE_WORDS else str(value)


def error_name(name: str) -> str:
    """Return what an error is called in a picture."""
    return "any other error" if name == "States.ALL" else name


def common_catch(states: dict[str, State]) -> str | None:
    """Return the state to which three or more states lead when they fail: drawn once, not once each."""
    catches = [catch for state in states.values() for catch in state.get("Catch", [])]
    targets = Counter(catch["Next"] for catch in catches if catch["ErrorEquals"] == ["States.ALL"])
    return next((target for target, count in targets.most_common(1) if count >= 3), None)


def caught_errors(state: State, failure_target: str | None) -> dict[str, list[str]]:
    """Return the errors in words by the state they lead to.

    Without those that go where the state goes anyway, or to `failure_target` (see `common_catch`).
    """
    caught: dict[str, list[str]] = {}
    for catch in state.get("Catch", []):
        if catch["Next"] not in (failure_target, state.get("Next")):
            caught.setdefault(catch["Next"], []).extend(error_name(error) for error in catch["ErrorEquals"])
    return caught
