"""cfn-lint, its rules loaded once in a process: for a small template they cost more than the look at it."""

from __future__ import annotations

from functools import cache
from typing import Any

from cfnlint.api import lint as lint_with
from cfnlint.core import get_rules
from cfnlint.helpers import REGION_PRIMARY

from sandbox.collecting import collecting_seldom


@cache
def _rules() -> Any:
    return get_rules([], [], [])


def lint(text: str) -> list[Any]:
    """Return what cfn-lint says of a template."""
    with collecting_seldom():
        return list(lint_with(text, _rules(), [REGION_PRIMARY]))
