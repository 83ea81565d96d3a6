"""Contracts and samples: the schemas are what the models say, and each sample event fits its schema.

A sample's name says its schema: `events/plan-campaign.input.json` is one for `states/plan-campaign.input`, and
`events/plan-campaign.input--late-start.json` another. A request of the HTTP API (it has a `routeKey`) has no schema of
ours; its route must be one of the template's. Nor has a notification of SNS (it has `Records`): what we read of it is
the request's model.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from console.checks import Problem
from console.checks.template import routes
from paceline.contracts.__main__ import schema_text
from paceline.contracts.models import all_contracts
from paceline.requests import NotificationsRequest

SCHEMAS = Path("functions/paceline/contracts/schemas")
WRITE = "write them anew: python -m paceline.contracts"


def check_contracts(root: Path) -> Iterator[Problem]:
    """Yield the schemas that are not what the models say now."""
    expected = {f"{name}.json": schema_text(schema) for name, schema in all_contracts().items()}
    there = {path.relative_to(root / SCHEMAS).as_posix(): path for path in (root / SCHEMAS).rglob("*.json")}
    for name in sorted(expected.keys() | there.keys()):
        file = (SCHEMAS / name).as_posix()
        if name not in there:
            yield Problem(file, "", f"is missing; {WRITE}")
        elif name not in expected:
            yield Problem(file, "", "is no contract's schema any more; delete it")
        elif there[name].read_text() != expected[name]:
            yield Problem(file, "", f"is not what the models say; {WRITE}")


def check_samples(root: Path) -> Iterator[Problem]:
    """Yield the sample events that do not fit. There may be none."""
    contracts, known = all_contracts(), cache(routes)
    for path in sorted((root / "events").rglob("*.json")):
        file = path.relative_to(root).as_posix()
        try:
            value = json.loads(path.read_text())
        except ValueError as error:
            yield Problem(file, "", f"not JSON: {error}")
            continue
        name = path.relative_to(root / "events").with_suffix("").as_posix().partition("--")[0]
        schema = next((s for full, s in contracts.items() if name in (full, full.rpartition("/")[2])), None)
        if schema is not None:
            yield from _fits(schema, value, file)
        elif isinstance(value, dict) and "Records" in value:
            yield from _fits(NotificationsRequest.model_json_schema(), value, file)
        elif isinstance(value, dict) and "routeKey" in value:
            if value["routeKey"] not in known(root):
                yield Problem(file, "/routeKey", f"template.yaml has no route {value['routeKey']}")
        else:
            yield Problem(file, "", "no contract has this name; it is no HTTP request and no notification either")


def _fits(schema: dict[str, Any], value: Any, file: str) -> Iterator[Problem]:
    for error in Draft202012Validator(schema).iter_errors(value):
        yield Problem(file, "/" + "/".join(map(str, error.absolute_path)), error.message)
