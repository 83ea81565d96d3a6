"""Small state machines for the server's tests."""

from __future__ import annotations

from typing import Any

ROLE = "arn:aws:iam::123456789012:role/test"


def passes() -> dict[str, Any]:
    return {"StartAt": "Give Back", "States": {"Give Back": {"Type": "Pass", "End": True}}}


def waits_long() -> dict[str, Any]:
    return {"StartAt": "Wait Long", "States": {"Wait Long": {"Type": "Wait", "Seconds": 9_000_000, "End": True}}}


def fails() -> dict[str, Any]:
    return {"StartAt": "Give Up", "States": {"Give Up": {"Type": "Fail", "Error": "Broken", "Cause": "on purpose"}}}


def fans_out(seconds: int) -> dict[str, Any]:
    """Return a Distributed Map whose children wait, two at a time."""
    child = {"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": seconds, "End": True}}}
    return {
        "StartAt": "Fan Out",
        "States": {
            "Fan Out": {
                "Type": "Map",
                "Label": "FanOut",
                "MaxConcurrency": 2,
                "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, **child},
                "End": True,
            }
        },
    }


def waits_for_token(function_name: str) -> dict[str, Any]:
    """Return a Task that ends when somebody sends its token back. The function needs to do nothing with it."""
    return {
        "StartAt": "Ask",
        "States": {
            "Ask": {
                "Type": "Task",
                "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
                "Parameters": {"FunctionName": function_name, "Payload": {"headers": {}, "token.$": "$$.Task.Token"}},
                "End": True,
            }
        },
    }
