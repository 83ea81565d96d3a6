"""docs/openapi.json is what the code says, has the template's routes, and tells every status and error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from console.checks.template import routes
from tests.builders.api import BODIES, DOCUMENT, Operation, operations

ROOT = Path(__file__).resolve().parents[2]
OPERATIONS = operations()
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
# The provider calls the first; the document does not describe itself.
NOT_CUSTOMERS = {"$default", "POST /v1/callbacks/twilio", "GET /v1/openapi.json"}
SERVED = "import sys; sys.path.insert(0, 'docs'); from write_openapi import document; print(document(), end='')"


def test_the_document_is_up_to_date() -> None:
    command = [sys.executable, "-c", SERVED]  # in a process of its own: the API reads its environment once

    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, timeout=60)  # noqa: S603

    assert done.stdout == (ROOT / "docs" / "openapi.json").read_text(), "write it anew: make openapi"


def test_the_document_has_exactly_the_templates_routes() -> None:
    assert {f"{one.method} {one.path}" for one in OPERATIONS} == routes(ROOT) - NOT_CUSTOMERS


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.operation_id)
def test_an_operation_tells_its_answer_and_every_refusal(operation: Operation) -> None:
    responses = operation.definition["responses"]
    problems = {code for code, told in responses.items() if "application/problem+json" in told["content"]}

    expected = {"403", "422", "500", "503"}
    expected |= {"404"} if operation.names else set()
    expected |= {"413", "415"} if operation.method in ("POST", "PATCH") else set()

    assert expected <= problems
    assert set(responses) - problems - {"202"} == {"200", "401"}
    assert "$ref" in responses["200"]["content"]["application/json"]["schema"]
    assert operation.definition["summary"].endswith((".", "?"))


def test_a_problem_has_a_stable_type_and_a_sentence() -> None:
    assert {"type", "title", "status", "detail"} <= set(SCHEMAS["Problem"]["required"])
    assert "field" in SCHEMAS["Problem"]["properties"]


def test_every_operation_wants_a_key() -> None:
    assert DOCUMENT["security"] == [{"ApiKey": []}]
    assert DOCUMENT["components"]["securitySchemes"]["ApiKey"]["name"] == "x-api-key"
    assert not [one.operation_id for one in OPERATIONS if "security" in one.definition]


def test_every_body_has_a_sample_for_the_walks() -> None:
    assert {one.operation_id for one in OPERATIONS if "requestBody" in one.definition} == set(BODIES)
