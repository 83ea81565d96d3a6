"""Contracts: a JSON Schema for what each state gives its function, for what it gets back, and for each event.

The schemas are made from the models (`python -m paceline.contracts`), so they cannot say anything else than the code;
they are files so that people and other systems can read them.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from paceline.errors import ContractBroken

SCHEMAS = Path(__file__).parent / "schemas"


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((SCHEMAS / f"{name}.json").read_text()))


def check(name: str, value: object) -> None:
    """Check a value against a contract, by its path below `schemas/`. Raises: ContractBroken."""
    error = best_match(_validator(name).iter_errors(value))
    if error is not None:
        where = "/".join(map(str, error.absolute_path)) or "the whole"
        # Which rule, not which value: a value may be a person's.
        raise ContractBroken(f"{name}: {where} breaks the rule {error.validator!r}", contract=name)
