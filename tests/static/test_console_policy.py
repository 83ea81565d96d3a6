"""docs/console.md names every AWS action that the console's code asks for, and no other."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_OPERATION = re.compile(r"\b((?:describe|list|get|put|update|delete|start|stop|redrive|send|invoke)_[a-z_]+)\b")
# What console/web and console/workflow call of boto3's Step Functions client, by its method's prefix.
_OF_STATES = re.compile(r"(execution|map_run|state_machine)")
_BY_ADAPTERS = {  # the table, the store and reach: the product's own adapters, asked to read only
    "cloudformation:DescribeStacks",
    "dynamodb:BatchGetItem",
    "dynamodb:GetItem",
    "dynamodb:Query",
    "s3:GetObject",
}


def test_the_policy_of_the_console_is_what_its_code_asks_for() -> None:
    document = (ROOT / "docs" / "console.md").read_text()
    [statement] = json.loads(re.findall(r"```json\n(.*?)```", document, re.DOTALL)[0])["Statement"]

    called = {
        f"states:{''.join(word.capitalize() for word in name.split('_'))}"
        for folder in ("web", "workflow")
        for path in (ROOT / "console" / folder).rglob("*.py")
        for name in _called(path.read_text())
    }

    assert called
    assert set(statement["Action"]) == called | _BY_ADAPTERS
    assert statement["Action"] == sorted(statement["Action"])


def _called(source: str) -> set[str]:
    """Return the operations of Step Functions that a source names, as a method or by their name as a string."""
    named = set(re.findall(r"client\.([a-z_]+)\b", source)) | set(re.findall(r'"([a-z]+_[a-z_]+)"', source))
    return {name for name in named if _OPERATION.fullmatch(name) and _OF_STATES.search(name)}
