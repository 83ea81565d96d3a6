"""What artifacts hold, against what functions need: pins, the runtime, and what is left out of the dependencies."""

from __future__ import annotations

import ast
from typing import Any

from samtranslator.yaml_helper import yaml_parse

from deploy.left_out import OURS
from deploy.requirements import pinned, requirements
from deploy.target import FUNCTIONS, MARKERS, PYTHON, REQUIREMENTS, ROOT, RUNTIME

TEMPLATE: dict[str, Any] = yaml_parse((ROOT / "template.yaml").read_text())


def test_functions_get_what_the_lock_pins_and_nothing_else() -> None:
    assert REQUIREMENTS.read_text() == requirements(), "run `make requirements`"
    assert {"boto3", "pydantic-core", "wrapt"} <= pinned().keys()


def test_no_package_of_the_sandbox_or_of_a_test_is_deployed() -> None:
    assert not {"moto==", "greenlet==", "pytest==", "starlette=="} & set(REQUIREMENTS.read_text().split())
    assert "moto==" in (ROOT / "requirements.lock").read_text()


def test_artifacts_are_made_for_the_runtime_that_the_template_names() -> None:
    runs = TEMPLATE["Globals"]["Function"]

    assert (runs["Runtime"], runs["Architectures"], runs["CodeUri"]) == (RUNTIME, ["arm64"], "functions/")
    assert RUNTIME == f"python{PYTHON[0]}.{PYTHON[1]}" == f"python{MARKERS['python_version']}"


def test_every_function_is_built_by_our_makefile() -> None:
    functions = {n: r for n, r in TEMPLATE["Resources"].items() if r["Type"] == "AWS::Serverless::Function"}

    for name, function in functions.items():
        assert function["Metadata"] == {"BuildMethod": "makefile"}, name
        assert {"Runtime", "Architectures", "CodeUri"}.isdisjoint(function["Properties"]), name


def test_botocore_keeps_the_services_that_functions_call_and_the_tracers_alone() -> None:
    calls = [n for path in FUNCTIONS.rglob("*.py") for n in ast.walk(ast.parse(path.read_text())) if _makes_client(n)]
    named = {argument.value for call in calls for argument in call.args if isinstance(argument, ast.Constant)}

    assert named == OURS


def _makes_client(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("client", "_client", "resource")
