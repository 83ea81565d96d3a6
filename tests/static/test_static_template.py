"""The template against the working tree: what it deploys is there, and what is there is deployed."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from paceline.config import Settings
from paceline.contracts import SCHEMAS
from paceline.contracts.__main__ import schema_text
from paceline.contracts.models import all_contracts
from sandbox.deployment import REGION, ROOT
from sandbox.template import translate

RESOURCES: dict[str, Any] = translate(ROOT / "template.yaml", REGION)["Resources"]
FUNCTIONS = {name: r["Properties"] for name, r in RESOURCES.items() if r["Type"] == "AWS::Lambda::Function"}
FOLDERS = {path.parent.name for path in (ROOT / "functions").glob("*/app.py")}


def folder_of(properties: dict[str, Any]) -> str:
    return str(properties["Handler"].split(".")[0])


@pytest.mark.parametrize("properties", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_every_function_has_its_folder_and_handler(properties: dict[str, Any]) -> None:
    folder, module, handler = properties["Handler"].split(".")
    path = ROOT / "functions" / folder / f"{module}.py"

    assert (path.parent / "__init__.py").exists()
    names = [node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)]
    assert handler in names


def test_every_folder_of_a_handler_is_deployed() -> None:
    assert {folder_of(properties) for properties in FUNCTIONS.values()} == FOLDERS


@pytest.mark.parametrize("properties", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_every_function_is_told_what_its_settings_need(properties: dict[str, Any]) -> None:
    told = {name.lower() for name in properties["Environment"]["Variables"]}
    needed = {name for name, field in Settings.model_fields.items() if field.is_required()}

    assert needed <= told
    assert {name for name in told if not name.startswith("powertools")} <= Settings.model_fields.keys()


def test_functions_that_call_the_provider_know_where_receipts_go() -> None:
    for name in ("SendFunction", "ReconcileFunction"):
        assert FUNCTIONS[name]["Environment"]["Variables"]["CALLBACK_URL"]


def test_every_handler_is_thin() -> None:
    """Parse, call one function, answer: a rule in a handler is a rule without a test."""
    for folder in FOLDERS - {"api"}:  # a router, with a function a route
        tree = ast.parse((ROOT / "functions" / folder / "app.py").read_text())
        [handler] = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "lambda_handler"]
        assert len([n for n in ast.walk(handler) if isinstance(n, ast.stmt)]) <= 14, folder


@pytest.mark.parametrize(
    "path", sorted((ROOT / "functions").rglob("*.py")), ids=lambda p: p.relative_to(ROOT).as_posix()
)
def test_only_adapters_and_their_wiring_talk_to_the_world_outside(path: Path) -> None:
    outside = {"boto3", "httpx", "requests", "urllib.request", "socket"}
    tree = ast.parse(path.read_text())
    imported = {alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names}
    imported |= {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    where = path.relative_to(ROOT / "functions" / "paceline").as_posix() if "paceline" in path.parts else ""

    found = {name for name in imported if name in outside or name.split(".")[0] in outside}

    assert not found or where.startswith("adapters/") or where == "bootstrap.py"


@pytest.mark.parametrize(
    "path", sorted((ROOT / "functions").rglob("*.py")), ids=lambda p: p.relative_to(ROOT).as_posix()
)
def test_nothing_sleeps_and_only_the_clock_reads_the_time(path: Path) -> None:
    source = path.read_text()

    assert not re.search(r"\bsleep\(", source)
    if path.name != "bootstrap.py":
        assert not re.search(r"\b(?:datetime\.now|utcnow|time\.time|date\.today)\(", source)


def test_the_contracts_schemas_are_up_to_date() -> None:
    written = {
        path.relative_to(SCHEMAS).with_suffix("").as_posix(): path.read_text() for path in SCHEMAS.rglob("*.json")
    }

    assert written == {name: schema_text(schema) for name, schema in all_contracts().items()}


def test_no_policy_allows_everything() -> None:
    for name, resource in RESOURCES.items():
        for policy in (
            resource.get("Properties", {}).get("Policies", []) if resource["Type"] == "AWS::IAM::Role" else []
        ):
            for statement in policy["PolicyDocument"]["Statement"]:
                actions = statement["Action"]
                for action in [actions] if isinstance(actions, str) else actions:
                    assert "*" not in action, (name, action)
                if statement["Resource"] == "*":  # actions that take no resource, or whose token is one
                    assert json.dumps(actions).count("logs:") or actions == "states:SendTaskSuccess", (name, actions)


def test_cfn_lint_finds_nothing() -> None:
    command = [str(Path(sys.executable).with_name("cfn-lint")), str(ROOT / "template.yaml")]

    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)  # noqa: S603 (our own file)

    assert done.returncode == 0, done.stdout + done.stderr


def test_no_role_has_a_policy_of_awss_but_for_its_log_and_its_traces() -> None:
    roles = [one["Properties"] for one in RESOURCES.values() if one["Type"] == "AWS::IAM::Role"]
    given = {arn.rpartition("/")[2] for role in roles for arn in role.get("ManagedPolicyArns", ())}

    # SAM gives both. Of the second, X-Ray's daemon makes two of five calls in a function's name: it can read nothing.
    assert given == {"AWSLambdaBasicExecutionRole", "AWSXrayWriteOnlyAccess"}
